//! How the compiler plugin tells of a hinted loop on MIR, when asked: as the text of a note, which the command reads.
//!
//! Written `loop hint nounroll|my-kernels|src/lib.rs|12|5 in my_kernels::sum: header bb3; back from bb7, bb9; latch bb12`.

use crate::Site;
use std::fmt;
use std::str::FromStr;

/// The name in `--cfg latch_trace`, which asks for the notes.
pub const TRACE_CFG: &str = "latch_trace";
const START: &str = "loop hint ";

/// A hinted loop of a MIR body, before and after its latches were joined. Numbers are those of basic blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MirLoop {
    /// The hint's place in the source.
    pub site: Site,
    /// The function whose body holds the loop.
    pub function: String,
    /// The loop's header.
    pub header: usize,
    /// The blocks that jump back to it before.
    pub back_edges: Vec<usize>,
    /// The only one that does afterwards.
    pub latch: usize,
}

impl fmt::Display for MirLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let back: Vec<String> = self.back_edges.iter().map(|block| format!("bb{block}")).collect();
        let (site, function, header, latch) = (&self.site, &self.function, self.header, self.latch);
        write!(f, "{START}{site} in {function}: header bb{header}; back from {}; latch bb{latch}", back.join(", "))
    }
}

impl FromStr for MirLoop {
    /// Any other text is somebody else's note.
    type Err = ();

    fn from_str(text: &str) -> Result<MirLoop, ()> {
        parse(text).ok_or(())
    }
}

/// File and function may hold any character, so the text is taken apart from its ends.
fn parse(text: &str) -> Option<MirLoop> {
    let (rest, latch) = text.strip_prefix(START)?.rsplit_once("; latch ")?;
    let (rest, back) = rest.rsplit_once("; back from ")?;
    let (rest, header) = rest.rsplit_once(": header ")?;
    let splits = rest.match_indices(" in ").map(|(at, word)| (&rest[..at], &rest[at + word.len()..]));
    let (site, function) = splits.filter_map(|(site, function)| Some((site.parse().ok()?, function))).next()?;
    let block = |name: &str| name.strip_prefix("bb")?.parse().ok();
    Some(MirLoop {
        site,
        function: function.to_owned(),
        header: block(header)?,
        back_edges: back.split(", ").map(block).collect::<Option<_>>()?,
        latch: block(latch)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let found = MirLoop {
            site: "unroll|my-kernels|src/all in one.rs|12|5".parse().expect("a site"),
            function: "my_kernels::<impl A>::sum in it::{closure#0}".to_owned(),
            header: 3,
            back_edges: vec![7, 9],
            latch: 12,
        };
        assert_eq!(found.to_string().parse(), Ok(found));
    }

    #[test]
    fn other_notes_are_none_of_ours() {
        for text in ["", "loop hint ", "in the function `f`", "loop hint x in f: header bb1; back from bb2; latch bb2"]
        {
            assert_eq!(text.parse::<MirLoop>(), Err(()), "{text}");
        }
    }
}
