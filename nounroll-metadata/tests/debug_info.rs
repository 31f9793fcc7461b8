//! The promise: a new latch belongs to the loop's keyword, also for a debugger.

mod common;

use common::resolve;

#[test]
fn the_jump_of_a_new_latch_has_the_keywords_place() {
    // The markers stand at the keyword (line 10); the header's phi has another place, which is not the jump's.
    let resolved = resolve(
        "
define i32 @f(i1 %c) !dbg !20 {
entry:
  enter 0, !dbg !30
  br label %outer, !dbg !30
outer:
  br label %head, !dbg !31
head:
  %i = phi i32 [ 0, %outer ], [ %next, %head ], !dbg !31
  %next = add i32 %i, 1, !dbg !31
  body 0, !dbg !30
  %again = icmp ne i32 %next, 8, !dbg !31
  br i1 %again, label %head, label %end, !dbg !31
end:
  br i1 %c, label %outer, label %exit, !dbg !31
exit:
  ret i32 %i, !dbg !31
}
!llvm.dbg.cu = !{!21}
!llvm.module.flags = !{!22}
!20 = distinct !DISubprogram(name: \"f\", file: !23, line: 1, type: !24, unit: !21, spFlags: DISPFlagDefinition)
!21 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !23, emissionKind: FullDebug)
!22 = !{i32 2, !\"Debug Info Version\", i32 3}
!23 = !DIFile(filename: \"lib.rs\", directory: \"/\")
!24 = !DISubroutineType(types: !25)
!25 = !{null}
!30 = !DILocation(line: 10, column: 5, scope: !20)
!31 = !DILocation(line: 99, column: 9, scope: !20)",
    );
    assert_eq!(resolved.verdicts(), ["0: head <- head.latch (1)"]);
    let latch = resolved.text.split("head.latch:").nth(1).unwrap();
    let jump = latch.lines().find(|line| line.contains("br label %head")).unwrap();
    let place = jump.split("!dbg !").nth(1).unwrap().split(',').next().unwrap();
    let place = resolved.text.lines().find(|line| line.starts_with(&format!("!{place} = "))).unwrap();
    assert!(place.contains("line: 10, column: 5"), "{place}");

    // The latch of the loop without hint belongs to nothing in the source, and takes no place from its neighbours.
    let outer = resolved.text.lines().find(|line| line.contains("br label %outer, !llvm.loop")).unwrap();
    assert!(!outer.contains("!dbg"), "{outer}");
}
