//! What every stage makes of the kernels, as text under review: see `tests/`.
//!
//! This library only makes the texts comparable: it takes out what changes from build to build without meaning
//! anything.

pub mod amdgcn;
pub mod pieces;
pub mod ptx;

use std::collections::HashMap;

/// Gives numbers and hashes names by the order in which they appear: metadata (`!28`), constants (`@alloc_…`,
/// `@anon.….2`), PTX labels (`$L__BB10_1`, whose first number counts the module's functions), and the part of a Rust
/// symbol that tells crates of one name apart (`Cs…_`).
pub fn without_volatile(text: &str) -> String {
    let text = renumber(text, "!", "!", |character| character.is_ascii_digit());
    let text = renumber(&text, "@alloc_", "@alloc_", |character| character.is_ascii_hexdigit());
    let text = renumber(&text, "@anon.", "@anon.", |character| character.is_ascii_hexdigit());
    let text = renumber(&text, "Cs", "Cs.", |character| character.is_ascii_alphanumeric());
    renumber(&text, "$L__BB", "$L__BB.", |character| character.is_ascii_digit() || character == '_')
}

/// Replaces what follows `mark` (as long as `is_part` holds) by the number of its first appearance, behind
/// `replacement`.
pub(crate) fn renumber(text: &str, mark: &str, replacement: &str, is_part: impl Fn(char) -> bool) -> String {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut pieces = text.split(mark);
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|character| !is_part(character)).unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        if name.is_empty() {
            result.push_str(mark);
        } else {
            let next = names.len();
            result.push_str(replacement);
            result.push_str(&names.entry(name).or_insert(next).to_string());
        }
        result.push_str(rest);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_by_first_appearance() {
        assert_eq!(
            without_volatile("br !dbg !28, !llvm.loop !7\n!7 = !{!28}"),
            "br !dbg !0, !llvm.loop !1\n!1 = !{!0}"
        );
        assert_eq!(without_volatile("ptr @alloc_0f3a, ptr @alloc_12"), "ptr @alloc_0, ptr @alloc_1");
        assert_eq!(without_volatile("@_RNvCsgrKr_3lib1f, @_RNvCsgrKr_3lib1g"), "@_RNvCs.0_3lib1f, @_RNvCs.0_3lib1g");
        assert_eq!(without_volatile("bra $L__BB10_2;\n$L__BB10_1:"), "bra $L__BB.0;\n$L__BB.1:");
    }
}
