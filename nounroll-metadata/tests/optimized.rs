//! The promise: after optimization the hint is on the loop that it was given for, and on no other.

mod common;

use common::{LoopIds, ir, optimize, parse, pragmas};
use inkwell::context::Context;
use nounroll_metadata::{SurvivingLoop, resolve_hints, surviving_loops};

/// What is left after `default<O…>`.
struct After {
    left: Vec<SurvivingLoop>,
    pragmas: usize,
    text: String,
}

impl After {
    /// The numbers of the sites that loops are left of, once for every loop.
    fn sites(&self) -> Vec<u32> {
        let mut sites: Vec<u32> = self.left.iter().map(|left| left.site.line - 10).collect();
        sites.sort_unstable();
        sites
    }
}

fn after(functions: &str, level: &str) -> After {
    let context = Context::create();
    let module = parse(&context, &ir(functions));
    resolve_hints(&module).unwrap();
    optimize(&module, level);
    let (left, text) = (surviving_loops(&module), module.print_to_string().to_string());
    After { left, pragmas: pragmas(&module, level), text }
}

const LEVELS: [&str; 6] = ["0", "1", "2", "3", "s", "z"];

/// `loop { loop { …; if … { break } } }`: the inner loop is tested at its bottom, where it continues the outer one.
fn nest(outer: &str, inner: &str) -> String {
    let enter = if inner.is_empty() { "" } else { "enter 1" };
    format!(
        "
define ptx_kernel void @f(ptr %x) {{
entry:
  enter 0
  br label %outer
outer:
  {outer}
  {enter}
  %one = load volatile i32, ptr %x
  br label %inner
inner:
  {inner}
  %value = load volatile i32, ptr %x
  switch i32 %value, label %inner [ i32 1, label %outer
                                    i32 2, label %exit ]
exit:
  ret void
}}"
    )
}

#[test]
fn an_outer_hint_does_not_slip_onto_the_inner_loop() {
    for level in LEVELS {
        let after = after(&nest("body 0", ""), level);
        assert_eq!((after.sites(), after.pragmas), (vec![0], 1), "O{level}:\n{}", after.text);
        assert!(after.left[0].header.starts_with("outer"), "O{level}: {:?}", after.left);
    }
}

#[test]
fn an_inner_hint_does_not_slip_onto_the_outer_loop() {
    for level in LEVELS {
        let after = after(&nest("", "body 1"), level);
        assert_eq!((after.sites(), after.pragmas), (vec![1], 1), "O{level}:\n{}", after.text);
        assert!(after.left[0].header.starts_with("inner"), "O{level}: {:?}", after.left);
    }
}

#[test]
fn both_hints_of_a_nest_stay_apart() {
    for level in LEVELS {
        let after = after(&nest("body 0", "body 1"), level);
        assert_eq!((after.sites(), after.pragmas), (vec![0, 1], 2), "O{level}:\n{}", after.text);
    }
}

#[test]
fn a_hint_is_not_lost_where_a_switch_becomes_a_comparison() {
    let text = "
define ptx_kernel void @f(ptr %x) {
entry:
  enter 0
  br label %head
head:
  body 0
  %value = load volatile i32, ptr %x
  switch i32 %value, label %head [ i32 3, label %exit
                                   i32 4, label %exit ]
exit:
  ret void
}";
    for level in LEVELS {
        let after = after(text, level);
        assert_eq!((after.sites(), after.pragmas), (vec![0], 1), "O{level}:\n{}", after.text);
        assert!(["0", "1"].contains(&level) || after.text.contains("icmp ult"), "O{level}:\n{}", after.text);
    }
}

#[test]
fn a_hint_is_not_lost_where_several_cases_continue_the_outer_loop() {
    let text = nest("body 0", "").replace("i32 2, label %exit", "i32 7, label %outer\n i32 2, label %exit");
    let text = text
        .replace("label %inner [", "label %more [")
        .replace("exit:\n", "more:\n  store volatile i32 0, ptr %x\n  br label %inner\nexit:\n");
    for level in LEVELS {
        let after = after(&text, level);
        assert_eq!((after.sites(), after.pragmas), (vec![0], 1), "O{level}:\n{}", after.text);
        assert!(after.left[0].header.starts_with("outer"), "O{level}: {:?}", after.left);
    }
}

/// A loop in a kernel that calls a function with a loop; the call is the last thing in the loop.
fn call(outer: &str, inner: &str) -> String {
    let enter = if inner.is_empty() { "" } else { "enter 1" };
    format!(
        "
define ptx_kernel void @k(ptr %x) {{
entry:
  enter 0
  br label %outer
outer:
  {outer}
  %one = load volatile i32, ptr %x
  %more = icmp ult i32 %one, 9
  br i1 %more, label %inside, label %exit
inside:
  %at = getelementptr i32, ptr %x, i32 %one
  call void @f(ptr %at)
  br label %outer
exit:
  ret void
}}
define internal void @f(ptr %x) {{
entry:
  {enter}
  br label %inner
inner:
  {inner}
  %value = load volatile i32, ptr %x
  %done = icmp eq i32 %value, 0
  br i1 %done, label %exit, label %inner
exit:
  ret void
}}"
    )
}

#[test]
fn a_hint_does_not_slip_onto_a_loop_that_is_inlined_into_its_own() {
    for level in LEVELS {
        let after = after(&call("body 0", ""), level);
        assert_eq!((after.sites(), after.pragmas), (vec![0], 1), "O{level}:\n{}", after.text);
        assert!(!after.left[0].header.starts_with("inner"), "O{level}: {:?}", after.left);
    }
}

#[test]
fn a_hint_does_not_slip_onto_the_loop_that_its_own_is_inlined_into() {
    for level in LEVELS {
        let after = after(&call("", "body 1"), level);
        assert_eq!((after.sites(), after.pragmas), (vec![1], 1), "O{level}:\n{}", after.text);
        let left = &after.left[0];
        assert!(left.header.starts_with("inner"), "O{level}: {left:?}");
        assert_eq!(left.origin, "f");
        assert_eq!(left.function, if level == "0" { "f" } else { "k" }, "it was inlined");
    }
}

/// A loop of four turns over `x`.
fn counted(marker: &str) -> String {
    format!(
        "
define ptx_kernel void @f(ptr %x, ptr %y) {{
entry:
  enter 0
  enter 100
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %inside ]
  %sum = phi float [ 0.0, %entry ], [ %more, %inside ]
  %go = icmp ult i32 %i, 4
  br i1 %go, label %inside, label %exit
inside:
  {marker}
  %at = getelementptr float, ptr %x, i32 %i
  %value = load float, ptr %at
  %more = fadd float %sum, %value
  %next = add i32 %i, 1
  br label %head
exit:
  store float %sum, ptr %y
  ret void
}}"
    )
}

#[test]
fn nounroll_keeps_the_loop_and_full_unrolling_removes_it() {
    for level in ["1", "2", "3", "s", "z"] {
        let kept = after(&counted("body 0"), level);
        assert_eq!((kept.sites(), kept.pragmas), (vec![0], 1), "O{level}");
        let unrolled = after(&counted("body 100 0"), level);
        assert_eq!((unrolled.sites(), unrolled.pragmas), (vec![], 0), "O{level}");
        assert_eq!(unrolled.text.matches("load float").count(), 4, "O{level}");
    }
    let default = after(&counted(""), "3");
    assert_eq!(default.text.matches("load float").count(), 4, "the control: LLVM unrolls it by itself");
}

#[test]
fn the_loop_left_of_a_partly_unrolled_one_still_names_its_site() {
    // The trip count is known at run time only, so LLVM leaves a main loop of 4 copies and a remainder.
    let text = counted("body 100 4").replace("ptr %y)", "ptr %y, i32 %n)").replace("%i, 4", "%i, %n");
    let after = after(&text, "3");
    assert_eq!(after.sites(), [100], "the remainder does not count:\n{}", after.text);
    assert_eq!(after.text.matches("load float").count(), 5, "{}", after.text);
    // LLVM forbids a second unrolling of both.
    assert_eq!(after.pragmas, 2);
}

#[test]
fn the_latch_of_an_outer_loop_is_not_copied_into_the_blocks_before_it() {
    let text = "
define ptx_kernel void @f() {
entry:
  enter 0
  br label %outer
outer:
  %p = phi i32 [ 247, %entry ], [ 248, %between ], [ %p, %inner ]
  %q = phi i32 [ 28, %entry ], [ 29, %between ], [ %p, %inner ]
  body 0
  enter 1
  call void @at_outer(i32 %q)
  %c = call i1 @flip()
  br i1 %c, label %inner, label %between
between:
  call void @at_between(i32 182)
  br label %outer
inner:
  body 1
  call void @at_inner(i32 %q)
  %d = call i32 @choose()
  switch i32 %d, label %inner [ i32 0, label %between
                                i32 1, label %outer ]
}
declare void @at_outer(i32)
declare void @at_between(i32)
declare void @at_inner(i32)
declare i1 @flip()
declare i32 @choose()";
    for level in LEVELS {
        let after = after(text, level);
        assert_eq!((after.sites(), after.pragmas), (vec![0, 1], 2), "O{level}:\n{}", after.text);
    }
}

#[test]
fn an_id_that_was_left_behind_does_not_take_a_latchs_place() {
    let text = "
define ptx_kernel void @f(ptr %x, i1 %skip) {
entry:
  br i1 %skip, label %exit, label %loop
loop:
  %value = load volatile i32, ptr %x
  %again = icmp eq i32 %value, 0
  br i1 %again, label %loop, label %edge, !llvm.loop !0
edge:
  br label %exit, !llvm.loop !2
exit:
  %done = phi i32 [ 0, %entry ], [ 1, %edge ]
  store i32 %done, ptr %x
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!\"llvm.loop.unroll.disable\"}
!2 = distinct !{!2, !3}
!3 = !{!\"llvm.loop.unroll.count\", i32 2}";
    let context = Context::create();
    let module = parse(&context, text);
    assert_eq!(pragmas(&module, "3"), 1);
}

#[test]
fn nothing_is_done_for_loops_that_are_printed_without_pragma() {
    let context = Context::create();
    let module =
        parse(&context, &ir(&nest("", "body 1").replace("enter 1", "enter 100").replace("body 1", "body 100 4")));
    resolve_hints(&module).unwrap();
    assert_eq!(pragmas(&module, "0"), 0);
    assert!(!module.print_to_string().to_string().contains("asm sideeffect"));
}

/// `surviving_loops` on hand-written optimized modules: the node `!0` names site 0.
fn left_of(functions: &str) -> Vec<SurvivingLoop> {
    let context = Context::create();
    let metadata =
        format!("!0 = distinct !{{!0, !1}}\n!1 = !{{!\"latch.site\", !\"{}\", !\"origin\"}}", common::site(0));
    surviving_loops(&parse(&context, &format!("{functions}\n{metadata}")))
}

#[test]
fn an_id_on_what_is_no_latch_does_not_count() {
    let left = left_of(
        "
define void @f(i1 %c) {
entry:
  br i1 %c, label %loop, label %exit, !llvm.loop !0
loop:
  br i1 %c, label %loop, label %exit
exit:
  br label %end, !llvm.loop !0
end:
  ret void
dead:
  br label %dead, !llvm.loop !0
}",
    );
    assert_eq!(left, []);
}

#[test]
fn a_latch_of_two_loops_counts_for_the_inner_one_as_it_does_for_the_printer() {
    let functions = "
define ptx_kernel void @f(i32 %x) {
entry:
  br label %outer
outer:
  call void @g()
  br label %inner
inner:
  call void @g()
  switch i32 %x, label %exit [ i32 1, label %inner
                               i32 2, label %outer ], !llvm.loop !0
exit:
  ret void
}
declare void @g()";
    let left = left_of(functions);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((left[0].header.as_str(), left[0].function.as_str(), left[0].origin.as_str()), ("inner", "f", "origin"));
}

#[test]
fn one_of_several_latches_is_enough() {
    let left = left_of(
        "
define void @f(i1 %c, i1 %d) {
entry:
  br label %head
head:
  br i1 %c, label %one, label %two
one:
  br i1 %d, label %head, label %exit
two:
  br label %head, !llvm.loop !0
exit:
  ret void
}",
    );
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].header, "head");
}

#[test]
fn ids_of_others_do_not_count() {
    let context = Context::create();
    let text = "
define void @f(i1 %c) {
entry:
  br label %loop
loop:
  br i1 %c, label %loop, label %exit, !llvm.loop !0
exit:
  ret void
}
!0 = distinct !{!0, !1, !2, !3, !4}
!1 = !{!\"latch.site\", !\"no site\", !\"f\"}
!2 = !{!\"latch.site\"}
!3 = !{!\"llvm.loop.unroll.count\", i32 4}
!4 = !{!\"latch.plain\"}";
    assert_eq!(surviving_loops(&parse(&context, text)), []);
    assert_eq!(LoopIds::read(text).properties("loop").len(), 4);
}
