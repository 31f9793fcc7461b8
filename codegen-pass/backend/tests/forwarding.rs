//! Promise: the backend forwards every method of rustc's trait, also one that a later compiler adds with a default.
//!
//! The compiler itself is asked for both lists, from the metadata of its own crates and of the plugin.

#![feature(rustc_private)]

extern crate rustc_driver;
extern crate rustc_hir;
extern crate rustc_interface;
extern crate rustc_middle;
extern crate rustc_span;

mod common;

use rustc_driver::{Callbacks, Compilation};
use rustc_interface::interface::Compiler;
use rustc_middle::ty::TyCtxt;
use rustc_span::def_id::DefId;
use std::collections::HashSet;

#[derive(Default)]
struct Compare {
    trait_methods: Vec<String>,
    implemented: Vec<String>,
}

impl Callbacks for Compare {
    fn after_analysis(&mut self, _: &Compiler, tcx: TyCtxt<'_>) -> Compilation {
        let backend_trait = find(tcx, "rustc_codegen_ssa", "CodegenBackend");
        let plugin = find(tcx, "rustc_codegen_latch", "LatchBackend").krate;
        let implementation = tcx.all_impls(backend_trait).find(|implementation| implementation.krate == plugin);
        let methods = |of: DefId| {
            let items = tcx.associated_items(of).in_definition_order();
            let mut names: Vec<String> = items.map(|item| item.name().to_string()).collect();
            names.sort();
            names
        };
        self.trait_methods = methods(backend_trait);
        self.implemented = methods(implementation.expect("the plugin implements the trait"));
        Compilation::Stop
    }
}

/// The item of a crate's interface with a name, wherever its modules put it.
fn find(tcx: TyCtxt<'_>, crate_name: &str, name: &str) -> DefId {
    let krate = tcx.crates(()).iter().find(|&&krate| tcx.crate_name(krate).as_str() == crate_name);
    let mut modules = vec![krate.unwrap_or_else(|| panic!("{crate_name} is loaded")).as_def_id()];
    let mut seen = HashSet::new();
    while let Some(module) = modules.pop() {
        if !seen.insert(module) {
            continue;
        }
        for child in tcx.module_children(module) {
            match child.res.opt_def_id() {
                Some(found) if child.ident.as_str() == name => return found,
                Some(inner)
                    if inner.krate == module.krate
                        && matches!(child.res, rustc_hir::def::Res::Def(rustc_hir::def::DefKind::Mod, _)) =>
                {
                    modules.push(inner);
                }
                _ => {}
            }
        }
    }
    panic!("{crate_name} has no public {name}")
}

#[test]
fn every_method_is_forwarded() {
    let source = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("forwarding.rs");
    let names = "#![feature(rustc_private)] extern crate rustc_codegen_ssa; extern crate rustc_codegen_latch;";
    std::fs::write(&source, names).expect("a test crate can be written");
    let plugin = common::plugin();
    let folder = plugin.parent().expect("the plugin lies in a folder").display();
    let arguments = [
        "rustc".to_owned(),
        source.display().to_string(),
        "--crate-type=rlib".to_owned(),
        "--edition=2024".to_owned(),
        format!("--extern=rustc_codegen_latch={}", plugin.display()),
        format!("-Ldependency={folder}"),
    ];
    let mut compare = Compare::default();
    rustc_driver::run_compiler(&arguments, &mut compare);
    assert!(compare.trait_methods.len() > 10, "{:?}", compare.trait_methods);
    assert_eq!(compare.implemented, compare.trait_methods);
}
