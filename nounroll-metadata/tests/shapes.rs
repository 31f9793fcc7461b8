//! The promise: whatever the loop's shape, its hint ends on one latch that belongs to no other loop.

mod common;

use common::{resolve, site};
use hint_record::Request;

const PLAIN: &str = "!{!\"latch.plain\"}";

#[test]
fn a_plain_loop_keeps_its_latch() {
    let resolved = resolve(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br label %head
head:
  br i1 %c, label %inside, label %exit
inside:
  body 0
  br label %head
exit:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: head <- inside (1)"]);
    insta::assert_snapshot!(resolved.shown(), @r#"
    define void @f(i1 %c) {
    entry:
      br label %head

    head:
      br i1 %c, label %inside, label %exit

    inside:
      br label %head, !llvm.loop !0

    exit:
      ret void
    }

    !0 = distinct !{!0, !1, !2}
    !1 = !{!"llvm.loop.unroll.disable"}
    !2 = !{!"latch.site", !"nounroll|pkg|src/lib.rs|10|5", !"f"}
    "#);
}

#[test]
fn two_continues_share_a_new_latch() {
    let resolved = resolve(
        "
define void @f(i1 %c, i1 %d) {
entry:
  enter 0
  br label %head
head:
  br i1 %c, label %inside, label %exit
inside:
  body 0
  br i1 %d, label %one, label %two
one:
  br label %head
two:
  br label %head
exit:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (2)"]);
    insta::assert_snapshot!(resolved.shown(), @r#"
    define void @f(i1 %c, i1 %d) {
    entry:
      br label %head

    head:
      br i1 %c, label %inside, label %exit

    inside:
      br i1 %d, label %one, label %two

    one:
      br label %head.latch

    two:
      br label %head.latch

    head.latch:
      br label %head, !llvm.loop !0

    exit:
      ret void
    }

    !0 = distinct !{!0, !1, !2}
    !1 = !{!"llvm.loop.unroll.disable"}
    !2 = !{!"latch.site", !"nounroll|pkg|src/lib.rs|10|5", !"f"}
    "#);
}

#[test]
fn a_loop_of_one_block_gets_a_latch_apart_from_its_body() {
    let resolved = resolve(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br label %loop
loop:
  body 0
  br i1 %c, label %loop, label %exit
exit:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: loop <- loop.latch (1)"]);
    assert_eq!(resolved.ids().blocks(), ["loop.latch"]);
    assert!(resolved.text.contains("br i1 %c, label %loop.latch, label %exit\n"), "{}", resolved.text);
}

#[test]
fn every_edge_of_a_switch_goes_to_the_new_latch() {
    let resolved = resolve(
        "
define void @f(i32 %x) {
entry:
  enter 0
  br label %head
head:
  body 0
  switch i32 %x, label %head [ i32 1, label %exit
                               i32 2, label %head
                               i32 3, label %other ]
other:
  br label %head
exit:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (2)"]);
    let ids = resolved.ids();
    assert_eq!((ids.blocks(), ids.switches()), (vec!["head.latch"], vec!["head"]));
    assert_eq!(ids.properties("head"), [PLAIN], "so that LLVM folds no latch into a switch, where it could be lost");
    let to_the_latch = resolved.text.matches("label %head.latch").count();
    assert_eq!(to_the_latch, 3, "default, case 2, and `other`:\n{}", resolved.text);
    assert_eq!(resolved.text.matches("label %head\n").count(), 1, "only the entry goes to the header directly");
}

#[test]
fn a_latch_that_ends_in_a_constant_condition_is_replaced() {
    let resolved = resolve(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br label %head
head:
  br i1 %c, label %inside, label %exit
inside:
  body 0
  br i1 true, label %head, label %exit
exit:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (1)"]);
    assert_eq!(resolved.ids().blocks(), ["head.latch"]);
}

#[test]
fn a_branch_with_both_arms_to_the_header_is_replaced() {
    let resolved = resolve(
        "
define void @f(i1 %c, i1 %d) {
entry:
  enter 0
  br label %head
head:
  %turn = phi i32 [ 0, %entry ], [ 1, %inside ], [ 1, %inside ]
  br i1 %c, label %inside, label %exit
inside:
  body 0
  br i1 %d, label %head, label %head
exit:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (1)"]);
    assert!(resolved.text.contains("br i1 %d, label %head.latch, label %head.latch"), "{}", resolved.text);
}

/// The inner loop (`mid`) and the outer one (`head`) are both continued from `mid`.
fn shared_back_edge_block(outer: &str, inner: &str, enter_inner: &str) -> common::Resolved {
    resolve(&format!(
        "
define void @f(i1 %c, i32 %x) {{
entry:
  enter 0
  br label %head
head:
  {outer}
  {enter_inner}
  br i1 %c, label %mid, label %exit
mid:
  {inner}
  switch i32 %x, label %exit [ i32 1, label %mid
                               i32 2, label %head ]
exit:
  ret void
}}"
    ))
}

#[test]
fn loops_that_share_a_back_edge_block_get_a_latch_each() {
    let resolved = shared_back_edge_block("body 0", "body 1", "enter 1");
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (1)", "1: mid <- mid.latch (1)"]);
    let ids = resolved.ids();
    assert_eq!(ids.blocks(), ["head.latch", "mid.latch"]);
    assert_eq!(ids.site("head.latch"), Some(site(0)));
    assert_eq!(ids.site("mid.latch"), Some(site(1)));
}

#[test]
fn an_unhinted_inner_loop_gets_an_id_without_hint() {
    let resolved = shared_back_edge_block("body 0", "", "");
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (1)"]);
    let ids = resolved.ids();
    assert_eq!(ids.blocks().len(), 2, "{}", resolved.text);
    assert_eq!(ids.site("head.latch"), Some(site(0)));
    let inner = *ids.blocks().iter().find(|block| **block != "head.latch").unwrap();
    assert_eq!(ids.properties(inner), [PLAIN], "LLVM overlooks an ID without property");
}

#[test]
fn an_unhinted_outer_loop_that_shares_a_block_with_a_hinted_one_gets_an_id_without_hint() {
    // Without it, LLVM folds the inner latch into `mid`, whose one branch then names the hint for both loops.
    let resolved = shared_back_edge_block("", "body 1", "enter 1");
    assert_eq!(resolved.verdicts(), ["1: mid <- mid.latch (1)"]);
    let ids = resolved.ids();
    assert_eq!(ids.blocks().len(), 2, "{}", resolved.text);
    assert_eq!(ids.site("mid.latch"), Some(site(1)));
}

#[test]
fn every_loop_of_a_nest_is_named_by_an_id_of_its_own() {
    let resolved = resolve(
        "
define void @f(i1 %a, i1 %b, i1 %c) {
entry:
  br label %one
one:
  enter 0
  br i1 %a, label %two, label %exit
two:
  body 0
  br i1 %b, label %three, label %one.end
three:
  br i1 %c, label %three, label %two.end
two.end:
  br label %two
one.end:
  br label %one
exit:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: two <- two.end (1)"]);
    let ids = resolved.ids();
    assert_eq!(ids.blocks(), ["0", "one.end", "two.end"], "block 0 is the new latch of `three`");
    let sites = ids.blocks().into_iter().map(|block| ids.site(block)).collect::<Vec<_>>();
    assert_eq!(sites, [None, None, Some(site(0))]);
}

#[test]
fn an_inner_loop_that_keeps_its_own_latch_is_named_there() {
    let resolved = resolve(
        "
define void @f(i1 %a, i1 %b) {
entry:
  enter 0
  br label %outer
outer:
  body 0
  br i1 %a, label %inner, label %exit
inner:
  br i1 %b, label %inner.end, label %outer.end
inner.end:
  br label %inner
outer.end:
  br label %outer
exit:
  ret void
}",
    );
    let ids = resolved.ids();
    assert_eq!(ids.blocks(), ["inner.end", "outer.end"]);
    assert_eq!(ids.site("inner.end"), None);
    assert_ne!(ids.node("inner.end"), ids.node("outer.end"));
}

#[test]
fn siblings_have_ids_of_their_own_and_share_the_property() {
    let resolved = resolve(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br label %one
one:
  body 0
  br i1 %c, label %one.end, label %between
one.end:
  br label %one
between:
  enter 1
  br label %two
two:
  body 1
  br i1 %c, label %two.end, label %exit
two.end:
  br label %two
exit:
  ret void
}
define void @g(i1 %c) {
entry:
  enter 2
  br label %three
three:
  body 2
  br i1 %c, label %three.end, label %exit
three.end:
  br label %three
exit:
  ret void
}",
    );
    let ids = resolved.ids();
    assert_eq!(ids.blocks(), ["one.end", "two.end", "three.end"]);
    let nodes: std::collections::BTreeSet<u32> = ids.by_block.values().copied().collect();
    assert_eq!(nodes.len(), 3, "a node each");
    let shared: Vec<u32> = ids.blocks().iter().map(|block| ids.property_numbers(block)[0]).collect();
    assert_eq!(shared, [shared[0]; 3], "one property node for all");
    assert_eq!(resolved.text.matches("llvm.loop.unroll.disable").count(), 1);
    assert_eq!(ids.properties("three.end")[1], format!("!{{!\"latch.site\", !\"{}\", !\"g\"}}", site(2)));
}

#[test]
fn a_loop_whose_header_is_the_functions_second_block_may_have_no_names() {
    // Release builds drop names: the blocks of a hinted loop get new ones, which the record uses.
    let resolved = resolve(
        "
define void @f(i1 %0) {
  enter 5
  br label %2
2:
  body 5
  br i1 %0, label %2, label %3
3:
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["5: loop15 <- loop15.latch (1)"]);
    assert_eq!(resolved.ids().blocks(), ["loop15.latch"]);
}

#[test]
fn copies_of_one_site_in_one_function_stay_apart() {
    // rustc inlined a device function twice.
    let one = |at: &str, next: &str| {
        format!(
            "
{at}:
  enter 0
  br label %{at}.head
{at}.head:
  body 0
  br i1 %c, label %{at}.end, label %{next}
{at}.end:
  br label %{at}.head
"
        )
    };
    let text = format!(
        "define void @f(i1 %c) {{\nentry:\n  br label %a\n{}{}exit:\n  ret void\n}}",
        one("a", "b"),
        one("b", "exit")
    );
    let resolved = resolve(&text);
    assert_eq!(resolved.verdicts(), ["0: a.head <- a.end (1)", "0: b.head <- b.end (1)"]);
    let ids = resolved.ids();
    assert_ne!(ids.node("a.end"), ids.node("b.end"));
    assert_eq!(ids.property_numbers("a.end"), ids.property_numbers("b.end"), "site and hint are the same nodes");
}

#[test]
fn unroll_hints_have_their_property_and_factor() {
    let resolved = resolve(
        "
define void @f(i1 %c) {
entry:
  enter 100
  br label %one
one:
  body 100 0
  br i1 %c, label %one.end, label %between
one.end:
  br label %one
between:
  enter 101
  br label %two
two:
  body 101 4
  br i1 %c, label %two.end, label %exit
two.end:
  br label %two
exit:
  ret void
}",
    );
    let ids = resolved.ids();
    assert_eq!(ids.properties("one.end")[0], "!{!\"llvm.loop.unroll.full\"}");
    assert_eq!(ids.properties("two.end")[0], "!{!\"llvm.loop.unroll.count\", i32 4}");
    let requests: Vec<Request> = resolved.outcomes.iter().map(|outcome| outcome.request).collect();
    assert_eq!(requests, [Request::Full, Request::Copies(4)]);
}
