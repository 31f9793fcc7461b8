//! What a kernel can call, read from the text of a module: every function whose name stands in its body, and theirs.
//!
//! A name that stands there for another reason adds a function, and so at most a hint too many.

use std::collections::{BTreeMap, BTreeSet};

/// Functions with a body, and the names in each.
pub type Functions = BTreeMap<String, BTreeSet<String>>;

/// The functions that can be reached from one, itself included.
pub fn from(functions: &Functions, root: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::from([root.to_owned()]);
    let mut pending = vec![root.to_owned()];
    while let Some(name) = pending.pop() {
        for callee in functions.get(&name).into_iter().flatten().filter(|callee| functions.contains_key(*callee)) {
            if reached.insert(callee.clone()) {
                pending.push(callee.clone());
            }
        }
    }
    reached
}

/// The functions of LLVM's text.
pub fn llvm_functions(module: &str) -> Functions {
    functions(module, |line| line.strip_prefix("define ")?.split_once('@').and_then(|(_, rest)| words(rest).next()))
}

/// The functions of PTX text.
pub fn ptx_functions(ptx: &str) -> Functions {
    functions(ptx, super::ptx::function_name)
}

fn functions<'t>(text: &'t str, name: impl Fn(&'t str) -> Option<&'t str>) -> Functions {
    let mut functions = Functions::new();
    let mut current: Option<&str> = None;
    for line in text.lines() {
        if let Some(found) = name(line) {
            current = Some(found);
            functions.entry(found.to_owned()).or_default();
        } else if line == "}" {
            current = None;
        } else if let Some(names) = current.and_then(|current| functions.get_mut(current)) {
            names.extend(words(line).map(str::to_owned));
        }
    }
    functions
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "_$.".contains(c);
    line.split(move |c| !is_part(c)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_of_callees_are_reached() {
        let module = "define ptx_kernel void @k(ptr %0) {\n  call void @f(i32 1)\n}\ndefine internal void @f(i32 %0) {\n  %1 = \
                      call i32 @\"g.1\"()\n}\ndefine i32 @\"g.1\"() {\n  ret i32 0\n}\ndefine void @other() {\n  call void @f()\n}\n\
                      declare void @h()\n";
        let reached: Vec<String> = from(&llvm_functions(module), "k").into_iter().collect();
        assert_eq!(reached, ["f", "g.1", "k"]);
        let ptx = ".func (.param .b32 r) f(\n)\n{\n\tret;\n}\n.visible .entry k(\n)\n{\n\tcall.uni (r), f, ();\n}\n";
        let reached: Vec<String> = from(&ptx_functions(ptx), "k").into_iter().collect();
        assert_eq!(reached, ["f", "k"]);
    }
}
