//! One kernel for every rule, and the fault that names it: what, PTX line, source line, block and thread.

use emulator::{Arg, Config, Device, Fault, FaultKind, LaunchError, Module, Shape};

/// A kernel `k` with a pointer parameter, its address in `%a`, the thread in `%t`.
fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"src/k.rs\"\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %a, %d<9>; .reg .b32 %t, %r<9>; .reg .f32 %f<4>; .reg .pred %p<4>;\n.shared .align 8 .b8 s[256];\n\
         ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %t, %tid.x;\n.loc 1 42 7\n{body}\nret;\n}}"
    );
    match Module::load(&text) {
        Ok(m) => m,
        Err(e) => panic!("{e}\n{text}"),
    }
}

fn launch(body: &str, config: Config, shape: Shape, len: usize) -> Result<Vec<u32>, LaunchError> {
    let m = module(body);
    let mut d = Device::new(config);
    let b = d.buffer(&vec![0u32; len]);
    d.launch(&m.kernel("k")?, shape, &[Arg::from(b)])?;
    d.read(&b)
}

fn fault(body: &str, threads: u32) -> Fault {
    match launch(body, Config::default(), Shape::line(2, threads), 64) {
        Err(LaunchError::Fault(f)) => told(*f),
        other => panic!("no fault: {other:?}"),
    }
}

/// Every fault says where it is: kernel, PTX line, source line, block, thread.
fn told(f: Fault) -> Fault {
    let ([bx, by, bz], [tx, ty, tz]) = (f.block, f.thread);
    let place = format!(
        "kernel `k`, PTX line {}: `{}` (src/k.rs:42:7), block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}): {}",
        f.ptx_line, f.instruction, f.kind
    );
    assert_eq!(f.to_string(), place);
    // The kernel's body begins at line 10.
    assert!(f.ptx_line >= 10 && f.source == Some(("src/k.rs".into(), 42, 7)), "{f}");
    f
}

fn clean(body: &str, threads: u32) -> Vec<u32> {
    match launch(body, Config::default(), Shape::line(1, threads), 64) {
        Ok(v) => v,
        Err(e) => panic!("{e}"),
    }
}

/// The address of the thread's word in `%d1`, in its shared word `%d2`.
const MINE: &str = "mul.wide.u32 %d1, %t, 4; mov.u64 %d2, s; add.u64 %d2, %d2, %d1; add.u64 %d1, %a, %d1;\n";

#[test]
fn out_of_bounds_has_its_place_line_block_and_thread() {
    let f = fault("mul.wide.u32 %d1, %t, 8;\nadd.u64 %d1, %a, %d1;\nld.global.u32 %r1, [%d1+4];", 64);
    assert!(
        matches!(&f.kind, FaultKind::OutOfBounds { bytes: 4, place } if place.contains("byte 260 of a buffer of 64 u32")),
        "{f}"
    );
    assert_eq!((f.block, f.thread), ([0, 0, 0], [32, 0, 0]));
    assert_eq!(f.source, Some(("src/k.rs".into(), 42, 7)));
    assert_eq!((f.ptx_line, f.instruction.as_str()), (12, "ld.global.u32"));
    let f = fault("ld.global.u32 %r1, [%a+-4];", 32);
    assert!(f.to_string().contains("4 bytes before a buffer"), "{f}");
}

#[test]
fn shared_variables_are_exact_too() {
    let f = fault("mov.u64 %d1, s; st.shared.u32 [%d1+256], %t;", 32);
    assert!(matches!(f.kind, FaultKind::OutOfBounds { .. }), "{f}");
}

#[test]
fn clean_accesses_up_to_both_ends_are_no_faults() {
    // The last word of the buffer and of the shared array, whole vectors, single bytes.
    let last =
        "st.global.u32 [%a+252], %t; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a+240]; ld.global.u8 %r5, [%a+255];";
    let shared =
        "mov.u64 %d1, s; st.shared.v2.u32 [%d1+248], {%t, %t}; ld.shared.u16 %r6, [%d1+254]; st.global.u32 [%a], %r6;";
    assert_eq!(clean(&format!("{last} {shared}"), 1)[0], 0);
}

#[test]
fn null_and_wild_pointers() {
    let f = fault("mov.u64 %d1, 16; ld.u32 %r1, [%d1];", 32);
    assert!(f.to_string().contains("null pointer plus 16"), "{f}");
}

#[test]
fn misaligned() {
    let f = fault("ld.global.u32 %r1, [%a+2];", 32);
    assert!(matches!(f.kind, FaultKind::Misaligned { bytes: 4, .. }), "{f}");
    // Vectors are aligned as a whole.
    let f = fault("ld.global.v2.u32 {%r1, %r2}, [%a+4];", 32);
    assert!(matches!(f.kind, FaultKind::Misaligned { bytes: 8, .. }), "{f}");
}

#[test]
fn uninitialized_memory_is_found_where_it_is_computed_with_and_copying_is_fine() {
    let load = "mov.u64 %d1, s; ld.shared.u32 %r1, [%d1];";
    let f = fault(&format!("{load}\nadd.u32 %r2, %r1, 1;"), 32);
    assert!(matches!(&f.kind, FaultKind::Uninitialized { loaded_at: 10, place } if place.contains("`s`")), "{f}");
    assert_eq!(f.instruction, "add.u32");
    clean(&format!("{load} st.shared.u32 [%d1], %r1; mov.b32 %r2, %r1; shl.b32 %r2, %r2, 3;"), 1);
    // Stored and loaded again it is still not written.
    let again = format!("{load} st.shared.u32 [%d1+8], %r1; ld.shared.u32 %r3, [%d1+8]; setp.eq.u32 %p1, %r3, 0;");
    assert!(matches!(fault(&again, 1).kind, FaultKind::Uninitialized { .. }));
    // The defined half of a word is usable.
    let half = "mov.u64 %d1, s; st.shared.u16 [%d1], 7; ld.shared.u32 %r1, [%d1]; and.b32 %r1, %r1, 65535; st.global.u32 [%a], %r1;";
    assert_eq!(clean(half, 1)[0], 7);
    // An address made of it is not.
    let address = format!("{load} cvt.u64.u32 %d3, %r1; add.u64 %d3, %d3, %a;");
    assert!(matches!(fault(&address, 1).kind, FaultKind::Uninitialized { .. }));
}

#[test]
fn uninitialized_buffers_and_outputs() {
    let m = module(&format!("{MINE} ld.global.u32 %r1, [%d1]; mul.lo.u32 %r1, %r1, 3;"));
    let mut d = Device::default();
    let b = d.uninit::<u32>(32);
    let e = d.launch(&m.kernel("k").unwrap(), Shape::line(1, 32), &[b.into()]).unwrap_err();
    assert!(e.to_string().contains("uninitialized"), "{e}");
    assert!(matches!(d.read_written(&b), Err(LaunchError::Unwritten { at: 0, .. })));
}

#[test]
fn a_barrier_not_reached_by_all() {
    let f = fault("setp.lt.u32 %p1, %t, 16; @%p1 ret; bar.sync 0;", 64);
    let FaultKind::BarrierNotReached { barrier: 0, arrived: 48, expected: 64, missing } = &f.kind else {
        panic!("{f}")
    };
    assert!(missing.contains("16 have exited"), "{missing}");
    let mut pass = Config::default();
    pass.exited_threads_pass_barriers = true;
    assert!(launch("setp.lt.u32 %p1, %t, 16; @%p1 ret; bar.sync 0;", pass, Shape::line(1, 64), 64).is_ok());
    // Reached by all, from two places.
    clean("setp.lt.u32 %p1, %t, 32; @%p1 bra L; bar.sync 0; ret; L: bar.sync 0;", 64);
}

#[test]
fn two_barriers_waited_for_by_halves_are_a_deadlock() {
    let f = fault("setp.lt.u32 %p1, %t, 32; @%p1 bra L; bar.sync 1; bra M; L: bar.sync 2; M:", 64);
    let FaultKind::Deadlock { what } = &f.kind else { panic!("{f}") };
    assert!(what.contains("32 of 64 threads wait at barrier 2 (thread 0 at PTX line 10)"), "{what}");
    assert!(what.contains("32 of 64 threads wait at barrier 1 (thread 32 at PTX line 10)"), "{what}");
}

#[test]
fn a_shuffle_whose_lanes_do_not_come() {
    let f = fault("setp.lt.u32 %p1, %t, 5; @%p1 ret; shfl.sync.idx.b32 %r1, %t, 0, 31, -1;", 32);
    assert!(
        matches!(&f.kind, FaultKind::LanesMissing { mask: 0xffff_ffff, missing } if missing.contains("lanes 0-4 have exited")),
        "{f}"
    );
    let f = fault("setp.lt.u32 %p1, %t, 5; @%p1 ret; vote.sync.all.pred %p2, %p1, -1;", 32);
    assert!(matches!(f.kind, FaultKind::LanesMissing { .. }) && f.instruction == "vote.sync.all.pred", "{f}");
    // What lanes that stay name is fine.
    clean(
        "setp.lt.u32 %p1, %t, 5; @%p1 ret; shfl.sync.idx.b32 %r1, %t, 6, 31, 0xffffffe0; st.global.u32 [%a], %r1;",
        32,
    );
    let f = fault("shfl.sync.idx.b32 %r1, %t, 0, 31, 1;", 32);
    assert!(matches!(f.kind, FaultKind::NotInMask { mask: 1, lane: 1 }), "{f}");
    // One half waits at the shuffle, the other one at a barrier.
    let f = fault(
        "setp.lt.u32 %p1, %t, 16; @%p1 bra L; shfl.sync.idx.b32 %r1, %t, 0, 31, -1; bra M; L: bar.sync 0; M:",
        32,
    );
    assert!(matches!(&f.kind, FaultKind::LanesMissing { missing, .. } if missing.contains("bar.sync")), "{f}");
}

#[test]
fn lanes_without_a_thread_may_be_named_and_exited_ones_not_unless_asked_otherwise() {
    let ballot = "setp.eq.u32 %p1, %t, %t; vote.sync.ballot.b32 %r1, %p1, -1; st.global.u32 [%a], %r1;";
    assert_eq!(clean(ballot, 20)[0], 0xf_ffff);
    // Lanes that come apart wait for those that have a thread, and for no others.
    let apart = "mov.u32 %r1, 0; setp.lt.u32 %p1, %t, 3; @%p1 bra L; add.u32 %r1, %r1, 1; L: bar.warp.sync -1;\n\
        shfl.sync.down.b32 %r2, %t, 1, 31, -1; setp.eq.u32 %p2, %t, 2; @%p2 st.global.u32 [%a], %r2;";
    assert_eq!(clean(apart, 20)[0], 3);
    let mut strict = Config::default();
    strict.masks_may_name_no_thread = false;
    let e = launch(ballot, strict, Shape::line(1, 20), 64).unwrap_err();
    assert!(e.to_string().contains("lanes 20-31 have no thread"), "{e}");

    let leave = "setp.lt.u32 %p1, %t, 5; @%p1 ret;";
    let early = format!("{leave} {ballot}");
    // Those who leave do so when the others wait already.
    let late = format!("setp.lt.u32 %p1, %t, 5; @%p1 bra L; {ballot} ret; L: ret;");
    for body in [early, late] {
        let f = fault(&body, 20);
        let FaultKind::LanesMissing { missing, .. } = &f.kind else { panic!("{f}") };
        assert_eq!(missing, "lanes 0-4 have exited");
        let mut lax = Config::default();
        lax.masks_may_name_exited = true;
        assert_eq!(launch(&body, lax, Shape::line(1, 20), 64).unwrap()[0], 0xf_ffe0);
    }
    // What the tensor cores do takes a whole warp.
    let f = fault(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f1,%f1,%f1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f1,%f1,%f1,%f1};",
        20,
    );
    assert!(f.to_string().contains("lanes 20-31 have no thread"), "{f}");
}

#[test]
fn races_in_shared_memory() {
    let read_next = "xor.b32 %r2, %t, 33; mul.wide.u32 %d3, %r2, 4; mov.u64 %d4, s; add.u64 %d4, %d4, %d3; ld.shared.u32 %r3, [%d4];";
    let f = fault(&format!("{MINE} st.shared.u32 [%d2], %t;\n{read_next}"), 64);
    let FaultKind::Race { this, other, .. } = &f.kind else { panic!("{f}") };
    assert!((*this, *other) == ("read", "write") || (*this, *other) == ("write", "read"), "{f}");
    clean(&format!("{MINE} st.shared.u32 [%d2], %t; bar.sync 0; {read_next}"), 64);
    // Within a warp `bar.warp.sync` orders, a shuffle does not.
    let near = read_next.replace("33", "1");
    clean(&format!("{MINE} st.shared.u32 [%d2], %t; bar.warp.sync -1; {near}"), 32);
    let f = fault(&format!("{MINE} st.shared.u32 [%d2], %t; shfl.sync.idx.b32 %r1, %t, 0, 31, -1; {near}"), 32);
    assert!(matches!(f.kind, FaultKind::Race { .. }), "{f}");
}

#[test]
fn an_endless_loop_meets_the_step_limit() {
    let mut c = Config::default();
    c.step_limit = 10_000;
    let e = launch("L: bra L;", c, Shape::line(1, 32), 1).unwrap_err();
    let LaunchError::Fault(f) = e else { panic!("{e}") };
    assert_eq!(told(*f).kind, FaultKind::StepLimit { limit: 10_000 });
    // A loop that ends is no fault, nor one whose lanes spin for each other.
    clean("mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5000; @%p1 bra L;", 32);
    // The limit may be met anywhere in a loop, at a jump too that is not in the text: `ADD` stands after `TEST`.
    for pad in 0..4 {
        let mut c = Config::default();
        c.step_limit = (1 << 16) - 1;
        let pad = "mov.u32 %r2, 0;".repeat(pad);
        let body = format!("{pad} bra TEST; ADD: add.u32 %r1, %r1, 1; TEST: setp.eq.u32 %p1, %t, %t; @%p1 bra ADD;");
        let e = launch(&body, c, Shape::line(1, 32), 1).unwrap_err();
        assert!(e.to_string().contains("step limit"), "{e}");
    }
}

#[test]
fn traps_and_read_only_memory() {
    assert!(matches!(
        fault("setp.eq.u32 %p1, %t, 3; @%p1 trap;", 32),
        Fault { kind: FaultKind::Trap, thread: [3, 0, 0], .. }
    ));
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.const .u32 c = 5;\n.visible .entry k() { .reg .b64 %d; mov.u64 %d, c; cvta.const.u64 %d, %d; st.u32 [%d], 1; ret; }";
    let m = Module::load(text).unwrap();
    let e = Device::default().launch(&m.kernel("k").unwrap(), Shape::line(1, 1), &[]).unwrap_err();
    assert!(e.to_string().contains("read-only"), "{e}");
}

#[test]
fn use_after_free() {
    let m = module("ld.global.u32 %r1, [%a];");
    let mut d = Device::default();
    let b = d.buffer(&[1u32; 8]);
    let p = Arg::pointer(b.address());
    d.free(b).unwrap();
    let e = d.launch(&m.kernel("k").unwrap(), Shape::line(1, 1), &[p]).unwrap_err();
    assert!(e.to_string().contains("freed"), "{e}");
}

#[test]
fn runaway_recursion_fills_the_stack() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { call.uni f; ret; }\n.visible .entry k() { call.uni f; ret; }";
    let m = Module::load(text).unwrap();
    let e = Device::default().launch(&m.kernel("k").unwrap(), Shape::line(1, 32), &[]).unwrap_err();
    assert!(matches!(&e, LaunchError::Fault(f) if f.kind == FaultKind::StackOverflow && f.function == "f"), "{e}");
}

#[test]
fn the_lowest_block_is_reported_in_every_run() {
    for _ in 0..20 {
        let body = "mov.u32 %r1, %ctaid.x; setp.gt.u32 %p1, %r1, 4; @%p1 trap;";
        let Err(LaunchError::Fault(f)) = launch(body, Config::default(), Shape::line(64, 32), 1) else {
            panic!("no fault")
        };
        assert_eq!(f.block, [5, 0, 0]);
    }
}

#[test]
fn arguments_are_checked_against_the_parameters() {
    let m = Module::load(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 .ptr .align 1 p, .param .f32 x, .param .align 8 .b8 s[24]) { ret; }").unwrap();
    let k = m.kernel("k").unwrap();
    assert_eq!(k.parameters(), [".u64 pointer", ".f32", ".b8[24]"]);
    let mut d = Device::default();
    let b = d.buffer(&[0u8]);
    let s = || Arg::bytes(vec![0; 24]);
    let go = |d: &mut Device, args: &[Arg]| d.launch(&k, Shape::line(1, 1), args);
    assert!(go(&mut d, &[b.into(), 1f32.into(), s()]).is_ok());
    assert!(matches!(go(&mut d, &[b.into()]), Err(LaunchError::ArgumentCount { wanted: 3, given: 1, .. })));
    assert!(matches!(go(&mut d, &[5u64.into(), 1f32.into(), s()]), Err(LaunchError::ArgumentType { index: 0, .. })));
    assert!(matches!(go(&mut d, &[b.into(), 1u32.into(), s()]), Err(LaunchError::ArgumentType { index: 1, .. })));
    assert!(matches!(go(&mut d, &[b.into(), 1f64.into(), s()]), Err(LaunchError::ArgumentType { index: 1, .. })));
    assert!(matches!(
        go(&mut d, &[b.into(), 1f32.into(), Arg::bytes(vec![0; 16])]),
        Err(LaunchError::ArgumentType { index: 2, .. })
    ));
    let foreign = Device::default().buffer(&[0u8]);
    assert!(matches!(go(&mut d, &[foreign.into(), 1f32.into(), s()]), Err(LaunchError::ForeignBuffer)));
    for shape in [
        Shape::line(0, 32),
        Shape::line(1, 0),
        Shape::line(1, 1025),
        Shape { grid: [1, 1, 70000], block: [1; 3], shared_bytes: 0 },
    ] {
        assert!(
            matches!(d.launch(&k, shape, &[b.into(), 1f32.into(), s()]), Err(LaunchError::Shape { .. })),
            "{shape:?}"
        );
    }
    assert!(d.launch(&k, Shape::line(1, 1).with_shared(1 << 20), &[b.into(), 1f32.into(), s()]).is_err());
    assert!(matches!(m.kernel("nope"), Err(LaunchError::NoKernel { .. })));
}
