//! The promise: a hint belongs to its own loop or to none. One small graph per shape that could go wrong.

mod common;

use codegen_pass::{Block, DropReason, LoopForest, Marker, SiteId, number_sites};
use common::{Graph, block, body, enter, verdicts};
use hint_record::{HintKind, NoLoop, Site};
use std::collections::BTreeSet;

#[track_caller]
fn check(edges: &str, markers: &[Marker], expected: &[Result<&str, DropReason>]) {
    let (forest, resolution) = Graph::new(edges).resolve(markers);
    let expected: Vec<Result<Block, DropReason>> = expected.iter().map(|verdict| verdict.map(block)).collect();
    assert_eq!(verdicts(&forest, &resolution), expected);
}

#[test]
fn a_plain_loop_is_hinted() {
    check("a>b b>c c>b b>d", &[enter("a", 0), body("c", 0)], &[Ok("b")]);
}

#[test]
fn two_continues_become_one_latch() {
    let markers = [enter("a", 0), body("c", 0)];
    let mut graph = Graph::new("a>b b>c c>d c>e d>b e>b b>f");
    check("a>b b>c c>d c>e d>b e>b b>f", &markers, &[Ok("b")]);
    let merged = graph.merge(&markers);
    assert_eq!(merged, [(block("b"), Ok(Block(6)))]);
    assert_eq!(graph.latches("b"), [Block(6)], "the new block is the loop's only latch");
    assert_eq!(graph.successors[block("d").index()], [Block(6)]);
    assert_eq!(graph.successors[block("e").index()], [Block(6)]);
}

#[test]
fn a_plain_single_latch_is_left_alone() {
    let mut graph = Graph::new("a>b b>c c>b b>d");
    let before = graph.successors.clone();
    assert_eq!(graph.merge(&[enter("a", 0), body("c", 0)]), [(block("b"), Ok(block("c")))]);
    assert_eq!(graph.successors, before);
}

#[test]
fn nested_loops_that_share_a_back_edge_block_get_a_latch_each() {
    // d ends the inner loop (c) and also continues the outer one (b).
    let markers = [enter("a", 0), body("b", 0), enter("b", 1), body("d", 1)];
    let mut graph = Graph::new("a>b b>c c>d d>c d>b b>e");
    let merged = graph.merge(&markers);
    assert_eq!(merged, [(block("b"), Ok(Block(5))), (block("c"), Ok(Block(6)))]);
    assert_eq!(graph.latches("b"), [Block(5)]);
    assert_eq!(graph.latches("c"), [Block(6)]);
    assert_eq!(graph.successors[block("d").index()], [Block(6), Block(5)]);
}

#[test]
fn a_hint_on_the_outer_loop_of_a_shared_block_does_not_touch_the_inner_one() {
    let mut graph = Graph::new("a>b b>c c>d d>c d>b b>e");
    let (forest, resolution) = graph.resolve(&[enter("a", 0), body("b", 0)]);
    let inner: Vec<_> = resolution.unhinted_inside.iter().map(|&id| forest.get(id).header).collect();
    assert_eq!(inner, [block("c")], "the inner loop is named, so that it gets an ID of its own");
    graph.merge(&[enter("a", 0), body("b", 0)]);
    assert_eq!(graph.latches("c"), [block("d")]);
}

#[test]
fn a_self_loop_gets_a_latch_apart_from_its_body() {
    let markers = [enter("a", 0), body("b", 0)];
    let mut graph = Graph::new("a>b b>b b>c");
    assert_eq!(graph.merge(&markers), [(block("b"), Ok(Block(3)))]);
    assert_eq!(graph.latches("b"), [Block(3)]);
}

#[test]
fn a_switch_latch_is_replaced() {
    let mut graph = Graph::new("a>b b>c c>b c>b c>d c>e");
    assert_eq!(graph.merge(&[enter("a", 0), body("c", 0)]), [(block("b"), Ok(Block(5)))]);
    assert_eq!(graph.successors[block("c").index()], [Block(5), Block(5), block("d"), block("e")]);
}

#[test]
fn a_hint_in_unreachable_code_that_branches_into_a_loop_is_dropped() {
    // x is not reached from a, yet jumps to the header b.
    let edges = "a>b b>c c>b b>d x>b";
    check(edges, &[enter("x", 0), body("x", 0)], &[Err(DropReason::Unreachable)]);
    let forest = LoopForest::of(&Graph::new(edges));
    assert_eq!(forest.loops().len(), 1);
    assert_eq!(forest.loops()[0].latches, [block("c")]);
    assert_eq!(forest.innermost(block("x")), None);
}

#[test]
fn a_hint_outside_any_loop_is_dropped() {
    check("a>b b>c", &[enter("a", 0), body("b", 0)], &[Err(DropReason::OutsideLoop)]);
}

#[test]
fn a_hint_in_an_irreducible_region_is_dropped_and_does_not_slip_outwards() {
    // b is a loop; inside it c and d go round in a circle that b enters at both.
    let edges = "a>b b>c b>d c>d d>c c>e d>e e>b e>f";
    check(edges, &[enter("b", 0), body("d", 0)], &[Err(DropReason::Irreducible)]);
    check("a>c a>d c>d d>c d>e", &[enter("a", 0), body("d", 0)], &[Err(DropReason::Irreducible)]);
}

#[test]
fn a_loop_inside_an_irreducible_region_keeps_its_hint() {
    // c and d form the irreducible cycle; e is a natural loop inside it.
    let edges = "a>c a>d c>e e>f f>e e>d d>c d>g";
    check(edges, &[enter("c", 0), body("f", 0)], &[Ok("e")]);
}

#[test]
fn a_loop_that_never_repeats_inside_another_is_dropped() {
    // The enter marker stands in the outer loop's body: the only loop around the body marker is the outer one.
    let edges = "a>b b>c c>d d>b b>e";
    check(edges, &[enter("c", 0), body("d", 0)], &[Err(DropReason::NeverRepeats)]);
    check(edges, &[enter("c", 0), body("c", 0)], &[Err(DropReason::NeverRepeats)]);
}

#[test]
fn a_site_nested_in_itself_hints_both_loops() {
    // Outer loop b with its markers in a and b, inner loop d with the same site's in c and d.
    let edges = "a>b b>c c>d d>d d>e e>b e>f";
    check(edges, &[enter("a", 0), body("b", 0), enter("c", 0), body("d", 0)], &[Ok("b"), Ok("d")]);
}

#[test]
fn order_inside_a_block_pairs_the_markers() {
    // One block holds the outer body marker and the inner enter marker: c repeats around d.
    let edges = "a>c c>d d>d d>c d>e";
    check(edges, &[enter("a", 0), body("c", 0), enter("c", 0), body("d", 0)], &[Ok("c"), Ok("d")]);
    // Turned round, the outer body marker would be paired with the enter marker beside it.
    check(
        edges,
        &[enter("a", 0), enter("c", 0), body("c", 0), body("d", 0)],
        &[Err(DropReason::NeverRepeats), Ok("d")],
    );
}

#[test]
fn an_enter_marker_on_another_branch_does_not_count() {
    let edges = "a>b a>c b>d c>d d>e e>d d>f";
    check(edges, &[enter("b", 0), body("e", 0)], &[Err(DropReason::NoEnter)]);
}

#[test]
fn copies_of_one_marker_share_the_loop_and_other_sites_conflict() {
    let edges = "a>b b>c b>d c>e d>e e>b e>f";
    let copies = [enter("a", 0), body("c", 0), body("d", 0)];
    check(edges, &copies, &[Ok("b"), Ok("b")]);
    let two_sites = [enter("a", 0), enter("a", 1), body("c", 0), body("d", 1)];
    check(edges, &two_sites, &[Ok("b"), Err(DropReason::Conflict)]);
}

#[test]
fn in_a_conflict_the_first_site_wins_whatever_the_order_of_the_markers() {
    let edges = "a>b b>c b>d c>e d>e e>b e>f";
    let turned = [enter("a", 1), enter("a", 0), body("c", 1), body("d", 0), body("e", 1)];
    check(edges, &turned, &[Err(DropReason::Conflict), Ok("b"), Err(DropReason::Conflict)]);
    let (_, resolution) = Graph::new(edges).resolve(&turned);
    assert_eq!(resolution.hinted.iter().map(|hinted| hinted.marker).collect::<Vec<_>>(), [3]);
}

#[test]
fn every_reason_goes_into_a_record_and_none_is_missing_there() {
    let recorded: BTreeSet<NoLoop> = DropReason::ALL.map(NoLoop::from).into();
    assert_eq!(recorded, BTreeSet::from(NoLoop::ALL));
}

#[test]
fn sites_are_numbered_in_their_own_order() {
    let site =
        |line, column| Site { kind: HintKind::Unroll, package: "p".to_owned(), file: "f".to_owned(), line, column };
    let numbers = number_sites([site(10, 5), site(9, 5), site(10, 4), site(9, 5)]);
    let expected = [(site(9, 5), SiteId(0)), (site(10, 4), SiteId(1)), (site(10, 5), SiteId(2))];
    assert_eq!(numbers, expected.into());
}

#[test]
fn a_back_edge_that_cannot_be_redirected_leaves_the_function_as_it_was() {
    let mut graph = Graph::new("a>b b>c c>d c>e d>b e>b e>f");
    graph.fixed = vec![block("e")];
    let before = graph.successors.clone();
    let merged = graph.merge(&[enter("a", 0), body("c", 0)]);
    assert_eq!(merged, [(block("b"), Err(DropReason::FixedBackEdge))]);
    assert_eq!(graph.successors, before);
}

#[test]
fn resolving_again_after_the_marker_moved_into_the_latch_changes_nothing() {
    let mut graph = Graph::new("a>b b>c c>d c>e d>b e>b b>f");
    let latch = graph.merge(&[enter("a", 0), body("c", 0)])[0].1.expect("the latch was made");
    let moved = [enter("a", 0), Marker { block: latch, ..body("c", 0) }];
    let before = graph.successors.clone();
    assert_eq!(graph.merge(&moved), [(block("b"), Ok(latch))]);
    assert_eq!(graph.successors, before);
}

#[test]
fn siblings_and_nests_are_numbered_outer_first() {
    let forest = LoopForest::of(&Graph::new("a>b b>c c>c c>b b>d d>d d>e"));
    let shape: Vec<_> = forest.loops().iter().map(|found| (found.header, found.depth)).collect();
    assert_eq!(shape.len(), 3);
    let outer = forest.innermost(block("b")).expect("b is a header");
    let inner = forest.innermost(block("c")).expect("c is a header");
    let sibling = forest.innermost(block("d")).expect("d is a header");
    assert!(forest.encloses(outer, inner) && !forest.encloses(inner, outer) && !forest.encloses(outer, sibling));
    assert_eq!(forest.get(inner).parent, Some(outer));
    assert_eq!(forest.blocks(outer).collect::<Vec<_>>(), [block("b"), block("c")]);
}
