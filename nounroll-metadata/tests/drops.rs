//! The promise: a hint that has no loop of its own is dropped with its reason, and the function stays as it was.

mod common;

use codegen_pass::DropReason;
use common::{ir, parse, resolve};
use inkwell::context::Context;

/// The hint of site 0 is dropped for a reason, and nothing changes but that the markers go.
#[track_caller]
fn dropped(functions: &str, reason: DropReason) {
    let resolved = resolve(functions);
    let verdicts: Vec<_> = resolved.outcomes.iter().map(|outcome| outcome.verdict.clone()).collect();
    assert_eq!(verdicts, [Err(reason)]);

    let is_marker = |line: &&str| line.trim_start().starts_with("enter ") || line.trim_start().starts_with("body ");
    let unmarked: Vec<&str> = functions.lines().filter(|line| !is_marker(line)).collect();
    let context = Context::create();
    let module = parse(&context, &ir(&unmarked.join("\n")));
    let expected = common::Resolved { outcomes: Vec::new(), text: module.print_to_string().to_string() };
    assert_eq!(resolved.shown(), expected.shown());
}

#[test]
fn outside_any_loop() {
    dropped(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br label %next
next:
  body 0
  br label %loop
loop:
  br i1 %c, label %loop, label %exit
exit:
  ret void
}",
        DropReason::OutsideLoop,
    );
}

#[test]
fn a_loop_that_never_repeats_inside_another() {
    dropped(
        "
define void @f(i1 %c) {
entry:
  br label %head
head:
  enter 0
  body 0
  br i1 %c, label %head, label %exit
exit:
  ret void
}",
        DropReason::NeverRepeats,
    );
}

#[test]
fn unreachable_code_that_branches_into_a_loop() {
    dropped(
        "
define void @f(i1 %c) {
entry:
  br label %loop
dead:
  enter 0
  body 0
  br i1 %c, label %dead, label %loop
loop:
  br i1 %c, label %loop, label %exit
exit:
  ret void
}",
        DropReason::Unreachable,
    );
}

#[test]
fn an_irreducible_cycle() {
    dropped(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br i1 %c, label %one, label %two
one:
  body 0
  br label %two
two:
  br i1 %c, label %one, label %exit
exit:
  ret void
}",
        DropReason::Irreducible,
    );
}

#[test]
fn an_irreducible_cycle_inside_a_loop() {
    dropped(
        "
define void @f(i1 %c) {
entry:
  br label %head
head:
  enter 0
  br i1 %c, label %one, label %two
one:
  body 0
  br label %two
two:
  br i1 %c, label %one, label %tail
tail:
  br i1 %c, label %head, label %exit
exit:
  ret void
}",
        DropReason::Irreducible,
    );
}

#[test]
fn a_loop_that_can_be_reached_without_its_start() {
    dropped(
        "
define void @f(i1 %c) {
entry:
  br i1 %c, label %start, label %head
start:
  enter 0
  br label %head
head:
  body 0
  br i1 %c, label %head, label %exit
exit:
  ret void
}",
        DropReason::NoEnter,
    );
}

#[test]
fn a_back_edge_by_invoke() {
    dropped(
        "
declare void @g()
declare i32 @personality(...)
define void @f(i1 %c) personality ptr @personality {
entry:
  enter 0
  br label %head
head:
  body 0
  br i1 %c, label %inside, label %other
inside:
  invoke void @g() to label %head unwind label %pad
other:
  br i1 %c, label %head, label %exit
pad:
  %caught = landingpad { ptr, i32 } cleanup
  br label %exit
exit:
  ret void
}",
        DropReason::FixedBackEdge,
    );
}

#[test]
fn a_back_edge_by_indirect_branch() {
    dropped(
        "
define void @f(i1 %c, ptr %p) {
entry:
  enter 0
  br label %head
head:
  body 0
  indirectbr ptr %p, [label %head, label %exit]
exit:
  ret void
}",
        DropReason::FixedBackEdge,
    );
}

#[test]
fn a_back_edge_by_assembly() {
    dropped(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br label %head
head:
  body 0
  callbr void asm sideeffect \"\", \"!i\"() to label %exit [label %head]
exit:
  ret void
}",
        DropReason::FixedBackEdge,
    );
}

#[test]
fn loops_inside_a_loop_that_cannot_be_changed_stay_as_they_are() {
    dropped(
        "
define void @f(i1 %c, ptr %p) {
entry:
  enter 0
  br label %head
head:
  body 0
  br label %inner
inner:
  br i1 %c, label %inner, label %end
end:
  indirectbr ptr %p, [label %head, label %exit]
exit:
  ret void
}",
        DropReason::FixedBackEdge,
    );
}

#[test]
fn a_second_hint_on_one_loop() {
    let text = |bodies: &str| {
        format!(
            "
define void @f(i1 %c) {{
entry:
  enter 0
  enter 100
  br label %head
head:
  {bodies}
  br i1 %c, label %latch, label %exit
latch:
  br label %head
exit:
  ret void
}}"
        )
    };
    let resolved = resolve(&text("body 0\n  body 100 4"));
    assert_eq!(resolved.verdicts(), ["0: head <- latch (1)", "100: Conflict"]);
    let ids = resolved.ids();
    assert_eq!(ids.properties("latch").len(), 2, "one hint, one site");
    // The winner is no matter of the order in which a compiler has laid them out.
    let turned = resolve(&text("body 100 4\n  body 0"));
    assert_eq!(turned.verdicts(), ["100: Conflict", "0: head <- latch (1)"]);
    assert_eq!(turned.ids().properties("latch").len(), 2);
}

#[test]
fn a_dropped_hint_leaves_its_honoured_neighbour() {
    let resolved = resolve(
        "
define void @f(i1 %c) {
entry:
  enter 0
  body 0
  enter 1
  br label %head
head:
  body 1
  br i1 %c, label %latch, label %exit
latch:
  br label %head
exit:
  ret void
}
define void @g() {
  enter 2
  body 2
  ret void
}",
    );
    assert_eq!(resolved.verdicts(), ["0: OutsideLoop", "1: head <- latch (1)", "2: OutsideLoop"]);
    let functions: Vec<&str> = resolved.outcomes.iter().map(|outcome| outcome.function.as_str()).collect();
    assert_eq!(functions, ["f", "f", "g"]);
}
