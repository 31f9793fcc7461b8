//! What kernels say of their own machine code: the line `Machine code: 1 loop, 8 loads.` in their documentation.

use std::path::Path;

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta};

/// What a kernel says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The kernel.
    pub name: String,
    /// Natural loops of the machine code.
    pub loops: usize,
    /// Global loads in the program text.
    pub loads: usize,
}

/// Every kernel of the crate whose sources are in `folder`, by name.
pub fn of_sources(folder: &Path) -> Vec<Expected> {
    let files = std::fs::read_dir(folder).expect("the sources are there");
    let mut found: Vec<Expected> = files.flat_map(|file| of_file(&file.expect("readable").path())).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn of_file(path: &Path) -> Vec<Expected> {
    let text = std::fs::read_to_string(path).expect("a source can be read");
    let items = syn::parse_file(&text).expect("a source is Rust").items;
    items.into_iter().filter_map(of_item).collect()
}

fn of_item(item: Item) -> Option<Expected> {
    let Item::Fn(function) = item else { return None };
    function.attrs.iter().any(|attribute| attribute.path().is_ident("kernel")).then_some(())?;
    let name = function.sig.ident.to_string();
    let line = function.attrs.iter().filter_map(doc).find_map(|line| numbers(&line));
    let (loops, loads) = line.unwrap_or_else(|| panic!("`{name}` does not say what its machine code holds"));
    Some(Expected { name, loops, loads })
}

fn doc(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    match &meta.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// `Machine code: 1 loop, 8 loads.`
fn numbers(line: &str) -> Option<(usize, usize)> {
    let (loops, loads) = line.trim().strip_prefix("Machine code: ")?.strip_suffix('.')?.split_once(", ")?;
    let number = |text: &str, word: &str| {
        let (number, rest) = text.split_once(' ')?;
        (rest.trim_end_matches('s') == word).then(|| number.parse().ok())?
    };
    Some((number(loops, "loop")?, number(loads, "load")?))
}
