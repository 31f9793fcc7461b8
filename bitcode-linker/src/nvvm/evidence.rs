//! Which loops libNVVM has left of every hint, read from its own PTX.
//!
//! What libNVVM optimizes cannot be seen, and PTX has no loop IDs. So the module is compiled once more, with its
//! instructions numbered ([`crate::numbers`]). If that gives the same functions, labels, jumps, calls and pragmas, then
//! what the numbers tell of its loops holds for the code that is kept. (Unoptimized code may differ in a load or a
//! register: there libNVVM does not fuse what stands on different lines.)
//!
//! 1. A natural loop of the PTX is made of the innermost loop of the module that all its jumps back are part of: what
//!    an inner loop leaves behind where it was written out may jump back too. Where code was inlined, a jump in no loop
//!    of the function inlined is part of the loop around the call, and so on outwards.
//! 2. A loop around others is never made of the same loop as one of these, nor of one inside that: an empty latch may
//!    have been folded into the inner loop, whose jump then ends both. So it is made of the first loop further out.
//! 3. Of a loop that libNVVM unrolls N times, what takes the remaining iterations is no loop of the hint: it has each
//!    of the loop's instructions at most half as often as the main loop has.
//!
//! When it is wrong: jumps that libNVVM makes of several others have no number; the loop is then judged by the number
//! that most of its instructions share. If the numbered module gives other jumps, there is no evidence at all; the
//! caller then goes by what LLVM's own optimizer leaves, and says so.

use super::listing::{self, Function, Kind, Place, Statement};
use crate::numbers::{Numbers, SourceLoop};
use codegen_pass::{Block, Dominators, Flow, LoopForest, LoopId};
use hint_record::HintKind;
use nounroll_metadata::SurvivingLoop;
use std::collections::{BTreeMap, HashMap};

/// The loops that are left. None if the numbered module has got other loops than `ptx` has.
pub fn loops_left(numbers: &Numbers, numbered: &str, ptx: &str) -> Option<Vec<SurvivingLoop>> {
    if listing::skeleton(numbered) != listing::skeleton(ptx) {
        return None;
    }
    let functions = listing::functions(numbered)?;
    Some(functions.iter().flat_map(|function| in_function(numbers, function)).collect())
}

fn in_function(numbers: &Numbers, function: &Function) -> Vec<SurvivingLoop> {
    let flow = Flow::of(function);
    let forest = LoopForest::from_flow(&flow, &Dominators::of(&flow));
    let origins = Origins { numbers, function, forest: &forest, calls: calls(function) }.of_loops();
    let copies: Vec<usize> = forest.ids().map(|id| most_copies(function, &forest, id)).collect();
    let mut most: HashMap<SourceLoop, usize> = HashMap::new();
    for (origin, copies) in origins.iter().zip(&copies).filter_map(|(origin, copies)| Some(((*origin)?, copies))) {
        let most = most.entry(origin).or_default();
        *most = (*most).max(*copies);
    }
    let left = forest.ids().filter_map(|id| {
        let origin = origins[id.index()]?;
        let hint = numbers.hint(origin)?;
        let is_main = hint.site.kind == HintKind::Nounroll || copies[id.index()] * 2 > most[&origin];
        let header = function.label(forest.get(id).header).to_owned();
        is_main.then(|| SurvivingLoop { function: function.name.clone(), header, ..hint.clone() })
    });
    left.collect()
}

/// Where every call that was inlined was itself inlined, as far as the text says.
fn calls(function: &Function) -> HashMap<u32, Option<u32>> {
    function.places.iter().map(|place| (place.number, place.inlined_at)).collect()
}

/// Finds what the loops of a function's PTX are made of.
struct Origins<'a> {
    numbers: &'a Numbers,
    function: &'a Function,
    forest: &'a LoopForest,
    calls: HashMap<u32, Option<u32>>,
}

impl Origins<'_> {
    fn of_loops(&self) -> Vec<Option<SourceLoop>> {
        let mut origins: Vec<Option<SourceLoop>> = vec![None; self.forest.loops().len()];
        // A loop comes before those inside it.
        for id in self.forest.ids().collect::<Vec<_>>().into_iter().rev() {
            let inner = |other: &LoopId| *other != id && self.forest.encloses(id, *other);
            let taken: Vec<SourceLoop> =
                self.forest.ids().filter(inner).filter_map(|other| origins[other.index()]).collect();
            origins[id.index()] = self.origin(id, &taken);
        }
        origins
    }

    /// The loop that a loop of the PTX is made of, given those that the loops inside it are made of.
    fn origin(&self, id: LoopId, taken: &[SourceLoop]) -> Option<SourceLoop> {
        let latches = self.forest.get(id).latches.iter();
        let jumps =
            latches.filter_map(|&latch| self.function.statements(latch).last()).filter(|last| last.kind == Kind::Jump);
        let free = |place: Place| {
            let outwards = self.outwards(place);
            let first_free = outwards.iter().rposition(|found| taken.contains(found)).map_or(0, |last| last + 1);
            outwards[first_free..].to_vec()
        };
        let jumps: Vec<Vec<SourceLoop>> = jumps.filter_map(|jump| jump.place).map(free).collect();
        match jumps.split_first() {
            Some((first, others)) => {
                first.iter().copied().find(|found| others.iter().all(|around| around.contains(found)))
            }
            None => most_frequent(self.places_inside(id).into_iter().filter_map(|place| free(place).first().copied())),
        }
    }

    /// The places in the loop, those in loops inside it aside.
    fn places_inside(&self, id: LoopId) -> Vec<Place> {
        let own = self.forest.blocks(id).filter(|&block| self.forest.innermost(block) == Some(id));
        own.flat_map(|block| self.function.statements(block)).filter_map(|statement| statement.place).collect()
    }

    /// The loops around a place, through all calls that it was inlined at.
    fn outwards(&self, place: Place) -> Vec<SourceLoop> {
        let mut loops = Vec::new();
        let mut next = Some(place);
        // Recursion that was inlined into itself would go round for ever.
        for _ in 0..MOST_CALLS {
            let Some(place) = next else { break };
            let mut around = self.numbers.innermost(place.number);
            while let Some(found) = around {
                loops.push(found);
                around = self.numbers.parent(found);
            }
            let call = place.inlined_at;
            next = call.map(|number| Place { number, inlined_at: self.calls.get(&number).copied().flatten() });
        }
        loops
    }
}

fn most_frequent(loops: impl Iterator<Item = SourceLoop>) -> Option<SourceLoop> {
    let mut votes: BTreeMap<SourceLoop, usize> = BTreeMap::new();
    loops.for_each(|found| *votes.entry(found).or_default() += 1);
    votes.into_iter().max_by_key(|&(_, count)| count).map(|(found, _)| found)
}

/// More calls inlined into one another than any program has.
const MOST_CALLS: usize = 1000;

/// How often the loop has the instruction that it has most often. Counting and addresses are left to the side, where
/// the loop does anything else: of those there may be several for one instruction of the module.
fn most_copies(function: &Function, forest: &LoopForest, id: LoopId) -> usize {
    let own = || forest.blocks(id).filter(|&block: &Block| forest.innermost(block) == Some(id));
    let copies = |is_counted: fn(&Statement) -> bool| {
        let mut counts: HashMap<Place, usize> = HashMap::new();
        let counted = own().flat_map(|block| function.statements(block)).filter(|statement| is_counted(statement));
        counted.filter_map(|statement| statement.place).for_each(|place| *counts.entry(place).or_default() += 1);
        counts.into_values().max()
    };
    copies(|statement| statement.kind == Kind::Work).or_else(|| copies(|_| true)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::parse;
    use super::*;
    use crate::numbers::number;
    use inkwell::context::Context;

    /// A function with a loop that runs `outer` times around one that runs `inner` times, both hinted, and one that
    /// calls it in a loop with a hint of its own. The comments are the numbers of the instructions.
    const MODULE: &str = r#"
define void @nest(ptr %p, i32 %outer, i32 %inner) {
entry:
  br label %out ; 1
out:
  %a = phi i32 [ 0, %entry ], [ %a1, %latch ] ; 2
  br label %in ; 3
in:
  %b = phi i32 [ 0, %out ], [ %b1, %in ] ; 4
  %v = load float, ptr %p ; 5
  %b1 = add i32 %b, 1 ; 6
  %again = icmp ult i32 %b1, %inner ; 7
  br i1 %again, label %in, label %latch, !llvm.loop !0 ; 8
latch:
  %a1 = add i32 %a, 1 ; 9
  %more = icmp ult i32 %a1, %outer ; 10
  br i1 %more, label %out, label %exit, !llvm.loop !3 ; 11
exit:
  ret void ; 12
}
define ptx_kernel void @k(ptr %p, i32 %n) {
entry:
  br label %loop ; 13
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ] ; 14
  call void @nest(ptr %p, i32 %i, i32 %n) ; 15
  %i1 = add i32 %i, 1 ; 16
  %go = icmp ult i32 %i1, %n ; 17
  br i1 %go, label %loop, label %exit, !llvm.loop !6 ; 18
exit:
  ret void ; 19
}
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{!"latch.site", !"nounroll|p|src/lib.rs|2|5", !"nest"}
!3 = distinct !{!3, !4, !5}
!4 = !{!"llvm.loop.unroll.count", i32 4}
!5 = !{!"latch.site", !"unroll|p|src/lib.rs|1|5", !"nest"}
!6 = distinct !{!6, !1, !7}
!7 = !{!"latch.site", !"nounroll|p|src/lib.rs|9|5", !"k"}
"#;

    /// The hints' lines of the loops that are left of a kernel with this body, each with the label of its header.
    #[track_caller]
    fn left(body: &str) -> Vec<(u32, String)> {
        let context = Context::create();
        let module = parse(&context, MODULE);
        let numbers = number(&module);
        assert!(module.verify().is_ok());
        let ptx = format!(".visible .entry k()\n{{\n{body}\n\tret;\n}}\n");
        let left = loops_left(&numbers, &ptx, &ptx).expect("the code is the same");
        left.into_iter().map(|found| (found.site.line, found.header.replace("$L__BB0_", ""))).collect()
    }

    fn expected(loops: &[(u32, &str)]) -> Vec<(u32, String)> {
        loops.iter().map(|&(line, label)| (line, label.to_owned())).collect()
    }

    #[test]
    fn a_nest_is_recognized_through_the_calls_that_it_was_inlined_at() {
        let body = "
$L__BB0_1:
	.loc 1 15 1
$L__BB0_2:
	.loc 1 3 1, function_name $s, inlined_at 1 15 1
	mov.b32 %r1, 0;
$L__BB0_3:
	.loc 1 5 1, function_name $s, inlined_at 1 15 1
	ld.global.b32 %r2, [%rd1];
	.loc 1 8 1, function_name $s, inlined_at 1 15 1
	@%p1 bra $L__BB0_3;
	.loc 1 11 1, function_name $s, inlined_at 1 15 1
	@%p2 bra $L__BB0_2;
	.loc 1 18 1
	@%p3 bra $L__BB0_1;";
        assert_eq!(left(body), expected(&[(9, "1"), (1, "2"), (2, "3")]));
    }

    #[test]
    fn what_an_inner_loop_leaves_behind_may_jump_back_for_the_one_around_it() {
        let body = "
$L__BB0_1:
	.loc 1 5 1, function_name $s, inlined_at 1 15 1
	ld.global.b32 %r2, [%rd1];
	.loc 1 8 1, function_name $s, inlined_at 1 15 1
	@%p1 bra $L__BB0_1;
	@%p2 bra $L__BB0_1;
	.loc 1 11 1, function_name $s, inlined_at 1 15 1
	@%p3 bra $L__BB0_1;";
        assert_eq!(left(body), expected(&[(1, "1")]));
    }

    #[test]
    fn an_inner_loop_written_out_is_part_of_the_one_around_it() {
        let body = "
$L__BB0_1:
	.loc 1 5 1, function_name $s, inlined_at 1 15 1
	ld.global.b32 %r2, [%rd1];
	ld.global.b32 %r2, [%rd1+4];
	.loc 1 18 1
	@%p3 bra $L__BB0_1;";
        assert_eq!(left(body), expected(&[(9, "1")]));
    }

    #[test]
    fn a_jump_in_no_loop_of_the_function_inlined_is_the_callers() {
        let body = "$L__BB0_1:\n\t.loc 1 12 1, function_name $s, inlined_at 1 15 1\n\t@%p3 bra $L__BB0_1;";
        assert_eq!(left(body), expected(&[(9, "1")]));
    }

    #[test]
    fn a_jump_that_ends_two_loops_is_the_inner_ones() {
        let body = "
$L__BB0_1:
	mov.b32 %r1, 0;
$L__BB0_2:
	.loc 1 5 1
	ld.global.b32 %r2, [%rd1];
	.loc 1 8 1
	@%p1 bra $L__BB0_2;
	@%p2 bra $L__BB0_1;";
        assert_eq!(left(body), expected(&[(1, "1"), (2, "2")]));
    }

    #[test]
    fn the_rest_of_an_unrolled_loop_is_none_of_the_hint() {
        let rest = "$L__BB0_1:\n\t.loc 1 5 1\n\tld.global.b32 %r2, [%rd1];\n\t.loc 1 11 1\n\tadd.s32 %r3, %r3, 1;\n\tadd.s64 %rd3, %rd3, 1;\n\tsetp.eq.s32 %p1, %r3, %r4;\n\t@%p1 bra $L__BB0_1;\n";
        let main = "$L__BB0_2:\n\t.loc 1 5 1\n\tld.global.b32 %r2, [%rd1];\n\tld.global.b32 %r2, [%rd1+4];\n\t.loc 1 11 1\n\t@%p1 bra $L__BB0_2;\n";
        assert_eq!(left(&format!("{rest}{main}")), expected(&[(1, "2")]));
        assert_eq!(left(rest), expected(&[(1, "1")]), "alone it is the loop itself");
        let rolled = [rest, main].concat().replace("1 11 1", "1 8 1");
        assert_eq!(left(&rolled), expected(&[(2, "1"), (2, "2")]), "copies of a rolled loop all count");
    }

    #[test]
    fn without_a_number_at_its_jump_a_loop_is_what_its_instructions_are() {
        let body = "$L__BB0_1:\n\t.loc 1 5 1\n\tld.global.b32 %r2, [%rd1];\n\tadd.rn.f32 %r1, %r1, %r2;\n\t.loc 1 9 1\n\tadd.s32 %r3, %r3, 1;\n\t.loc 1 0 1\n\t@%p1 bra $L__BB0_1;";
        assert_eq!(left(body), expected(&[(2, "1")]));
        assert_eq!(left("$L__BB0_1:\n\t.loc 1 0 1\n\t@%p1 bra $L__BB0_1;"), []);
        assert_eq!(left("$L__BB0_1:\n\t.loc 1 999 1\n\t@%p1 bra $L__BB0_1;"), [], "a number that was not given");
    }

    #[test]
    fn calls_that_were_inlined_into_themselves_come_to_an_end() {
        let body = "$L__BB0_1:\n\t.loc 1 15 1, function_name $s, inlined_at 1 15 1\n\t@%p1 bra $L__BB0_1;";
        assert_eq!(left(body), expected(&[(9, "1")]));
    }

    #[test]
    fn other_code_is_no_evidence() {
        let context = Context::create();
        let numbers = number(&parse(&context, MODULE));
        let ptx = ".visible .entry k()\n{\n\tret;\n}\n";
        assert!(loops_left(&numbers, ptx, ptx).is_some());
        assert!(loops_left(&numbers, ptx, &ptx.replace("ret", "exit")).is_none());
    }
}
