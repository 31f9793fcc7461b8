//! How the compiler plugin tells the command of a hinted loop.
//!
//! rustc's JSON diagnostics have a field `code`, which is printed for nobody where it is no `E0…`. The plugin puts a
//! [`Note`] there, as text; the command reads it back. What the diagnostic says in words is for people.
//!
//! Fields are separated by tabs. The site comes last and function names hold no tab, so a text means one thing only.

use crate::{NoLoop, Site};
use std::fmt;
use std::str::FromStr;

/// The name in `--cfg latch_trace`, which asks for a [`Note::Loop`] of every hinted loop.
pub const TRACE_CFG: &str = "latch_trace";
const DROPPED: &str = "latch::dropped";
const LOOP: &str = "latch::loop";

/// What the plugin has to say of one hint in one body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// The hint has no loop.
    Dropped {
        /// The hint's place in the source.
        site: Site,
        /// Why it has none.
        reason: NoLoop,
    },
    /// The hint has a loop.
    Loop(MirLoop),
}

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

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Dropped { site, reason } => write!(f, "{DROPPED}\t{reason}\t{site}"),
            Note::Loop(MirLoop { site, function, header, back_edges, latch }) => {
                let back: Vec<String> = back_edges.iter().map(usize::to_string).collect();
                write!(f, "{LOOP}\t{header}\t{}\t{latch}\t{function}\t{site}", back.join(","))
            }
        }
    }
}

impl FromStr for Note {
    /// Any other text is somebody else's code.
    type Err = ();

    fn from_str(text: &str) -> Result<Note, ()> {
        parse(text).ok_or(())
    }
}

fn parse(text: &str) -> Option<Note> {
    let (start, rest) = text.split_once('\t')?;
    match start {
        DROPPED => {
            let (reason, site) = rest.split_once('\t')?;
            Some(Note::Dropped { site: site.parse().ok()?, reason: reason.parse().ok()? })
        }
        LOOP => parse_loop(rest).map(Note::Loop),
        _ => None,
    }
}

fn parse_loop(text: &str) -> Option<MirLoop> {
    let mut fields = text.splitn(5, '\t');
    let header = fields.next()?.parse().ok()?;
    let back_edges = fields.next()?.split(',').map(|block| block.parse().ok()).collect::<Option<_>>()?;
    let latch = fields.next()?.parse().ok()?;
    let function = fields.next()?.to_owned();
    let site = fields.next()?.parse().ok()?;
    Some(MirLoop { site, function, header, back_edges, latch })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        "unroll|my-kernels|src/all\tin|one.rs|12|5".parse().expect("a site")
    }

    #[test]
    fn what_is_written_is_read() {
        let found = MirLoop {
            site: site(),
            function: "my_kernels::<impl A>::sum|in it::{closure#0}".to_owned(),
            header: 3,
            back_edges: vec![7, 9],
            latch: 12,
        };
        let dropped = NoLoop::ALL.map(|reason| Note::Dropped { site: site(), reason });
        for note in dropped.into_iter().chain([Note::Loop(found)]) {
            assert_eq!(note.to_string().parse(), Ok(note));
        }
    }

    #[test]
    fn other_codes_are_none_of_ours() {
        for text in
            ["", "E0308", "unused_variables", "latch::dropped", "latch::loop\t1\t2\t3\tf", "latch::loop\t\t\t\t\t"]
        {
            assert_eq!(text.parse::<Note>(), Err(()), "{text}");
        }
    }
}
