//! The promise: a hinted loop's jump back belongs to the loop's keyword, for a debugger and in the machine code.

mod common;

use common::{ir, parse, resolve};
use inkwell::context::Context;
use nounroll_metadata::{place_latches, resolve_hints};

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
  %turn = phi i32 [ 0, %entry ], [ %more, %end ], !dbg !31
  %more = add i32 %turn, 1, !dbg !31
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

/// A function whose marker was inlined into it, and a marker that has the place of the kernel's attribute (line 3).
const INLINED: &str = "
define void @f(i1 %c) !dbg !20 {
entry:
  enter 7, !dbg !30
  br label %head, !dbg !31
head:
  body 7, !dbg !30
  br i1 %c, label %head, label %exit, !dbg !31
exit:
  ret void, !dbg !31
}
!llvm.dbg.cu = !{!21}
!llvm.module.flags = !{!22}
!19 = distinct !DISubprogram(name: \"g\", file: !23, line: 1, type: !24, unit: !21, spFlags: DISPFlagDefinition)
!20 = distinct !DISubprogram(name: \"f\", file: !26, line: 1, type: !24, unit: !21, spFlags: DISPFlagDefinition)
!21 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !26, emissionKind: FullDebug)
!22 = !{i32 2, !\"Debug Info Version\", i32 3}
!23 = !DIFile(filename: \"kernels/src/lib.rs\", directory: \"/\")
!24 = !DISubroutineType(types: !25)
!25 = !{null}
!26 = !DIFile(filename: \"other.rs\", directory: \"/\")
!30 = !DILocation(line: 3, column: 1, scope: !19, inlinedAt: !32)
!31 = !DILocation(line: 99, column: 9, scope: !20)
!32 = distinct !DILocation(line: 98, column: 2, scope: !20)";

/// The location of the only branch with a loop ID, after `change` to the resolved module.
fn place_of_latch(functions: &str, change: impl Fn(&inkwell::module::Module<'_>)) -> String {
    let context = Context::create();
    let module = parse(&context, &ir(functions));
    resolve_hints(&module).expect("the hints can be resolved");
    change(&module);
    place_latches(&module);
    module.verify().expect("the module is right");
    let text = module.print_to_string().to_string();
    let latch = text.lines().find(|line| line.contains("!llvm.loop !") && line.contains("br ")).expect("a latch");
    let Some((_, place)) = latch.split_once("!dbg !") else { return String::new() };
    let number = place.split(',').next().expect("a number");
    text.lines().find(|line| line.starts_with(&format!("!{number} = "))).expect("a location").to_owned()
}

#[test]
fn the_place_is_the_keywords_in_the_function_that_the_loop_was_written_in() {
    let place = place_of_latch(INLINED, |_| ());
    assert!(place.contains("line: 17, column: 5"), "{place}");
    assert!(place.contains("inlinedAt: "), "{place}");
}

#[test]
fn a_latch_that_the_optimizer_gave_another_place_gets_it_back() {
    let forget = |module: &inkwell::module::Module<'_>| {
        let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
        blocks.filter_map(|block| block.get_terminator()).for_each(|end| end.set_debug_location(None));
    };
    let place = place_of_latch(INLINED, forget);
    assert!(place.contains("line: 17, column: 5"), "{place}");
}

#[test]
fn a_loop_whose_marker_lies_in_another_file_keeps_the_markers_place() {
    let place = place_of_latch(&INLINED.replace("kernels/src/lib.rs", "macros.rs"), |_| ());
    assert!(place.contains("line: 3, column: 1"), "{place}");
}

#[test]
fn without_debug_information_nothing_has_a_place() {
    let start = INLINED.find("!llvm.dbg.cu").expect("the metadata");
    let plain: String = INLINED[..start]
        .lines()
        .map(|line| line.split(", !dbg").next().unwrap_or(line))
        .map(|line| format!("{}\n", line.replace(" !dbg !20", "")))
        .collect();
    assert_eq!(place_of_latch(&plain, |_| ()), "");
}

/// An optimized loop whose ID holds a place (line 17 of lib.rs), with a comparison that was written in `FILE`, line 7.
const OPTIMIZED: &str = "
define void @f(i32 %n) !dbg !20 {
entry:
  br label %head, !dbg !31
head:
  %i = phi i32 [ 0, %entry ], [ %next, %head ], !dbg !31
  %next = add i32 %i, 1, !dbg !31
  %again = icmp ult i32 %next, %n, !dbg !33
  br i1 %again, label %head, label %exit, !dbg !31, !llvm.loop !40
exit:
  ret void, !dbg !31
}
!llvm.dbg.cu = !{!21}
!llvm.module.flags = !{!22}
!19 = distinct !DISubprogram(name: \"lt\", file: !26, line: 1, type: !24, unit: !21, spFlags: DISPFlagDefinition)
!20 = distinct !DISubprogram(name: \"f\", file: !23, line: 1, type: !24, unit: !21, spFlags: DISPFlagDefinition)
!21 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !23, emissionKind: FullDebug)
!22 = !{i32 2, !\"Debug Info Version\", i32 3}
!23 = !DIFile(filename: \"lib.rs\", directory: \"/\")
!24 = !DISubroutineType(types: !25)
!25 = !{null}
!26 = !DIFile(filename: \"FILE\", directory: \"/\")
!31 = !DILocation(line: 99, column: 9, scope: !20)
!32 = distinct !DILocation(line: 98, column: 2, scope: !20)
!33 = !DILocation(line: 7, column: 2, scope: !19, inlinedAt: !32)
!39 = !DILocation(line: 17, column: 5, scope: !20)
!40 = distinct !{!40, !39, !41}
!41 = !{!\"latch.site\", !\"nounroll|pkg|lib.rs|17|5\", !\"f\"}";

/// The location of the instruction whose text holds `words`.
fn place_of(text: &str, words: &str) -> String {
    let line = text.lines().find(|line| line.contains(words)).expect("the instruction");
    let number = line.split_once("!dbg !").expect("a location").1.split(',').next().expect("a number");
    text.lines().find(|line| line.starts_with(&format!("!{number} = "))).expect("a location").to_owned()
}

#[test]
fn a_condition_from_elsewhere_has_the_keywords_place_and_one_of_the_same_file_its_own() {
    for (file, line) in [("cmp.rs", "line: 17, column: 5"), ("lib.rs", "line: 7, column: 2")] {
        let context = Context::create();
        let module = parse(&context, &OPTIMIZED.replace("FILE", file));
        place_latches(&module);
        module.verify().expect("the module is right");
        let text = module.print_to_string().to_string();
        assert!(place_of(&text, "br i1 %again").contains("line: 17, column: 5"), "{text}");
        assert!(place_of(&text, "icmp ult").contains(line), "{file}: {text}");
    }
}
