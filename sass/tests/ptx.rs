//! PTX read as control flow: what stands in the text, and what is refused.

mod common;

use std::fs;

use proptest::prelude::*;
use sass::{PtxError, PtxModule, one_statement_a_line, split};

fn parse(text: &str) -> PtxModule {
    PtxModule::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The blocks of the first function, as the first line of each and its successors.
fn blocks(text: &str) -> Vec<(u32, Vec<usize>)> {
    let module = parse(text);
    let function = &module.functions()[0];
    let line = |at: usize| function.statements.get(at).map_or(0, |statement| statement.line);
    function.blocks.iter().map(|block| (line(block.statements.start), block.successors.clone())).collect()
}

#[test]
fn functions_are_found_among_declarations() {
    let module = parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func abort\n(\n.param .b64 a\n)\n.noreturn;\n\
         .global .align 1 .b8 text[3] = {1, 2, 3};\n.func f();\n\
         .func (.param .align 8 .b8 result[16]) _ZN1$f(.param .b64 a) { ret; }\n\
         .visible .entry k(\n.param .u64 .ptr .align 1 k_0 // the pointer {\n)\n.maxntid 32, 1, 1\n{\n exit;\n}\n\
         .section .debug_abbrev\n{\n.b8 1\n.b8 0;\n}\n.entry last() { ret; }\n",
    );
    let found: Vec<_> = module.functions().iter().map(|f| (f.name.as_str(), f.is_kernel, f.statements.len())).collect();
    assert_eq!(found, [("_ZN1$f", false, 1), ("k", true, 1), ("last", true, 1)]);
    assert_eq!(module.position("last"), Some(2));
    assert_eq!(module.at_line(17).map(|id| module.statement(id).opcode.as_str()), Some("exit"));
    assert!(module.at_line(0).is_none() && module.at_line(16).is_none() && module.at_line(999).is_none());
}

#[test]
fn control_goes_where_branches_and_tables_say() {
    let text = ".entry k()\n{\n.reg .pred p;\n@p bra A;\n@!p ret;\nT: .branchtargets A, B,\n C;\nbrx.idx r, T;\n\
                A: add;\nB: call.uni f, ();\n@p trap;\nC:\nD: bra.uni C;\n}\n";
    let expected = [(4, vec![3, 1]), (5, vec![2]), (8, vec![3, 4, 6]), (9, vec![4]), (10, vec![5]), (13, vec![6])];
    let found = blocks(text);
    assert_eq!(found.len(), 6, "{found:?}");
    assert_eq!(found[0], expected[0]);
    assert_eq!(found[1], expected[1]);
    assert_eq!(found[2], (8, vec![3, 4, 5]));
    assert_eq!(found[3], expected[3]);
    assert_eq!(found[4], (10, vec![5]));
    assert_eq!(found[5], (13, vec![5]));
}

#[test]
fn a_loop_has_its_header_lines_body_and_pragma() {
    let text = ".entry k()\n{\nA:\n.pragma \"nounroll\";\nadd;\nB: sub;\n@p bra B;\n@q bra A;\nret;\n}\n";
    let module = parse(text);
    let function = module.function("k").expect("the kernel");
    let (outer, inner) = (function.loop_at("A").expect("A"), function.loop_at("B").expect("B"));
    assert_eq!((outer.nounroll(), inner.nounroll()), (true, false));
    assert_eq!(outer.lines().collect::<Vec<_>>(), [5, 6, 7, 8]);
    assert_eq!(inner.lines().collect::<Vec<_>>(), [6, 7]);
    assert_eq!(outer.own_blocks().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(inner.own_blocks().collect::<Vec<_>>(), [1]);
    assert_eq!(function.loop_of(0), Some(outer.id));
}

#[test]
fn names_in_braces_are_of_those_braces() {
    // The same inline assembly twice, with labels and registers of its own.
    let wait = "{\n.reg .pred done;\nWAIT:\nsetp done, a;\n@done bra OUT;\nbra WAIT;\nOUT:\n}\n";
    let module = parse(&format!(".entry k()\n{{\n{wait}{wait}ret;\n}}\n"));
    let function = &module.functions()[0];
    let headers: Vec<u32> = function.loops().filter_map(|found| found.lines().next()).collect();
    assert_eq!(headers, [6, 14]);
    assert_eq!(function.branches_on(0), [function.block_of(1)]);
    assert_eq!(function.branches_on(3), [function.block_of(4)]);
}

#[test]
fn callees_are_known_by_name_and_a_register_names_none() {
    let calls = [
        ("call f;", vec!["f"]),
        ("call.uni (r), f$1, (a, b);", vec!["f$1"]),
        ("call.uni \n(\nr\n)\n,\nf, \n(\na\n);", vec!["f"]),
        ("call (r), %rd1, (a), prototype_0;", vec![]),
        ("@%p1 call f, (a);", vec!["f"]),
    ];
    for (text, expected) in calls {
        let module = parse(&format!(".entry k()\n{{\n{text}\nret;\n}}\n"));
        let found: Vec<&str> = module.functions()[0].calls().map(|(_, name)| name).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn each_fault_is_told_with_its_line() {
    let error = |body: &str| PtxModule::parse(&format!(".entry k()\n{{\n{body}\n}}\n")).expect_err(body);
    assert_eq!(error("bra A;"), PtxError::NoLabel { line: 3, label: "A".to_owned() });
    assert_eq!(error("T: .branchtargets A;\nbrx.idx r, T;"), PtxError::NoLabel { line: 3, label: "A".to_owned() });
    assert_eq!(error("brx.idx r, T;"), PtxError::NoTable { line: 3, table: "T".to_owned() });
    assert_eq!(error("@p bra;"), PtxError::NoTarget { line: 3, opcode: "bra".to_owned() });
    assert_eq!(error("add; sub;"), PtxError::SharedLine { line: 3 });
    assert_eq!(error("{ add;"), PtxError::OpenBrace { line: 1 });
    assert_eq!(error("{\nA:\n}\nbra A;"), PtxError::NoLabel { line: 6, label: "A".to_owned() });
}

#[test]
fn inline_assembly_is_put_one_instruction_a_line_and_stays_the_same_code() {
    let text = fs::read_to_string(common::data("fates.ptx")).expect("the file");
    let crowded = text.replace(";\n    ", "; ");
    let lines = one_statement_a_line(&crowded);
    assert!(matches!(PtxModule::parse(&crowded), Err(PtxError::SharedLine { .. })));
    let (ours, theirs) = (parse(&lines), parse(&text));
    let statements = |module: &PtxModule| module.functions().iter().map(|f| f.statements.len()).collect::<Vec<_>>();
    assert_eq!(statements(&ours), statements(&theirs));
    let assemble =
        |text: &str| common::ptxas().assemble(text, "sm_90", &sass::AssembleOptions::default()).expect("assembled");
    let differs = sass::same_code(&assemble(&text).image, &assemble(&lines).image);
    assert_eq!(differs, Ok(vec![]));
}

proptest! {
    #[test]
    fn damaged_text_never_panics(at in 0usize..8000, length in 0usize..40, insert in "[{}\"\\\\\\\\/*;:@%.$\n a-z]{0,6}") {
        let text = fs::read_to_string(common::data("fates.ptx")).expect("the file");
        let (start, end) = (at.min(text.len()), (at + length).min(text.len()));
        let damaged = format!("{}{insert}{}", &text[..start], &text[end..]);
        let lines = one_statement_a_line(&damaged);
        let _ = PtxModule::parse(&lines);
        let _ = split(&damaged);
    }
}
