//! The promise: values that arrive at a header along a back edge arrive there unchanged through the new latch.

mod common;

use common::resolve;

#[test]
fn every_phi_is_split_in_two() {
    let resolved = resolve(
        "
define i32 @f(i1 %c, i1 %d, i32 %n) {
entry:
  enter 0
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i.next, %one ], [ %i, %two ]
  %last = phi i32 [ -1, %entry ], [ %i, %one ], [ 7, %two ]
  %i.next = add i32 %i, 1
  br i1 %c, label %inside, label %exit
inside:
  body 0
  br i1 %d, label %one, label %two
one:
  br label %head
two:
  br label %head
exit:
  %sum = add i32 %i, %last
  ret i32 %sum
}",
    );
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (2)"]);
    insta::assert_snapshot!(resolved.shown(), @r#"
    define i32 @f(i1 %c, i1 %d, i32 %n) {
    entry:
      br label %head

    head:
      %i = phi i32 [ 0, %entry ], [ %i.latch, %head.latch ]
      %last = phi i32 [ -1, %entry ], [ %last.latch, %head.latch ]
      %i.next = add i32 %i, 1
      br i1 %c, label %inside, label %exit

    inside:
      br i1 %d, label %one, label %two

    one:
      br label %head.latch

    two:
      br label %head.latch

    head.latch:
      %i.latch = phi i32 [ %i.next, %one ], [ %i, %two ]
      %last.latch = phi i32 [ %i, %one ], [ 7, %two ]
      br label %head, !llvm.loop !0

    exit:
      %sum = add i32 %i, %last
      ret i32 %sum
    }

    !0 = distinct !{!0, !1, !2}
    !1 = !{!"llvm.loop.unroll.disable"}
    !2 = !{!"latch.site", !"nounroll|pkg|src/lib.rs|10|5", !"f"}
    "#);
}

#[test]
fn phis_that_use_each_other_keep_doing_so() {
    let resolved = resolve(
        "
define i32 @f(i1 %c) {
entry:
  enter 0
  br label %loop
loop:
  %a = phi i32 [ 1, %entry ], [ %b, %loop ]
  %b = phi i32 [ 2, %entry ], [ %a, %loop ]
  body 0
  br i1 %c, label %loop, label %exit
exit:
  ret i32 %b
}",
    );
    insta::assert_snapshot!(resolved.shown(), @r#"
    define i32 @f(i1 %c) {
    entry:
      br label %loop

    loop:
      %a = phi i32 [ 1, %entry ], [ %a.latch, %loop.latch ]
      %b = phi i32 [ 2, %entry ], [ %b.latch, %loop.latch ]
      br i1 %c, label %loop.latch, label %exit

    loop.latch:
      %a.latch = phi i32 [ %b, %loop ]
      %b.latch = phi i32 [ %a, %loop ]
      br label %loop, !llvm.loop !0

    exit:
      ret i32 %b
    }

    !0 = distinct !{!0, !1, !2}
    !1 = !{!"llvm.loop.unroll.disable"}
    !2 = !{!"latch.site", !"nounroll|pkg|src/lib.rs|10|5", !"f"}
    "#);
}

#[test]
fn parallel_edges_of_a_switch_stay_parallel() {
    let resolved = resolve(
        "
define i32 @f(i32 %x) {
entry:
  enter 0
  br label %loop
loop:
  %a = phi i32 [ 1, %entry ], [ %b, %loop ], [ %b, %loop ], [ %b, %loop ]
  %b = add i32 %a, 1
  body 0
  switch i32 %x, label %exit [ i32 0, label %loop
                               i32 1, label %loop
                               i32 2, label %loop ]
exit:
  ret i32 %a
}",
    );
    insta::assert_snapshot!(resolved.shown(), @r#"
    define i32 @f(i32 %x) {
    entry:
      br label %loop

    loop:
      %a = phi i32 [ 1, %entry ], [ %a.latch, %loop.latch ]
      %b = add i32 %a, 1
      switch i32 %x, label %exit [
        i32 0, label %loop.latch
        i32 1, label %loop.latch
        i32 2, label %loop.latch
      ], !llvm.loop !0

    loop.latch:
      %a.latch = phi i32 [ %b, %loop ], [ %b, %loop ], [ %b, %loop ]
      br label %loop, !llvm.loop !2

    exit:
      ret i32 %a
    }

    !0 = distinct !{!0, !1}
    !1 = !{!"latch.plain"}
    !2 = distinct !{!2, !3, !4}
    !3 = !{!"llvm.loop.unroll.disable"}
    !4 = !{!"latch.site", !"nounroll|pkg|src/lib.rs|10|5", !"f"}
    "#);
}

#[test]
fn the_phis_of_shared_blocks_are_split_for_both_loops() {
    let resolved = resolve(
        "
define i32 @f(i32 %x) {
entry:
  enter 0
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %i.next, %inner ]
  body 0
  enter 1
  br label %inner
inner:
  %i = phi i32 [ %o, %outer ], [ %i.next, %inner ]
  %i.next = add i32 %i, %o
  body 1
  switch i32 %x, label %exit [ i32 1, label %inner
                               i32 2, label %outer ]
exit:
  %r = phi i32 [ %i.next, %inner ]
  ret i32 %r
}",
    );
    assert_eq!(resolved.verdicts(), ["0: outer <- outer.latch (1)", "1: inner <- inner.latch (1)"]);
    insta::assert_snapshot!(resolved.shown(), @r#"
    define i32 @f(i32 %x) {
    entry:
      br label %outer

    outer:
      %o = phi i32 [ 0, %entry ], [ %o.latch, %outer.latch ]
      br label %inner

    inner:
      %i = phi i32 [ %o, %outer ], [ %i.latch, %inner.latch ]
      %i.next = add i32 %i, %o
      switch i32 %x, label %exit [
        i32 1, label %inner.latch
        i32 2, label %outer.latch
      ], !llvm.loop !0

    inner.latch:
      %i.latch = phi i32 [ %i.next, %inner ]
      br label %inner, !llvm.loop !2

    outer.latch:
      %o.latch = phi i32 [ %i.next, %inner ]
      br label %outer, !llvm.loop !5

    exit:
      %r = phi i32 [ %i.next, %inner ]
      ret i32 %r
    }

    !0 = distinct !{!0, !1}
    !1 = !{!"latch.plain"}
    !2 = distinct !{!2, !3, !4}
    !3 = !{!"llvm.loop.unroll.disable"}
    !4 = !{!"latch.site", !"nounroll|pkg|src/lib.rs|11|5", !"f"}
    !5 = distinct !{!5, !3, !6}
    !6 = !{!"latch.site", !"nounroll|pkg|src/lib.rs|10|5", !"f"}
    "#);
}

#[test]
fn an_unreachable_edge_into_the_header_keeps_its_value() {
    let resolved = resolve(
        "
define i32 @f(i1 %c) {
entry:
  enter 0
  br label %loop
loop:
  %a = phi i32 [ 1, %entry ], [ 2, %loop ], [ 3, %never ]
  body 0
  br i1 %c, label %loop, label %exit
never:
  br label %loop
exit:
  ret i32 %a
}",
    );
    assert_eq!(resolved.verdicts(), ["0: loop <- loop.latch (1)"]);
    assert!(resolved.text.contains("[ 1, %entry ], [ 3, %never ], [ %a.latch, %loop.latch ]"), "{}", resolved.text);
}

#[test]
fn phis_of_every_first_class_type_can_be_split() {
    let resolved = resolve(
        "
define void @f(i1 %c, ptr %p, <4 x float> %v, {i32, ptr} %s, [2 x i8] %y, half %h, ptr addrspace(3) %q) {
entry:
  enter 0
  br label %loop
loop:
  %0 = phi ptr [ null, %entry ], [ %p, %loop ]
  %1 = phi <4 x float> [ zeroinitializer, %entry ], [ %v, %loop ]
  %2 = phi {i32, ptr} [ undef, %entry ], [ %s, %loop ]
  %3 = phi [2 x i8] [ poison, %entry ], [ %y, %loop ]
  %4 = phi half [ 0.0, %entry ], [ %h, %loop ]
  %5 = phi ptr addrspace(3) [ null, %entry ], [ %q, %loop ]
  %6 = phi i128 [ 0, %entry ], [ 1, %loop ]
  %7 = phi bfloat [ 0.0, %entry ], [ 1.0, %loop ]
  body 0
  br i1 %c, label %loop, label %exit
exit:
  ret void
}",
    );
    assert_eq!(resolved.text.matches(" = phi ").count(), 16, "{}", resolved.text);
}

#[test]
fn fast_math_flags_of_a_phi_are_kept() {
    let resolved = resolve(
        "
define float @f(i1 %c) {
entry:
  enter 0
  br label %loop
loop:
  %x = phi nnan ninf float [ 0.0, %entry ], [ %y, %loop ]
  %y = fadd float %x, 1.0
  body 0
  br i1 %c, label %loop, label %exit
exit:
  ret float %x
}",
    );
    assert_eq!(resolved.text.matches("phi nnan ninf float").count(), 2, "{}", resolved.text);
}
