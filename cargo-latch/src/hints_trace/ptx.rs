//! The labels of a PTX text that carry `.pragma "nounroll"`, with the source lines of the jumps to them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::audit::machine::SourceLine;

/// A label with the pragma.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PragmaLabel {
    /// The function's symbol.
    pub function: String,
    /// The label.
    pub label: String,
    /// Where the jumps to it were written.
    pub written: Vec<SourceLine>,
}

/// Every one of them, in the text's order.
pub fn pragma_labels(ptx: &str) -> Vec<PragmaLabel> {
    let files = files(ptx);
    let mut found: Vec<PragmaLabel> = Vec::new();
    let mut jumps: Vec<(String, SourceLine)> = Vec::new();
    let (mut function, mut label, mut place) = ("", "", None);
    for line in ptx.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(name) = function_name(line) {
            (function, label, place) = (name, "", None);
        } else if let Some((name, _)) = line.split_once(':').filter(|(name, _)| name.starts_with('$')) {
            label = name;
        } else if let [".loc", file, line, ..] = words[..] {
            place = read_place(&files, file, line);
        } else if line.trim_start().starts_with(".pragma \"nounroll\"") {
            found.push(PragmaLabel { function: function.to_owned(), label: label.to_owned(), written: Vec::new() });
        } else if let (Some(target), Some(place)) = (jump_target(&words), &place) {
            jumps.push((format!("{function}:{target}"), place.clone()));
        }
    }
    for label in &mut found {
        let key = format!("{}:{}", label.function, label.label);
        let mut written: Vec<SourceLine> =
            jumps.iter().filter(|(to, _)| *to == key).map(|(_, at)| at.clone()).collect();
        written.sort();
        written.dedup();
        label.written = written;
    }
    found
}

/// LLVM starts a function with one line: linkage, `.entry` or `.func`, perhaps a return parameter, and the name.
pub fn function_name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry ").or_else(|| line.split_once(".func "))?;
    let rest = rest.trim_start();
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
    let end = rest.find(|character: char| !(character.is_alphanumeric() || "_$%.".contains(character)));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

fn files(ptx: &str) -> BTreeMap<&str, PathBuf> {
    ptx.lines().filter_map(file).collect()
}

/// `.file 1 "src/lib.rs"`
fn file(line: &str) -> Option<(&str, PathBuf)> {
    let (number, path) = line.trim_start().strip_prefix(".file")?.trim_start().split_once(char::is_whitespace)?;
    let path = path.trim_start().strip_prefix('"')?.split('"').next()?;
    Some((number, PathBuf::from(path)))
}

/// A line 0 is no place.
fn read_place(files: &BTreeMap<&str, PathBuf>, file: &str, line: &str) -> Option<SourceLine> {
    let line = line.trim_end_matches([',', ';']).parse().ok().filter(|line| *line > 0)?;
    Some(SourceLine { file: files.get(file)?.clone(), line })
}

/// `@%p1 bra $L__BB0_2;`
fn jump_target<'t>(words: &[&'t str]) -> Option<&'t str> {
    let at = words.iter().position(|word| *word == "bra" || *word == "bra.uni")?;
    words.get(at + 1).map(|target| target.trim_end_matches(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_lines_of_the_jumps_to_them() {
        let ptx = "\
.visible .entry a(
)
{
	.loc	1 2 0
	bra.uni 	$L__BB0_1;
$L__tmp1:
$L__BB0_1:
	.pragma \"nounroll\";
	.loc	2 7 3
	add.s32 	%r1, %r1, 1;
	.loc	1 5 3
	@%p1 bra 	$L__BB0_1;
	.loc	1 0 0
	bra.uni 	$L__BB0_1;
}
.func  (.param .b32 func_retval0) b(
)
{
$L__BB0_1:
	.pragma \"nounroll\";
	bra.uni 	$L__BB0_1;
}
	.file	1 \"/src/lib.rs\"
	.file	2 \"/core/cmp.rs\"
";
        let line = |line| SourceLine { file: PathBuf::from("/src/lib.rs"), line };
        let label = |function: &str, written| PragmaLabel {
            function: function.to_owned(),
            label: "$L__BB0_1".to_owned(),
            written,
        };
        assert_eq!(pragma_labels(ptx), [label("a", vec![line(2), line(5)]), label("b", Vec::new())]);
    }
}
