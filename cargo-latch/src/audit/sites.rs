//! The hints that stand in a package's source, whether or not anything compiles them.
//!
//! All `.rs` files below the folder of the library's first file are read. A hint in a file that no `mod` names is
//! listed too, and shows as not compiled.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use hint_record::{Request, Site};
use hint_syntax::{Found, hinted_loops};
use proc_macro2::Span;
use syn::visit::Visit;
use walkdir::WalkDir;

use crate::kernel_crate::KernelCrate;

/// One hint as the source has it.
#[derive(Debug, Clone)]
pub struct SourceHint {
    /// Where it stands.
    pub site: Site,
    /// What it asks for, as far as the source tells.
    pub request: Option<Request>,
    /// Whether the loop is evaluated while compiling.
    pub in_const: bool,
    /// The function around it, with modules and types.
    pub function: String,
    /// The line of the loop's last brace.
    pub last_line: u32,
}

/// The hints of a kernel crate, by file and line.
pub fn of_package(kernels: &KernelCrate) -> Result<Vec<SourceHint>> {
    let source = kernels.root_file.parent().unwrap_or(&kernels.folder);
    let mut hints = Vec::new();
    for entry in WalkDir::new(source).sort_by_file_name() {
        let entry = entry.with_context(|| format!("cannot read the folder {}", source.display()))?;
        if entry.path().extension().is_some_and(|extension| extension == "rs") {
            hints.extend(of_file(kernels, entry.path())?);
        }
    }
    Ok(hints)
}

fn of_file(kernels: &KernelCrate, path: &Path) -> Result<Vec<SourceHint>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    // A file that does not parse is none that was compiled: the compiler would have said so.
    let Ok(file) = syn::parse_file(&text) else { return Ok(Vec::new()) };
    let relative = path.strip_prefix(&kernels.folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let mut ends = Ends::default();
    ends.visit_file(&file);
    let in_device = hinted_loops(&file).into_iter().filter(|found| found.in_device_fn);
    Ok(in_device.map(|found| source_hint(kernels, &relative, &found, &ends)).collect())
}

/// The last line of every loop, by the place of its keyword. Loops in macro calls are not known: such a loop ends where
/// it begins.
#[derive(Default)]
struct Ends {
    last_line: BTreeMap<(u32, u32), u32>,
}

impl Ends {
    fn add(&mut self, keyword: Span, body: &syn::Block) {
        self.last_line.insert(hint_syntax::place(keyword), hint_syntax::place(body.brace_token.span.close()).0);
    }
}

impl<'ast> Visit<'ast> for Ends {
    fn visit_expr_for_loop(&mut self, found: &'ast syn::ExprForLoop) {
        self.add(found.for_token.span, &found.body);
        syn::visit::visit_expr_for_loop(self, found);
    }

    fn visit_expr_while(&mut self, found: &'ast syn::ExprWhile) {
        self.add(found.while_token.span, &found.body);
        syn::visit::visit_expr_while(self, found);
    }

    fn visit_expr_loop(&mut self, found: &'ast syn::ExprLoop) {
        self.add(found.loop_token.span, &found.body);
        syn::visit::visit_expr_loop(self, found);
    }
}

fn source_hint(kernels: &KernelCrate, file: &str, found: &Found, ends: &Ends) -> SourceHint {
    let site = Site {
        kind: found.kind,
        package: kernels.id.clone(),
        file: file.to_owned(),
        line: found.line,
        column: found.column,
    };
    let last_line = ends.last_line.get(&(found.line, found.column)).copied().unwrap_or(found.line);
    let (request, function) = (found.request, found.function.clone());
    SourceHint { site, request, in_const: found.in_const, function, last_line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_ends_at_its_brace() {
        let source = "fn f() {\n    for a in b {\n        while c {\n        }\n    }\n    loop { break }\n}\n";
        let mut ends = Ends::default();
        ends.visit_file(&syn::parse_file(source).expect("Rust"));
        assert_eq!(ends.last_line, BTreeMap::from([((2, 5), 5), ((3, 9), 4), ((6, 5), 6)]));
    }
}
