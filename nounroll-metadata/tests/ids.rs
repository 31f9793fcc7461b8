//! The promise: what a loop's ID said before is still said afterwards, and never of another loop.

mod common;

use common::{resolve, site};

const MUSTPROGRESS: &str = "!{!\"llvm.loop.mustprogress\"}";

/// A plain loop whose latch carries `!10`, and the metadata given.
fn with_id(metadata: &str) -> common::Resolved {
    resolve(&format!(
        "
define void @f(i1 %c) {{
entry:
  enter 0
  br label %head
head:
  body 0
  br i1 %c, label %latch, label %exit
latch:
  br label %head, !llvm.loop !10
exit:
  ret void
}}
{metadata}"
    ))
}

#[test]
fn properties_that_were_there_are_kept() {
    let resolved =
        with_id("!10 = distinct !{!10, !11, !12}\n!11 = !{!\"llvm.loop.mustprogress\"}\n!12 = !{!\"x\", i32 7}");
    let ids = resolved.ids();
    let hint = "!{!\"llvm.loop.unroll.disable\"}";
    assert_eq!(ids.properties("latch")[..3], [MUSTPROGRESS, "!{!\"x\", i32 7}", hint]);
    assert_eq!(ids.site("latch"), Some(site(0)));
}

#[test]
fn other_requests_to_unroll_give_way_to_the_hint() {
    let resolved = with_id(
        "!10 = distinct !{!10, !11, !12, !13}\n!11 = !{!\"llvm.loop.unroll.count\", i32 4}
!12 = !{!\"llvm.loop.unroll.runtime.disable\"}\n!13 = !{!\"llvm.loop.mustprogress\"}",
    );
    let ids = resolved.ids();
    assert_eq!(ids.properties("latch")[..2], [MUSTPROGRESS, "!{!\"llvm.loop.unroll.disable\"}"]);
    assert_eq!(ids.properties("latch").len(), 3);
}

#[test]
fn places_in_the_source_are_kept_where_a_hint_brings_none() {
    let resolved = resolve(
        "
define void @f(i1 %c) !dbg !20 {
entry:
  enter 0, !dbg !31
  br label %head, !dbg !31
head:
  body 0, !dbg !31
  br i1 %c, label %latch, label %exit, !dbg !31
latch:
  br label %head, !dbg !32, !llvm.loop !10
exit:
  br i1 %c, label %plain, label %end, !dbg !31
plain:
  br label %plain, !dbg !32, !llvm.loop !10
end:
  ret void, !dbg !31
}
!llvm.dbg.cu = !{!21}
!llvm.module.flags = !{!22}
!10 = distinct !{!10, !31, !32, !11}
!11 = !{!\"llvm.loop.mustprogress\"}
!20 = distinct !DISubprogram(name: \"f\", file: !23, line: 1, type: !24, unit: !21, spFlags: DISPFlagDefinition)
!21 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !23, emissionKind: FullDebug)
!22 = !{i32 2, !\"Debug Info Version\", i32 3}
!23 = !DIFile(filename: \"lib.rs\", directory: \"/\")
!24 = !DISubroutineType(types: !25)
!25 = !{null}
!31 = !DILocation(line: 3, column: 5, scope: !20)
!32 = !DILocation(line: 9, column: 6, scope: !20)",
    );
    let ids = resolved.ids();
    let properties = ids.properties("latch");
    assert!(properties[0].starts_with("!DILocation(line: 3, column: 5"), "the hint's own: {properties:?}");
    assert_eq!(properties[1], MUSTPROGRESS);
    assert_eq!(properties.len(), 4);
    let properties = ids.properties("plain");
    assert!(properties[0].starts_with("!DILocation(line: 3, column: 5"), "{properties:?}");
    assert!(properties[1].starts_with("!DILocation(line: 9, column: 6"), "{properties:?}");
    assert_eq!(properties[2..], [MUSTPROGRESS, "!{!\"latch.plain\"}"]);
}

#[test]
fn odd_operands_are_no_trouble() {
    for id in ["!{!10, null, !11}", "!{!10, i32 5, !11}", "!{!11}", "!{!10, !\"text\", !11}"] {
        let resolved = with_id(&format!("!10 = distinct {id}\n!11 = !{{!\"llvm.loop.mustprogress\"}}"));
        let ids = resolved.ids();
        assert!(ids.node("latch").contains("\"text\"") || ids.properties("latch")[0] == MUSTPROGRESS, "{id}");
    }
}

#[test]
fn a_new_latch_has_the_properties_of_all_that_it_replaces() {
    let resolved = resolve(
        "
define void @f(i1 %c, i1 %d) {
entry:
  enter 0
  br label %head
head:
  body 0
  br i1 %c, label %inside, label %exit
inside:
  br i1 %d, label %one, label %two
one:
  br label %head, !llvm.loop !10
two:
  br label %head, !llvm.loop !20
exit:
  ret void
}
!10 = distinct !{!10, !11, !12}
!11 = !{!\"llvm.loop.mustprogress\"}
!12 = !{!\"a\"}
!20 = distinct !{!20, !11, !22}
!22 = !{!\"b\"}",
    );
    let ids = resolved.ids();
    assert_eq!(ids.blocks(), ["head.latch"], "IDs on what is no latch any more are gone");
    assert_eq!(ids.properties("head.latch")[..3], [MUSTPROGRESS, "!{!\"a\"}", "!{!\"b\"}"]);
    assert_eq!(ids.properties("head.latch").len(), 5, "mustprogress is not said twice");
}

#[test]
fn the_id_of_a_block_that_ends_two_loops_goes_to_both() {
    for (outer, inner) in [("body 0", ""), ("", "body 0")] {
        let resolved = resolve(&format!(
            "
define void @f(i1 %c, i32 %x) {{
entry:
  enter 0
  br label %head
head:
  {outer}
  {}
  br i1 %c, label %mid, label %exit
mid:
  {inner}
  switch i32 %x, label %exit [ i32 1, label %mid
                               i32 2, label %head ], !llvm.loop !10
exit:
  ret void
}}
!10 = distinct !{{!10, !11}}
!11 = !{{!\"llvm.loop.mustprogress\"}}",
            if inner.is_empty() { "" } else { "enter 0" }
        ));
        let ids = resolved.ids();
        assert_eq!(ids.blocks().len(), 2, "{}", resolved.text);
        assert_eq!(ids.properties("mid"), ["!{!\"latch.plain\"}"], "it is no latch any more");
        for block in ids.blocks() {
            assert_eq!(ids.properties(block)[0], MUSTPROGRESS);
        }
        let sites: Vec<String> = ids.blocks().into_iter().filter_map(|block| ids.site(block)).collect();
        assert_eq!(sites, [site(0)]);
    }
}

#[test]
fn an_unhinted_loop_keeps_its_hand_written_id_and_can_be_told_apart() {
    let resolved = resolve(
        "
define void @f(i1 %c) {
entry:
  enter 0
  br label %one
one:
  body 0
  br i1 %c, label %one.end, label %two
one.end:
  br label %one
two:
  br i1 %c, label %two.end, label %exit
two.end:
  br label %two, !llvm.loop !10
exit:
  ret void
}
!10 = distinct !{!10, !11}
!11 = !{!\"llvm.loop.unroll.count\", i32 8}",
    );
    let ids = resolved.ids();
    assert_eq!(ids.properties("two.end"), ["!{!\"llvm.loop.unroll.count\", i32 8}", "!{!\"latch.plain\"}"]);
}
