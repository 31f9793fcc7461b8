//! One rule of control flow at a time, on code written by hand.

use sass::{Counts, EdgeKind, Extra, Function, Module, Program};

/// A section. Lines are instructions, 16 bytes apart, or labels; `name:` of a function is declared as one, a kernel if
/// it is the first. ptxas's padding follows where `padded`.
fn section(name: &str, lines: &str, padded: bool) -> String {
    let mut text =
        format!("\t.section\t.text.{name},\"ax\",@progbits\n\t.other {name},@\"STO_CUDA_ENTRY STV_DEFAULT\"\n");
    let padding = if padded { ".L_pad:\nBRA `(.L_pad)\nNOP\nNOP" } else { "" };
    let mut address = 0;
    for line in lines.lines().chain(padding.lines()).map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(label) = line.strip_suffix(':') {
            if !label.starts_with('.') {
                text += &format!("\t.type {label},@function\n");
            }
            text += &format!("{label}:\n");
        } else {
            text += &format!("        /*{address:04x}*/  {line} ;\n");
            address += 16;
        }
    }
    text
}

fn module(sections: &[String]) -> Module {
    Module::parse(&format!("\t.target\tsm_90\n{}", sections.concat())).expect("a module")
}

fn one(lines: &str) -> Module {
    module(&[section("k", lines, true)])
}

fn counts(module: &Module) -> Counts {
    let program = Program::of(module);
    Counts::of(&program.kernel("k").expect("the kernel"))
}

fn extra(module: &Module) -> Extra {
    let program = Program::of(module);
    Extra::of(&program.kernel("k").expect("the kernel"))
}

/// The edges of a function, as pairs of addresses.
fn edges(function: &Function<'_>) -> Vec<(u64, u64, EdgeKind)> {
    let start = |block: usize| function.code(block)[0].address;
    let blocks = function.graph.blocks.iter().enumerate();
    blocks.flat_map(|(at, block)| block.edges.iter().map(move |e| (start(at), start(e.to), e.kind))).collect()
}

#[test]
fn padding_is_never_run_whatever_stands_before_it() {
    for last in ["CALL.ABS.NOINC R2", "BPT.TRAP 0x1", "@P0 EXIT", "NOP", "EXIT"] {
        assert_eq!(counts(&one(&format!("k:\n MOV R1, R2\n {last}"))).loops, 0, "{last}");
    }
}

#[test]
fn a_loop_that_only_branches_to_itself_counts() {
    assert_eq!(counts(&one("k:\n MOV R1, R2\n .L_x_1:\n BRA `(.L_x_1)")).loops, 1);
    // Without padding behind it, a branch back is known by the other way in.
    let jumped_to = "k:\n @P0 BRA `(.L_x_1)\n EXIT\n .L_x_1:\n BRA `(.L_x_1)";
    assert_eq!(counts(&module(&[section("k", jumped_to, false)])).loops, 1);
}

#[test]
fn code_that_cannot_be_reached_counts_nothing() {
    let found = counts(&one("k:\n EXIT\n .L_x_1:\n LDG.E R2, [R2]\n @P0 BRA `(.L_x_1)\n EXIT"));
    assert_eq!((found.loops, found.global_loads, found.instructions), (0, 0, 1));
}

#[test]
fn control_does_not_fall_into_the_next_function() {
    // The function behind the call loops back to its own start; called from nowhere, it is not this kernel's.
    let found = counts(&one(
        "k:\n CALL.ABS.NOINC `(outside)\n $k$f:\n LDG.E R2, [R2]\n @P0 BRA `($k$f)\n RET.REL.NODEC R4 `(k)",
    ));
    assert_eq!((found.loops, found.calls, found.global_loads), (0, 1, 0));
}

#[test]
fn behind_a_call_that_never_returns_control_does_not_go_on() {
    let body = |end: &str| {
        format!(
            "k:
             @P1 BRA `(.L_x_2)
             .L_x_1:
             @P0 BRA `(.L_x_1)
             EXIT
             .L_x_2:
             CALL.REL.NOINC `($k$f)
             .L_x_3:
             LDG.E R2, [R2]
             @P0 BRA `(.L_x_3)
             EXIT
             $k$f:
             CALL.REL.NOINC `($k$g)
             RET.REL.NODEC R4 `(k)
             $k$g:
             {end}"
        )
    };
    let found = counts(&one(&body("BPT.TRAP 0x1")));
    assert_eq!((found.loops, found.global_loads), (1, 0));
    let found = counts(&one(&body("RET.REL.NODEC R6 `(k)")));
    assert_eq!((found.loops, found.global_loads), (2, 1));
}

#[test]
fn a_function_that_only_calls_itself_does_not_return_and_one_with_a_way_out_does() {
    let body = |out: &str| {
        format!(
            "k:\n CALL.REL.NOINC `($k$f)\n LDG.E R2, [R2]\n EXIT\n $k$f:\n {out}\n CALL.REL.NOINC `($k$f)\n RET.REL.NODEC R4 `(k)"
        )
    };
    assert_eq!(counts(&one(&body("NOP"))).global_loads, 0);
    assert_eq!(counts(&one(&body("@P0 RET.REL.NODEC R4 `(k)"))).global_loads, 1);
}

#[test]
fn a_call_through_a_register_may_return_even_if_the_only_function_does_not() {
    let found =
        counts(&one("k:\n CALL.REL.NOINC R2 `(k)\n LDG.E R2, [R2]\n EXIT\n $k$f:\n STG.E [R2], R3\n BPT.TRAP 0x1"));
    assert_eq!((found.global_loads, found.global_stores, found.calls), (1, 1, 1));
    let helper = "k:\n CALL.REL.NOINC R2 `(k)\n EXIT\n $__internal_0_$__cuda_sm20_div_u64:\n RET.REL.NODEC R4 `(k)";
    let found = counts(&one(helper));
    assert_eq!((found.calls, found.helper_calls), (1, 0), "nobody takes a helper's address");
}

#[test]
fn a_jump_into_another_function_is_a_call_that_returns_further_up() {
    let body = "k:
        CALL.REL.NOINC `($k$f)
        LDG.E R2, [R2]
        EXIT
        $k$f:
        STG.E [R2], R3
        BRA `($k$g)
        $k$g:
        RET.REL.NODEC R4 `(k)";
    let module = one(body);
    let found = counts(&module);
    assert_eq!((found.calls, found.global_loads, found.global_stores), (2, 1, 1));
    let program = Program::of(&module);
    assert_eq!(program.functions()[1].graph.blocks.len(), 1, "the code of $k$g is not $k$f's");
}

#[test]
fn a_branch_back_to_the_function_s_own_start_is_a_loop() {
    let found = counts(&one("k:\n LDG.E R2, [R2]\n @P0 BRA `(k)\n EXIT"));
    assert_eq!((found.loops, found.calls), (1, 0));
}

#[test]
fn code_that_two_functions_share_is_counted_once() {
    // $k$f runs on in the tail of $k$g, which is no function's first instruction.
    let body = "k:
        CALL.REL.NOINC `($k$f)
        CALL.REL.NOINC `($k$g)
        EXIT
        $k$f:
        BRA `(.L_x_1)
        $k$g:
        NOP
        .L_x_1:
        LDG.E R2, [R2]
        CALL.ABS.NOINC `(outside)
        @P0 BRA `(.L_x_1)
        RET.REL.NODEC R4 `(k)";
    let found = counts(&one(body));
    assert_eq!((found.loops, found.global_loads, found.calls, found.instructions), (1, 1, 3, 9));
}

#[test]
fn a_call_to_code_without_a_symbol_is_a_call() {
    let body = "k:\n MOV R4, 0x20\n CALL.REL.NOINC `(.L_x_1)\n EXIT\n .L_x_1:\n LDG.E R2, [R2]\n RET.REL.NODEC R4 `(k)";
    let found = counts(&one(body));
    assert_eq!((found.calls, found.global_loads, found.instructions), (1, 1, 5));
}

#[test]
fn a_jump_written_as_a_call_is_none_where_the_function_around_it_returns() {
    // As ptxas writes jumps out of loops of device functions before sm_90: nothing says where to come back to.
    let body = "k:
        MOV R4, 0x20
        CALL.REL.NOINC `($k$f)
        EXIT
        $k$f:
        NOP
        .L_x_1:
        @P0 CALL.REL.NOINC `(.L_x_2)
        BRA `(.L_x_1)
        .L_x_2:
        @P1 BRA `($k$f)
        RET.REL.NODEC R4 `(k)";
    let module = one(body);
    assert_eq!((counts(&module).loops, counts(&module).calls), (2, 1));
    assert_eq!(module.sections[0].symbols.len(), 2);
}

#[test]
fn a_function_in_a_section_of_its_own_is_found_by_name() {
    // As in relocatable code.
    let function = "f:\n .L_x_1:\n LDG.E R2, [R2]\n @P0 BRA `(.L_x_1)\n RET.REL.NODEC R4 `(f)";
    let sections = [section("k", "k:\n CALL.REL.NOINC `(f)\n EXIT", true), section("f", function, true)];
    let module = module(&[sections[0].clone(), sections[1].replace("STO_CUDA_ENTRY", "STO_CUDA_OTHER")]);
    let found = counts(&module);
    assert_eq!((found.loops, found.global_loads, found.calls), (1, 1, 1));
}

#[test]
fn helpers_are_told_by_name_and_their_loops_counted_apart() {
    let body = "k:
        CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_u64)
        CALL.REL.NOINC `($__internal_1_$__cuda_sm70_warpsync)
        CALL.REL.NOINC `($k$__cuda_sm20_div_u64)
        EXIT
        $__internal_0_$__cuda_sm20_div_u64:
        .L_x_1:
        @P0 BRA `(.L_x_1)
        RET.REL.NODEC R4 `(k)
        $__internal_1_$__cuda_sm70_warpsync:
        RET.REL.NODEC R4 `(k)
        $k$__cuda_sm20_div_u64:
        RET.REL.NODEC R4 `(k)";
    let module = one(body);
    let (found, extra) = (counts(&module), extra(&module));
    assert_eq!((found.calls, found.helper_calls, extra.support_calls), (1, 1, 1), "the last one is the user's");
    assert_eq!((found.loops, extra.helper_loops), (0, 1));
}

#[test]
fn two_entries_into_a_cycle_are_no_natural_loop() {
    let body = "k:\n @P0 BRA `(.L_x_2)\n .L_x_1:\n NOP\n .L_x_2:\n NOP\n @P1 BRA `(.L_x_1)\n EXIT";
    let module = one(body);
    assert_eq!((counts(&module).loops, extra(&module).irreducible), (0, true));
}

#[test]
fn a_barrier_whose_threads_meet_elsewhere_leads_there() {
    let body = |behind: &str| {
        format!(
            "k:\n BSSY B0, `(.L_x_1)\n @P0 BRA `(.L_x_0)\n NOP\n .L_x_0:\n BSYNC B0\n {behind}\n .L_x_1:\n NOP\n EXIT"
        )
    };
    let found = |behind: &str| {
        let module = one(&body(behind));
        let program = Program::of(&module);
        edges(&program.functions()[0]).into_iter().filter(|&(from, ..)| from == 0x30).collect::<Vec<_>>()
    };
    assert_eq!(found(""), [], "the meeting point is right behind: one block");
    assert_eq!(found("EXIT"), [(0x30, 0x50, EdgeKind::Jump), (0x30, 0x40, EdgeKind::Next)]);
}

#[test]
fn a_barrier_brought_back_in_another_register_leads_nowhere_else() {
    // As ptxas writes deep nests: B1 holds what B0 was armed with, and is armed elsewhere itself.
    let body = "k:
        BSSY B0, `(.L_x_2)
        BMOV.32.CLEAR R4, B0
        .L_x_1:
        BSSY B1, `(.L_x_3)
        @P0 BREAK B1
        @P1 BRA `(.L_x_4)
        NOP
        BSYNC B1
        .L_x_3:
        @P2 BRA `(.L_x_1)
        .L_x_4:
        BMOV.32 B1, R4
        YIELD
        BSYNC B1
        .L_x_2:
        EXIT";
    let module = one(body);
    assert_eq!((counts(&module).loops, extra(&module).irreducible), (1, false));
    let program = Program::of(&module);
    let found = edges(&program.functions()[0]);
    assert!(found.iter().all(|&(from, to, _)| from != 0x90 || to == 0xc0), "{found:?}");
}

#[test]
fn every_way_out_of_a_warp_s_convergence_is_followed() {
    let jumps_back = |jump: &str| counts(&one(&format!("k:\n NOP\n .L_x_1:\n NOP\n {jump}\n EXIT"))).loops;
    for jump in [
        "@P0 BRA `(.L_x_1)",
        "BRA P0, `(.L_x_1)",
        "BRA.U UP0, `(.L_x_1)",
        "@!UP0 BRA.U `(.L_x_1)",
        "BRA.DIV ~URZ, `(.L_x_1)",
        "BRA.CONV UR4, `(.L_x_1)",
        "WARPSYNC.COLLECTIVE R4, `(.L_x_1)",
        "BRX R4 -0x10 (*\"BRANCH_TARGETS .L_x_1\"*)",
        "BRXU UR4 -0x10 (*\"BRANCH_TARGETS .L_x_1\"*)",
        "JMX R4 -0x10 (*\"BRANCH_TARGETS .L_x_1\"*)",
        "JMXU UR4 -0x10 (*\"BRANCH_TARGETS .L_x_1\"*)",
        "JMP 0x10",
        "CALL.REL.NOINC `(.L_x_1)",
    ] {
        assert_eq!(jumps_back(jump), 1, "{jump}");
    }
    for goes_on in ["WARPSYNC.ALL", "WARPSYNC R4", "YIELD", "BREAK B0", "BMOV.32 B0, R4", "BRA !PT, `(.L_x_1)"] {
        assert_eq!(jumps_back(goes_on), 0, "{goes_on}");
    }
}

#[test]
fn blocks_end_where_control_can_leave_or_enter() {
    let body = "k:
        NOP
        @!PT BRA `(.L_x_9)
        @P0 BRA `(.L_x_1)
        CALL.ABS.NOINC `(outside)
        @P1 EXIT
        NOP
        .L_x_1:
        BRA.U UPT, `(.L_x_9)
        .L_x_9:
        EXIT";
    let module = one(body);
    let program = Program::of(&module);
    let expected = [
        (0x00, 0x60, EdgeKind::Jump),
        (0x00, 0x30, EdgeKind::Next),
        (0x30, 0x40, EdgeKind::Returned),
        (0x40, 0x50, EdgeKind::Next),
        (0x50, 0x60, EdgeKind::Next),
        (0x60, 0x70, EdgeKind::Jump),
    ];
    assert_eq!(edges(&program.functions()[0]), expected);
}

#[test]
fn a_call_of_a_label_inside_the_function_is_a_jump() {
    let module = one("k:\n .L_x_1:\n MOV R1, R2\n @P0 CALL.REL.NOINC `(.L_x_2)\n BRA `(.L_x_1)\n .L_x_2:\n EXIT");
    let program = Program::of(&module);
    let kernel = program.kernel("k").expect("the kernel");
    assert_eq!(edges(kernel.function()), [(0, 48, EdgeKind::Jump), (0, 32, EdgeKind::Next), (32, 0, EdgeKind::Jump)]);
    assert_eq!((counts(&module).loops, counts(&module).calls), (1, 0));
}
