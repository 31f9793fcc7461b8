//! The promise: on any function, resolving hints changes nothing that can be observed, gives every hinted loop one
//! latch with an ID, and leaves the optimizer nothing to confuse.
//!
//! Functions are random control-flow graphs with phis and markers. What can be observed of one are the calls of `at_N`,
//! one a block, and the values that they get; two small machines walk the graph before and after with the same random
//! decisions.

#[path = "../common/mod.rs"]
mod common;
mod function;
mod walk;

use codegen_pass::{Block, ControlFlow, Dominators, Flow, IrreducibleCycles, LoopForest, LoopId};
use common::{LoopIds, optimize, parse, pragmas};
use function::specs;
use hint_record::{HintKind, Request};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::InstructionOpcode;
use nounroll_metadata::{FunctionGraph, HintOutcome, SurvivingLoop, resolve_hints, surviving_loops};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};
use walk::Picture;

/// The name of a block, as LLVM's text has it.
fn name(graph: &FunctionGraph<'_>, block: Block) -> String {
    graph.llvm_block(block).get_name().to_string_lossy().into_owned()
}

/// The blocks of every natural loop of `f`, by the header's name.
fn loops(module: &Module<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let graph = FunctionGraph::new(module.get_function("f").unwrap());
    let forest = LoopForest::of(&graph);
    let blocks = |id| forest.blocks(id).map(|block| name(&graph, block)).collect();
    forest.ids().map(|id| (name(&graph, forest.get(id).header), blocks(id))).collect()
}

/// Every loop has one latch whose ID is its own: a hinted one's names its site, another's names none.
fn check_ids(module: &Module<'_>, outcomes: &[HintOutcome]) {
    let text = module.print_to_string().to_string();
    let ids = LoopIds::read(&text);
    let graph = FunctionGraph::new(module.get_function("f").unwrap());
    let forest = LoopForest::of(&graph);
    let hinted: BTreeMap<&str, &HintOutcome> =
        outcomes.iter().filter_map(|outcome| Some((outcome.verdict.as_ref().ok()?.header.as_str(), outcome))).collect();
    if hinted.is_empty() {
        assert_eq!(ids.by_block.len(), 0, "{text}");
        return;
    }
    let is_switch = |block: &Block| graph.terminator(*block).unwrap().get_opcode() == InstructionOpcode::Switch;
    let in_loop = |block: &Block| forest.innermost(*block).is_some();
    let switches = (0..graph.block_count()).map(Block::new).filter(is_switch).filter(in_loop).count();
    assert_eq!(ids.by_block.len(), forest.loops().len() + switches, "an ID for every loop, and every switch:\n{text}");
    let numbers: BTreeSet<u32> = ids.by_block.values().copied().collect();
    assert_eq!(numbers.len(), ids.by_block.len(), "no two loops share an ID:\n{text}");
    for found in forest.loops() {
        let [latch] = found.latches[..] else { panic!("{:?} has several latches:\n{text}", found.header) };
        assert_eq!(graph.successors(latch).count(), 1);
        let latch_number = graph.llvm_blocks().iter().position(|block| *block == graph.llvm_block(latch)).unwrap();
        assert!(latch_number < graph.block_count());
        let header = name(&graph, found.header);
        match hinted.get(header.as_str()) {
            Some(outcome) => {
                assert_eq!(outcome.verdict.as_ref().unwrap().latch, name(&graph, latch));
                assert_eq!(ids.site(&name(&graph, latch)), Some(outcome.site.to_string()));
            }
            None => assert!(!name(&graph, latch).is_empty() || graph.successors(latch).eq([found.header])),
        }
    }
    let with_site = ids.by_block.values().filter(|number| ids.names_a_site(**number)).count();
    assert_eq!(with_site, hinted.len(), "{text}");
}

/// The numbers of the `at_N` calls in every loop of the optimized module, by function and header.
fn calls_in_loops(module: &Module<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let graph = FunctionGraph::new(module.get_function("f").unwrap());
    let forest = LoopForest::of(&graph);
    let calls = |id| forest.blocks(id).flat_map(|block| walk::observed(graph.llvm_block(block))).collect();
    forest.ids().map(|id| (name(&graph, forest.get(id).header), calls(id))).collect()
}

/// The loops of the optimized module, by header: what is called in them, and what in the loops inside them.
struct Optimized {
    calls: BTreeMap<String, BTreeSet<String>>,
    inner_calls: BTreeMap<String, BTreeSet<String>>,
}

impl Optimized {
    fn of(module: &Module<'_>) -> Optimized {
        let (calls, blocks) = (calls_in_loops(module), loops(module));
        let inner = |header: &String| {
            let is_inner = |other: &&String| *other != header && blocks[*other].is_subset(&blocks[header]);
            blocks.keys().filter(is_inner).flat_map(|other| calls[other].clone()).collect()
        };
        let inner_calls = blocks.keys().map(|header| (header.clone(), inner(header))).collect();
        Optimized { calls, inner_calls }
    }

    /// Is the loop with one header a copy of the original loop with the other, and of that only? Then it runs through
    /// that header, which no inner loop does, and not through the header of a loop around it. (It may run through other
    /// blocks than it did: where loops share their ways back, LLVM gives each a copy.)
    fn is_copy(&self, of: &str, header: &str, original: &BTreeMap<String, BTreeSet<String>>) -> bool {
        self.calls[of].contains(header) && !self.is_outer(of, header, original)
    }

    /// Is it that, or one with a loop around it? LLVM can make one loop of two.
    fn is_part(&self, of: &str, header: &str, original: &BTreeMap<String, BTreeSet<String>>) -> bool {
        let is_inside = self.inner_calls[of].contains(header);
        self.calls[of].contains(header) && !(is_inside && self.is_outer(of, header, original))
    }

    /// Does it run through the header of a loop around the original one?
    fn is_outer(&self, of: &str, header: &str, original: &BTreeMap<String, BTreeSet<String>>) -> bool {
        let own = &original[header];
        let is_around = |other: &BTreeSet<String>| other != own && other.is_superset(own);
        let mut around = original.iter().filter(|(_, blocks)| is_around(blocks)).map(|(header, _)| header);
        around.any(|around| self.calls[of].contains(around))
    }
}

/// What is left of a hint is a copy of its loop; and while there is a copy of a rolled loop, something is left of the
/// hint. (Not every copy need have it: LLVM may split a loop in two, and leave one of them without ID; and where it
/// makes one loop of two, it takes the ID of either.)
fn check_places(
    module: &Module<'_>,
    outcomes: &[HintOutcome],
    original: &BTreeMap<String, BTreeSet<String>>,
) -> Result<(), String> {
    let optimized = Optimized::of(module);
    let honoured: Vec<(&HintOutcome, &str)> =
        outcomes.iter().filter_map(|outcome| Some((outcome, outcome.verdict.as_ref().ok()?.header.as_str()))).collect();
    let left = surviving_loops(module);
    for left in &left {
        let fits = |(outcome, header): &(&HintOutcome, &str)| {
            outcome.site == left.site && optimized.is_part(&left.header, header, original)
        };
        if !honoured.iter().any(fits) {
            return Err(format!("{left:?} runs {:?}", optimized.calls[&left.header]));
        }
    }
    for (outcome, header) in honoured.iter().filter(|(outcome, _)| outcome.request == Request::Nounroll) {
        let is_lost = left.iter().all(|left| left.site != outcome.site);
        let copy = optimized.calls.keys().find(|at| optimized.is_copy(at, header, original));
        if let Some(copy) = copy.filter(|_| is_lost) {
            return Err(format!("{copy} runs {:?} and has lost the hint of {}", optimized.calls[copy], outcome.site));
        }
    }
    Ok(())
}

/// How many loops forbid unrolling, by the ID of a latch that ends no inner loop too, or by what is left of a hint:
/// those whose header does something, and all. A header that does nothing may be merged with the one after it, and both
/// loops become one. A cycle without header may lose its loop's pragma, since LLVM puts a block of no origin on the way
/// back.
fn rolled_loops(module: &Module<'_>) -> (usize, usize) {
    let ids = LoopIds::read(&module.print_to_string().to_string());
    let graph = FunctionGraph::new(module.get_function("f").unwrap());
    let forest = LoopForest::of(&graph);
    let left = surviving_loops(module);
    let is_rolled = |id: &LoopId| {
        let ends_inner = |latch: &Block| {
            let mut inner = forest.ids().filter(|&inner| inner != *id && forest.encloses(*id, inner));
            inner.any(|inner| forest.get(inner).latches.contains(latch))
        };
        let own = forest.get(*id).latches.iter().filter(|latch| !ends_inner(latch));
        let header = name(&graph, forest.get(*id).header);
        let is_left = |left: &SurvivingLoop| left.header == header && left.site.kind == HintKind::Nounroll;
        own.copied().any(|latch| ids.forbids_unrolling(&name(&graph, latch))) || left.iter().any(is_left)
    };
    let rolled: Vec<LoopId> = forest.ids().filter(is_rolled).collect();
    let flow = Flow::of(&graph);
    let irreducible = IrreducibleCycles::of(&flow, &Dominators::of(&flow));
    if flow.blocks().any(|block| irreducible.is_tightest_around(block, &forest)) {
        return (0, rolled.len());
    }
    let does_something = |id: &&LoopId| !walk::observed(graph.llvm_block(forest.get(**id).header)).is_empty();
    (rolled.iter().filter(does_something).count(), rolled.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_observable_changes(spec in specs(), decisions in prop::collection::vec(any::<u8>(), 40)) {
        let context = Context::create();
        let module = parse(&context, &spec.text());
        let before = Picture::of(&module);
        let loops_before = loops(&module);
        let outcomes = resolve_hints(&module).unwrap();
        let after = Picture::of(&module);
        prop_assert_eq!(before.walk(&decisions, &before), after.walk(&decisions, &before));

        prop_assert_eq!(outcomes.len(), spec.body_markers());
        let loops_after = loops(&module);
        prop_assert_eq!(loops_before.keys().collect::<Vec<_>>(), loops_after.keys().collect::<Vec<_>>());
        check_ids(&module, &outcomes);
    }
}

proptest! {
    // A fixed seed: which loop a copy is of is judged by what it runs, and LLVM has rare ways of merging loops (one in
    // some ten thousand modules) that this judgement does not know. Another seed and more cases look further.
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(22),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_optimizer_keeps_every_hint_in_its_place(spec in specs(), level in prop::sample::select(vec!["0", "1", "2", "3", "s", "z"])) {
        let context = Context::create();
        let module = parse(&context, &spec.text());
        let original = loops(&module);
        let outcomes = resolve_hints(&module).unwrap();
        optimize(&module, level);
        // Rotated loops can share their header; LLVM separates them again by their phis, and the outer one may then be
        // the one that was inside.
        prop_assume!(!loops(&module).keys().any(|header| header.contains(".outer")));
        if let Err(message) = check_places(&module, &outcomes, &original) {
            let text = module.print_to_string().to_string();
            prop_assert!(false, "O{}: {}\n{}\n{}", level, message, spec.text(), text);
        }
        let (certain, most) = rolled_loops(&module);
        let text = module.print_to_string().to_string();
        let pragmas = pragmas(&module, level);
        let printed = module.print_to_string().to_string();
        prop_assert!((certain..=most).contains(&pragmas), "O{}: {} of {}..{}\n{}\n{}", level, pragmas, certain, most, text, printed);
    }
}
