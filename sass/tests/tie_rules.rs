//! One rule of tying at a time, on machine code written by hand: each instruction with the PTX line it was made from.

use sass::{LandmarkKind, Module, Program, PtxModule, TiedKernel, Verdict, tie};

/// Loop `B` in loop `A`; line 1 is the kernel's head.
const PTX: &str = "\
.visible .entry k()
{
    .reg .pred %p<9>;
A:
    st.global.u32 [%rd1], %r1; // 5
B:
    ld.global.u32 %r2, [%rd2]; // 7
    add.s32 %r1, %r1, %r2; // 8
    setp.lt.s32 %p1, %r1, %r9; // 9
    @%p1 bra B; // 10
    setp.lt.s32 %p2, %r1, %r8; // 11
    @%p2 bra A; // 12
    st.global.u32 [%rd3], %r1; // 13
    bra.uni E; // 14
E:
    div.rn.f32 %f1, %f2, %f3; // 16
    ret; // 17
}
";

/// Lines are labels, or a PTX line (0 for none) and an instruction.
fn module(code: &str) -> Module {
    let mut text = "\t.target\tsm_120a\n\t.section\t.text.k,\"ax\",@progbits\n\t.type k,@function\n\
                    \t.other k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\nk:\n"
        .to_owned();
    let mut address = 0;
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.split_once(' ').filter(|_| !line.ends_with(':')) {
            None => text += &format!("{line}\n"),
            Some((ptx_line, instruction)) => {
                text += &format!("\t//## File \".nv_debug_ptx_txt\", line {ptx_line}\n");
                text += &format!("        /*{address:04x}*/  {instruction} ;\n");
                address += 16;
            }
        }
    }
    Module::parse(&text).expect("a module")
}

/// What became of the loops at labels, with copies and instances of those that live.
fn fates(ptx: &str, code: &str, labels: &[&str]) -> Vec<(Verdict, Vec<u32>)> {
    let ptx = PtxModule::parse(ptx).expect("PTX");
    let module = module(code);
    let tied = tie(&ptx, &Program::of(&module));
    let found = |label: &&str| tied[0].find(&ptx, "k", label).expect("the loop");
    let fate = |label| (found(label).verdict, found(label).instances.iter().map(|instance| instance.copies).collect());
    labels.iter().map(fate).collect()
}

fn verdicts(code: &str) -> [Verdict; 2] {
    let fates = fates(PTX, code, &["A", "B"]);
    [fates[0].0, fates[1].0]
}

use Verdict::{Alive, Gone, NotProved};

#[test]
fn loops_that_stand_as_written_are_alive() {
    let code = "
        .L_x_1:
        5 STG.E [R2], R4
        .L_x_2:
        7 LDG.E R5, [R6]
        8 IADD R4, R4, R5
        9 ISETP.LT.AND P0, PT, R4, R9, PT
        10 @P0 BRA `(.L_x_2)
        11 ISETP.LT.AND P0, PT, R4, R8, PT
        12 @P0 BRA `(.L_x_1)
        13 STG.E [R2], R4
        17 EXIT";
    assert_eq!(fates(PTX, code, &["A", "B"]), [(Alive, vec![1]), (Alive, vec![1])]);
}

#[test]
fn an_inner_loop_that_was_unrolled_is_gone_though_its_code_is_all_there() {
    let code = "
        .L_x_1:
        5 STG.E [R2], R4
        7 LDG.E R5, [R6]
        8 IADD R4, R4, R5
        10 @!P1 BRA `(.L_x_3)
        7 LDG.E R5, [R6]
        8 IADD R4, R4, R5
        .L_x_3:
        12 @P0 BRA `(.L_x_1)
        17 EXIT";
    assert_eq!(verdicts(code), [Alive, Gone]);
}

#[test]
fn arithmetic_that_is_left_in_a_cycle_proves_nothing() {
    let code = "
        .L_x_1:
        5 STG.E [R2], R4
        .L_x_2:
        8 IADD R4, R4, R5
        11 @P1 BRA `(.L_x_2)
        12 @P0 BRA `(.L_x_1)
        17 EXIT";
    assert_eq!(verdicts(code), [Alive, NotProved]);
}

#[test]
fn an_outer_loop_that_runs_once_is_gone_and_the_inner_one_is_not() {
    let code = "
        5 STG.E [R2], R4
        .L_x_2:
        7 LDG.E R5, [R6]
        10 @P0 BRA `(.L_x_2)
        17 EXIT";
    assert_eq!(verdicts(code), [Gone, Alive]);
}

#[test]
fn constants_and_addresses_of_other_places_do_no_harm() {
    let code = "
        .L_x_1:
        5 STG.E [R2], R4
        .L_x_2:
        13 MOV R3, 0x7
        5 IADD R2, R2, 0x4
        7 LDG.E R5, [R6]
        16 MUFU.RCP R7, R8
        10 @P0 BRA `(.L_x_2)
        12 @P0 BRA `(.L_x_1)
        17 EXIT";
    assert_eq!(verdicts(code), [Alive, Alive]);
}

#[test]
fn copies_are_those_of_the_rarest_landmark_and_a_remainder_is_another_instance() {
    let code = "
        5 STG.E [R2], R4
        .L_x_2:
        7 LDG.E R5, [R6]
        7 LDG.E R5, [R6+0x4]
        7 LDG.E R5, [R6+0x8]
        10 @P0 BRA `(.L_x_2)
        .L_x_3:
        7 LDG.E R5, [R6]
        10 @P0 BRA `(.L_x_3)
        17 EXIT";
    assert_eq!(fates(PTX, code, &["A", "B"])[1], (Alive, vec![3, 1]));
}

#[test]
fn a_uniform_branch_is_known_by_what_made_its_predicate() {
    // The branches have the lines of what stands before them.
    let code = |other: &str| {
        format!(
            "
        .L_x_1:
        5 STG.E [R2], R4
        .L_x_2:
        8 UIADD3 UR4, UPT, UPT, UR4, 0x1, URZ
        9 UISETP.LT.AND UP0, UPT, UR4, UR5, UPT
        {other}
        5 BRA.U UP0, `(.L_x_2)
        11 UISETP.LT.AND UP1, UPT, UR4, UR6, UPT
        8 BRA.U UP1, `(.L_x_1)
        17 EXIT"
        )
    };
    assert_eq!(verdicts(&code("")), [Alive, Alive]);
    assert_eq!(verdicts(&code("0 @P3 UISETP.LT.AND UP0, UPT, UR4, UR6, UPT")), [Alive, NotProved], "two definitions");
}

#[test]
fn what_runs_only_on_the_way_out_stands_for_that_way() {
    let code = |out: &str| {
        format!(
            "
        5 STG.E [R2], R4
        .L_x_2:
        7 LDG.E R5, [R6]
        9 ISETP.LT.AND P0, PT, R4, R9, PT
        {out}
        .L_x_3:
        17 EXIT"
        )
    };
    let taken = "13 @!P0 STG.E [R2], R4\n 14 @!P0 BRA `(.L_x_3)\n 10 BRA `(.L_x_2)";
    assert_eq!(verdicts(&code(taken)), [Gone, Alive]);
    let passed = "13 @!P0 STG.E [R2], R4\n 10 @P0 BRA `(.L_x_2)";
    assert_eq!(verdicts(&code(passed)), [Gone, Alive]);
    let ends = "13 @!P0 STG.E [R2], R4\n 17 @!P0 EXIT\n 10 BRA `(.L_x_2)";
    assert_eq!(verdicts(&code(ends)), [Gone, Alive]);
    let other = "13 @!P0 STG.E [R2], R4\n 9 ISETP.LT.AND P0, PT, R4, R8, PT\n 10 @P0 BRA `(.L_x_2)";
    assert_eq!(verdicts(&code(other)), [Gone, Gone], "the predicate is made again: the store may run in every turn");
}

#[test]
fn one_branch_for_a_guarded_one_and_a_jump_may_have_the_line_of_either() {
    let ptx = "\
.visible .entry k()
{
A:
    add.s32 %r1, %r1, %r2; // 4
    @%p1 bra E; // 5
    bra.uni A; // 6
E:
    ret; // 8
}
";
    for line in [5, 6] {
        let code = format!(".L_x_1:\n 4 IADD R4, R4, R5\n {line} @!P0 BRA `(.L_x_1)\n 8 EXIT");
        assert_eq!(fates(ptx, &code, &["A"]), [(Alive, vec![1])], "line {line}");
    }
}

#[test]
fn a_loop_that_shares_its_header_with_the_one_around_it_is_seen() {
    // One natural loop.
    let code = "
        5 STG.E [R2], R4
        .L_x_2:
        7 LDG.E R5, [R6]
        10 @P0 BRA `(.L_x_3)
        5 STG.E [R2], R4
        12 @P1 BRA `(.L_x_3)
        17 EXIT
        .L_x_3:
        0 BRA `(.L_x_2)";
    assert_eq!(verdicts(code), [Alive, Alive]);
}

#[test]
fn the_slow_path_of_a_division_is_no_call() {
    let code = "
        5 STG.E [R2], R4
        .L_x_2:
        7 LDG.E R5, [R6]
        16 CALL.REL.NOINC `(slow)
        10 @P0 BRA `(.L_x_2)
        17 EXIT";
    assert_eq!(verdicts(code), [Gone, Alive]);
}

#[test]
fn code_that_is_entered_at_two_places_is_a_loop_here() {
    let code = "
        5 STG.E [R2], R4
        0 @P2 BRA `(.L_x_3)
        .L_x_2:
        8 IADD R4, R4, R5
        .L_x_3:
        7 LDG.E R5, [R6]
        10 @P0 BRA `(.L_x_2)
        17 EXIT";
    assert_eq!(verdicts(code), [Gone, Alive]);
}

#[test]
fn every_block_has_its_machine_code() {
    let ptx = PtxModule::parse(PTX).expect("PTX");
    let module = module(
        "
        5 STG.E [R2], R4
        .L_x_2:
        7 LDG.E R5, [R6]
        8 IADD R4, R4, R5
        5 BRA.U UP0, `(.L_x_2)
        13 MOV R3, 0x7
        0 MOV R4, 0x8
        17 EXIT",
    );
    let program = Program::of(&module);
    let tied: &TiedKernel<'_> = &tie(&ptx, &program)[0];
    let function = ptx.position("k").expect("the kernel");
    let block = ptx.functions()[function].loop_at("B").expect("the loop").header();
    let code = tied.code_of(function, block).expect("its code");
    let opcodes = |list: &[&sass::Instruction]| list.iter().map(|i| i.mnemonic().to_owned()).collect::<Vec<_>>();
    assert_eq!((opcodes(&code.fixed), opcodes(&code.loose)), (vec!["LDG".to_owned()], vec!["IADD".to_owned()]));
    assert_eq!(opcodes(&tied.unknown), ["BRA", "MOV"]);
    let kinds: Vec<LandmarkKind> = tied.landmarks.iter().map(|landmark| landmark.kind).collect();
    assert_eq!(kinds, [LandmarkKind::Effect, LandmarkKind::Load]);
}

#[test]
fn a_register_that_is_written_again_decides_only_the_branches_that_it_reaches() {
    let ptx = "\
.visible .entry k()
{
A:
    setp.lt.s32 %p1, %r1, %r9; // 4
    @%p1 bra A; // 5
B:
    setp.lt.s32 %p1, %r1, %r8; // 7
    not.pred %p2, %p1; // 8
    @%p2 bra B; // 9
    ret; // 10
}
";
    let code = "
        .L_x_1:
        4 UISETP.LT.AND UP0, UPT, UR4, UR5, UPT
        1 BRA.U UP0, `(.L_x_1)
        7 UISETP.LT.AND UP0, UPT, UR4, UR6, UPT
        10 EXIT";
    let found = fates(ptx, code, &["A", "B"]);
    assert_eq!(found, [(Alive, vec![1]), (Gone, vec![])]);
    let found = fates(ptx, &code.replace("10 EXIT", "1 BRA.U !UP0, `(.L_x_1)\n10 EXIT"), &["A", "B"]);
    assert_eq!(found, [(Alive, vec![1]), (Gone, vec![])], "both branches go to A");
}
