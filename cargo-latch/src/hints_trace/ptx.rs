//! The labels of a PTX text that carry `.pragma "nounroll"`.

/// A label with the pragma.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PragmaLabel {
    /// The function's symbol.
    pub function: String,
    /// The label.
    pub label: String,
}

/// Every one of them, in the text's order.
pub fn pragma_labels(ptx: &str) -> Vec<PragmaLabel> {
    let mut found = Vec::new();
    let (mut function, mut label) = ("", "");
    for line in ptx.lines() {
        if let Some(name) = function_name(line) {
            (function, label) = (name, "");
        } else if let Some((name, _)) = line.split_once(':').filter(|(name, _)| name.starts_with('$')) {
            label = name;
        } else if line.trim_start().starts_with(".pragma \"nounroll\"") {
            found.push(PragmaLabel { function: function.to_owned(), label: label.to_owned() });
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_right_before_the_pragma() {
        let ptx = ".visible .entry a(\n)\n{\n$L__BB0_1:\n\tret;\n$L__BB0_2:\n\t.pragma \"nounroll\";\n}\n\
                   .func  (.param .b32 func_retval0) b(\n)\n{\n$L__BB1_1:\n\t.pragma \"nounroll\";\n}\n";
        let label =
            |function: &str, label: &str| PragmaLabel { function: function.to_owned(), label: label.to_owned() };
        assert_eq!(pragma_labels(ptx), [label("a", "$L__BB0_2"), label("b", "$L__BB1_1")]);
    }
}
