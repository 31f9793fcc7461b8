//! Which function of a PTX text holds how many `.pragma "nounroll"` directives.

use std::collections::HashMap;

const PRAGMA: &str = ".pragma \"nounroll\"";

/// The count by symbol, for functions that have any.
pub fn pragmas(ptx: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let mut current = None;
    for line in ptx.lines() {
        if let Some(name) = function_name(line) {
            current = Some(name);
        } else if let Some(name) = current.filter(|_| line.trim_start().starts_with(PRAGMA)) {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

/// LLVM starts a function with one line: linkage, `.entry` or `.func`, perhaps a return parameter, and the name.
fn function_name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry ").or_else(|| line.split_once(".func "))?;
    let rest = rest.trim_start();
    // `(.param .b32 func_retval0) name(`
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
    let end = rest.find(|character: char| !(character.is_alphanumeric() || "_$%".contains(character)));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragmas_are_counted_by_function() {
        let ptx = "\
.func  (.param .b32 func_retval0) _ZN4sum4E(
	.param .b64 _ZN4sum4E_param_0
)
{
$L__BB0_1:
	.pragma \"nounroll\";
}
.visible .entry taps(
{
$L__BB1_1: 
	.pragma \"nounroll\";
	// .pragma \"nounroll\" in a comment
$L__BB1_2: 
	.pragma \"nounroll\";
}
.extern .func declared
(
.visible .entry none(
";
        let counts = pragmas(ptx);
        assert_eq!(counts.get("_ZN4sum4E"), Some(&1));
        assert_eq!(counts.get("taps"), Some(&2));
        assert_eq!(counts.len(), 2);
    }
}
