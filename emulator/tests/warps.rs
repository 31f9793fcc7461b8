//! Lanes together and apart: reconvergence, progress, masks, barriers, warp instructions, tensor cores, asynchronous
//! copies.

use emulator::{Arg, Config, Device, LaunchError, Module, Report, Shape};
use half::{bf16, f16};

/// Kernel `k(p)`: `%a` the buffer, `%t` the thread, `%o` the address of the thread's word; shared array `s` of 8 KB.
fn run(body: &str, functions: &str, shape: Shape, data: &[u32]) -> Result<(Vec<u32>, Report), LaunchError> {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n{functions}\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %a, %o, %d<20>; .reg .b32 %t, %r<40>; .reg .f32 %f<80>; .reg .pred %p<9>; .reg .b16 %h<9>;\n.shared .align 1024 .b8 s[8192];\n\
         ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %o, %o, %a;\n{body}\nret;\n}}"
    );
    let m = Module::load(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut c = Config::default();
    c.step_limit = 1_000_000;
    let mut d = Device::new(c);
    let b = d.buffer(data);
    let r = d.launch(&m.kernel("k")?, shape, &[Arg::from(b)])?;
    Ok((d.read(&b)?, r))
}

fn ok(body: &str, threads: u32, data: &[u32]) -> Vec<u32> {
    match run(body, "", Shape::line(1, threads), data) {
        Ok((v, _)) => v,
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn lanes_meet_after_an_if_and_after_a_loop_of_different_lengths() {
    // The join stands before one of its sides in the text; the active mask there must be whole again.
    let v = ok(
        "setp.lt.u32 %p1, %t, 7; mov.u32 %r1, 0; @%p1 bra SIDE;\nJOIN: activemask.b32 %r2; st.u32 [%o], %r2; ret;\nSIDE: add.u32 %r1, %r1, 1; bra JOIN;",
        32,
        &[0; 32],
    );
    assert_eq!(v, [u32::MAX; 32]);
    let v = ok(
        "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %t; @%p1 bra L;\nactivemask.b32 %r2; st.u32 [%o], %r2;",
        32,
        &[0; 32],
    );
    assert_eq!(v, [u32::MAX; 32]);
    let v = ok("setp.lt.u32 %p1, %t, 7; @%p1 bra L; activemask.b32 %r2; st.u32 [%o], %r2; L:", 20, &[0; 20]);
    assert_eq!(v[..7], [0; 7]);
    assert_eq!(v[7..], [0x000f_ff80; 13]);
}

#[test]
fn a_spin_lock_between_lanes_of_a_warp_ends() {
    let v = ok(
        "AGAIN: atom.global.cas.b32 %r1, [%a], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n\
         ld.volatile.global.u32 %r2, [%a+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%a+4], %r2; membar.gl; atom.global.exch.b32 %r1, [%a], 0;",
        64,
        &[0, 0],
    );
    assert_eq!(v, [0, 64]);
}

#[test]
fn a_lane_that_waits_for_a_flag_of_another_warp() {
    let v = ok(
        "setp.ge.u32 %p1, %t, 32; @%p1 bra SET;\nW: ld.acquire.gpu.global.u32 %r1, [%a]; setp.eq.u32 %p2, %r1, 0; @%p2 bra W; st.global.u32 [%o+4], %r1; ret;\nSET: st.release.gpu.global.u32 [%a], 9;",
        33,
        &[0; 34],
    );
    assert_eq!(v[..33], [9; 33]);
}

#[test]
fn calls_from_diverged_lanes_recursion_and_calls_through_registers() {
    let f = ".func (.param .b32 r) fact(.param .b32 n) { .reg .b32 %n, %m; .reg .pred %p;\nld.param.b32 %n, [n]; setp.lt.u32 %p, %n, 2; @%p bra ONE;\n\
             { .param .b32 a; .param .b32 b; sub.u32 %m, %n, 1; st.param.b32 [a], %m; call.uni (b), fact, (a); ld.param.b32 %m, [b]; }\n\
             mul.lo.u32 %n, %n, %m; st.param.b32 [r], %n; ret;\nONE: st.param.b32 [r], 1; ret; }\n\
             .func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; add.u32 %n, %n, %n; st.param.b32 [r], %n; ret; }";
    let body = "rem.u32 %r1, %t, 6; mov.u64 %d1, fact; mov.u64 %d2, twice; setp.lt.u32 %p1, %t, 16; selp.b64 %d3, %d1, %d2, %p1;\n\
                { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), %d3, (a), proto; ld.param.b32 %r2, [b]; }\n\
                proto: .callprototype (.param .b32 _) _ (.param .b32 _);\nst.u32 [%o], %r2;";
    let (v, _) = run(body, f, Shape::line(1, 32), &[0; 32]).unwrap();
    let fact = [1, 1, 2, 6, 24, 120];
    assert_eq!(v, (0..32).map(|t| if t < 16 { fact[t % 6] } else { 2 * (t % 6) as u32 }).collect::<Vec<_>>());
    let e = run("mov.u64 %d3, 77; call %d3, (), proto;\nproto: .callprototype _ ();", "", Shape::line(1, 1), &[0])
        .unwrap_err();
    assert!(e.to_string().contains("holds no function"), "{e}");
}

#[test]
fn indexed_branches() {
    let v = ok(
        "rem.u32 %r1, %t, 3;\nT: .branchtargets A, B, A;\nbrx.idx %r1, T;\nA: mov.u32 %r2, 10; bra E;\nB: mov.u32 %r2, 20;\nE: activemask.b32 %r3; add.u32 %r2, %r2, %r3; st.u32 [%o], %r2;",
        32,
        &[0; 32],
    );
    assert_eq!(v, (0..32).map(|t| if t % 3 == 1 { 19 } else { 9 }).collect::<Vec<u32>>());
}

#[test]
fn shuffles_by_the_rules_of_widths_and_bounds() {
    for (mode, b, c) in [
        ("up", 3, 0),
        ("down", 3, 31),
        ("bfly", 5, 31),
        ("idx", 9, 31),
        ("up", 2, 24 << 8),
        ("down", 2, 24 << 8 | 31),
        ("idx", 9, 24 << 8 | 31),
        ("bfly", 8, 24 << 8 | 31),
        ("down", 31, 31),
    ] {
        let v = ok(
            &format!(
                "add.u32 %r1, %t, 100; shfl.sync.{mode}.b32 %r2|%p1, %r1, {b}, {c}, -1; selp.b32 %r3, 1000, 0, %p1; add.u32 %r2, %r2, %r3; st.u32 [%o], %r2;"
            ),
            32,
            &[0; 32],
        );
        let (seg, bound) = (c >> 8 & 31, c & 31);
        for lane in 0..32i32 {
            let last = lane & seg | bound & !seg;
            let (j, inside) = match mode {
                "up" => (lane - b, lane - b >= last),
                "down" => (lane + b, lane + b <= last),
                "bfly" => (lane ^ b, lane ^ b <= last),
                _ => {
                    let j = lane & seg | b & !seg;
                    (j, j <= last)
                }
            };
            let want = 100 + if inside { j } else { lane } + if inside { 1000 } else { 0 };
            assert_eq!(v[lane as usize], want as u32, "{mode} {b} {c:#x} lane {lane}");
        }
    }
}

#[test]
fn halves_that_shuffle_apart_and_lanes_that_meet_from_two_places() {
    // Disjoint masks, different instructions.
    let v = ok(
        "setp.lt.u32 %p1, %t, 16; @%p1 bra L; shfl.sync.idx.b32 %r1, %t, 20, 31, 0xffff0000; bra E; L: shfl.sync.idx.b32 %r1, %t, 3, 31, 0xffff; E: st.u32 [%o], %r1;",
        32,
        &[0; 32],
    );
    assert_eq!(v, (0..32).map(|t| if t < 16 { 3 } else { 20 }).collect::<Vec<u32>>());
    // One mask, two instructions with the same qualifiers: the ISA lets them meet.
    let v = ok(
        "add.u32 %r5, %t, 50; setp.lt.u32 %p1, %t, 16; @%p1 bra L; shfl.sync.bfly.b32 %r1, %t, 16, 31, -1; bra E; L: shfl.sync.bfly.b32 %r1, %r5, 16, 31, -1; add.u32 %r1, %r1, 1; E: st.u32 [%o], %r1;",
        32,
        &[0; 32],
    );
    assert_eq!(v, (0..32).map(|t| if t < 16 { t + 16 + 1 } else { t - 16 + 50 }).collect::<Vec<u32>>());
}

#[test]
fn votes_matches_and_reductions() {
    let v = ok(
        "and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 1; vote.sync.ballot.b32 %r2, %p1, -1; vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, !%p1, -1; vote.sync.uni.pred %p4, %p2, -1;\n\
         match.any.sync.b32 %r3, %r1, -1; redux.sync.add.u32 %r4, %t, -1; neg.s32 %r5, %t; redux.sync.min.s32 %r5, %r5, -1; match.all.sync.b32 %r6|%p5, %r1, -1;\n\
         selp.u32 %r7, 1, 0, %p2; selp.u32 %r8, 2, 0, %p3; selp.u32 %r9, 4, 0, %p4; selp.u32 %r10, 8, 0, %p5; or.b32 %r7, %r7, %r8; or.b32 %r7, %r7, %r9; or.b32 %r7, %r7, %r10;\n\
         xor.b32 %r2, %r2, %r3; add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r7; mad.lo.u32 %r2, %r4, 0, %r2; st.u32 [%o], %r2; st.u32 [%o+128], %r4;",
        32,
        &[0; 64],
    );
    for t in 0..32 {
        assert_eq!(v[t], 0x2222_2222 ^ 0x1111_1111 << (t & 3));
        assert_eq!(v[32 + t], 496 - 31 + 6);
    }
}

#[test]
fn barrier_reductions_and_partial_barriers() {
    let v = ok(
        "rem.u32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; bar.red.popc.u32 %r2, 0, %p1; barrier.cta.red.or.pred %p2, 1, %p1; bar.red.and.pred %p3, 2, %p1; selp.u32 %r3, 100, 0, %p2; selp.u32 %r4, 1000, 0, %p3; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.u32 [%o], %r2;",
        70,
        &[0; 70],
    );
    assert_eq!(v, [124; 70]);
    // A producer warp arrives and goes on, two consumers wait.
    let v = ok(
        "setp.lt.u32 %p1, %t, 32; mov.u64 %d1, s; @%p1 bra P; bar.sync 1, 64; ld.shared.u32 %r1, [%d1]; st.u32 [%o], %r1; ret; P: st.shared.u32 [%d1], 7; bar.arrive 1, 64;",
        64,
        &[0; 64],
    );
    assert_eq!((v[0], v[32], v[63]), (0, 7, 7));
}

#[test]
fn dynamic_shared_memory_and_atomics_on_it() {
    let body = "mov.u64 %d1, dyn; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.v2.u32 [%d1], {0, 0}; bar.sync 0; atom.shared.add.u32 %r1, [%d1], 2; red.shared.max.u32 [%d1+4], %t; bar.sync 0; ld.shared.v2.u32 {%r1, %r2}, [%d1]; st.v2.u32 [%a], {%r1, %r2};";
    let go = |bytes| run(body, ".extern .shared .align 16 .b8 dyn[];", Shape::line(1, 96).with_shared(bytes), &[0, 0]);
    assert_eq!(go(8).unwrap().0, [192, 95]);
    assert!(go(4).unwrap_err().to_string().contains("out of bounds"));
}

#[test]
fn atomic_loads_and_stores_of_shared_memory_do_not_race_with_atomics() {
    let init = "mov.u64 %d1, s; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [%d1], 0; bar.sync 0; atom.shared.add.u32 %r1, [%d1], 1;";
    let wait = "W: ld.relaxed.cta.shared.u32 %r2, [%d1]; setp.lt.u32 %p2, %r2, 64; @%p2 bra W; st.u32 [%o], %r2;";
    assert_eq!(ok(&format!("{init} {wait}"), 64, &[0; 64]), [64; 64]);
    let e = run(&format!("{init} {}", wait.replace("relaxed.cta.", "")), "", Shape::line(1, 64), &[0; 64]).unwrap_err();
    assert!(e.to_string().contains("race in shared memory"), "{e}");
}

#[test]
fn float_atomics_and_half_pairs() {
    let v = ok(
        "red.global.add.f32 [%a], 0f3f000000; atom.global.add.noftz.f16x2 %r1, [%a+4], 0x3c003800; atom.global.inc.u32 %r2, [%a+8], 20; atom.global.min.s32 %r3, [%a+12], -5;",
        32,
        &[0, 0, 0, 3],
    );
    assert_eq!(v, [16f32.to_bits(), 0x5000_4c00, 32 % 21, -5i32 as u32]);
}

#[test]
fn vectors_of_atomics_are_atomics_of_their_elements() {
    // The old values go to registers that hold the addends.
    let body = "mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;
        atom.global.add.v2.f32 {%f2, %f1}, [%a+8], {%f1, %f2};
        setp.eq.u32 %p1, %t, 31; @%p1 st.global.v2.f32 [%a+16], {%f2, %f1};
        red.global.v4.bf16x2.max.noftz [%a+32], {%t, 1, 2, 0x80003f80};";
    let v = ok(body, 32, &[0; 12]);
    assert_eq!(v[..4], [0, 0, 32f32.to_bits(), 64f32.to_bits()]);
    assert_eq!(v[4..6], [31f32.to_bits(), 62f32.to_bits()]);
    // Halves are compared, and -0 is below +0.
    assert_eq!(v[8..], [31, 1, 2, 0x3f80]);
    let (_, r) = run(body, "", Shape::line(1, 32), &[0; 12]).unwrap();
    assert_eq!(r.counts.total.flops, 32 * 2 + 32 * 8);
    let e = run("red.global.add.v2.f32 [%a+4], {%f1, %f2};", "", Shape::line(1, 32), &[0; 4]).unwrap_err();
    assert!(e.to_string().contains("misaligned"), "{e}");
}

/// Small integers are exact in every format, so the sums are too.
fn small(n: usize, seed: u32) -> Vec<i32> {
    (0..n).map(|i| ((i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as i32 % 9 - 4).collect()
}

fn product(a: &[i32], b: &[i32], m: usize, n: usize, k: usize) -> Vec<i32> {
    // a is m by k by rows, b is k by n by columns.
    (0..m * n).map(|e| (0..k).map(|j| a[e / n * k + j] * b[e % n * k + j]).sum()).collect()
}

fn halves(v: &[i32], brain: bool) -> Vec<u32> {
    let one =
        |x: i32| u32::from(if brain { bf16::from_f32(x as f32).to_bits() } else { f16::from_f32(x as f32).to_bits() });
    v.chunks(2).map(|p| one(p[0]) | one(p[1]) << 16).collect()
}

#[test]
fn mma_m16n8k16_by_the_fragments_of_the_isa() {
    let (a, b) = (small(256, 1), small(128, 2));
    let want = product(&a, &b, 16, 8, 16);
    for brain in [false, true] {
        let mut data = halves(&a, brain);
        data.extend(halves(&b, brain));
        data.resize(192 + 128, 0);
        // Rows g and g + 8, columns 2t and 2t + 8 of A; rows 2t and 2t + 8, column g of B; words are pairs.
        let ty = if brain { "bf16" } else { "f16" };
        let body = format!(
            "shr.u32 %r1, %t, 2; and.b32 %r2, %t, 3; mad.lo.u32 %r3, %r1, 8, %r2; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d1, %a;\n\
             ld.u32 %r10, [%d1]; ld.u32 %r11, [%d1+256]; ld.u32 %r12, [%d1+16]; ld.u32 %r13, [%d1+272]; ld.u32 %r14, [%d1+512]; ld.u32 %r15, [%d1+528];\n\
             mma.sync.aligned.m16n8k16.row.col.f32.{ty}.{ty}.f32 {{%f1, %f2, %f3, %f4}}, {{%r10, %r11, %r12, %r13}}, {{%r14, %r15}}, {{0f3f800000, 0f3f800000, 0f3f800000, 0f3f800000}};\n\
             shl.b32 %r2, %r2, 1; mad.lo.u32 %r3, %r1, 8, %r2; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %d1, %a; st.v2.f32 [%d1+768], {{%f1, %f2}}; st.v2.f32 [%d1+1024], {{%f3, %f4}};"
        );
        let v = ok(&body, 32, &data);
        let got: Vec<i32> = v[192..].iter().map(|b| f32::from_bits(*b) as i32 - 1).collect();
        assert_eq!(got, want, "{ty}");
    }
}

#[test]
fn ldmatrix_gives_rows_or_columns() {
    let data: Vec<u32> = (0..32).map(|w| (2 * w) | (2 * w + 1) << 16).collect();
    for (trans, f) in [
        ("", (|l: u32, h: u32| l / 4 * 8 + 2 * (l % 4) + h) as fn(u32, u32) -> u32),
        (".trans", |l, h| (2 * (l % 4) + h) * 8 + l / 4),
    ] {
        let v = ok(
            &format!(
                "ld.u32 %r1, [%o]; mov.u64 %d1, s; mul.wide.u32 %d2, %t, 4; add.u64 %d3, %d1, %d2; st.shared.u32 [%d3], %r1; bar.sync 0;\n\
             and.b32 %r2, %t, 7; mul.wide.u32 %d2, %r2, 16; add.u64 %d3, %d1, %d2; ldmatrix.sync.aligned.m8n8.x1{trans}.shared.b16 {{%r3}}, [%d3]; st.u32 [%o], %r3;"
            ),
            32,
            &data,
        );
        for l in 0..32 {
            assert_eq!(v[l as usize], f(l, 0) | f(l, 1) << 16, "{trans} {l}");
        }
    }
}

#[test]
fn wgmma_m64n64k16_from_shared_memory_with_and_without_swizzle() {
    let (a, b) = (small(64 * 16, 3), small(64 * 16, 4));
    let want = product(&a, &b, 64, 64, 16);
    // Byte of element (r, k) of a matrix with k contiguous: core matrices of 8 rows of 16 bytes side by side; or rows
    // of 32 bytes whose address bit 4 is exclusive-ored with bit 7.
    let plain = |r: usize, k: usize| r / 8 * 256 + k / 8 * 128 + r % 8 * 16 + k % 8 * 2;
    let swizzled = |r: usize, k: usize| {
        let at = r * 32 + k * 2;
        at ^ (at >> 3 & 16)
    };
    for (mode, place) in [(0u64, &plain as &dyn Fn(usize, usize) -> usize), (3, &swizzled)] {
        let mut bytes = vec![0u8; 4096];
        for (m, base) in [(&a, 0), (&b, 2048)] {
            for r in 0..64 {
                for k in 0..16 {
                    bytes[base + place(r, k)..][..2]
                        .copy_from_slice(&f16::from_f32(m[r * 16 + k] as f32).to_le_bytes());
                }
            }
        }
        let mut data: Vec<u32> = bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        data.resize(1024 + 4096, 0);
        let desc = mode << 62 | (256u64 >> 4) << 32 | (128u64 >> 4) << 16;
        let regs: Vec<String> = (0..32).map(|n| format!("%f{n}")).collect();
        let zero: String = regs.iter().map(|r| format!("mov.f32 {r}, 0f3f800000;\n")).collect();
        let copy: String =
            (0..8).map(|n| format!("ld.u32 %r1, [%o+{0}]; st.shared.u32 [%d3+{0}], %r1;\n", n * 512)).collect();
        let store: String = (0..32)
            .map(|e| format!("st.f32 [%d9+{}], %f{e};\n", 4096 + e / 4 * 32 + e % 2 * 4 + e / 2 % 2 * 8 * 256))
            .collect();
        let body = format!(
            "mov.u64 %d1, s; mul.wide.u32 %d2, %t, 4; add.u64 %d3, %d1, %d2;\n{copy}bar.sync 0;\n{zero}\
             shr.u64 %d4, %d1, 4; or.b64 %d5, %d4, {desc}; add.u64 %d6, %d5, 128; setp.eq.u32 %p1, %t, %t;\nwgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{}}}, %d5, %d6, %p1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n\
             shr.u32 %r1, %t, 5; shl.b32 %r1, %r1, 4; and.b32 %r2, %t, 31; shr.u32 %r3, %r2, 2; add.u32 %r1, %r1, %r3; and.b32 %r2, %r2, 3; shl.b32 %r2, %r2, 1; mad.lo.u32 %r1, %r1, 64, %r2; mul.wide.u32 %d8, %r1, 4; add.u64 %d9, %d8, %a;\n{store}",
            regs.join(", ")
        );
        let v = ok(&body, 128, &data);
        let got: Vec<i32> = v[1024..].iter().map(|b| f32::from_bits(*b) as i32 - 1).collect();
        assert!(got == want, "swizzle mode {mode}");
        // Sums in halves: two columns side by side in a register.
        let body = body.replace("0f3f800000", "0f3c003c00").replace("k16.f32", "k16.f16");
        let body = body.replace(&regs.join(", "), &regs[..16].join(", "));
        let (head, _) = body.split_at(body.find("st.f32").unwrap_or(0));
        let store: String =
            (0..16).map(|e| format!("st.f32 [%d9+{}], %f{e};\n", 4096 + e / 2 * 32 + e % 2 * 8 * 256)).collect();
        let v = ok(&format!("{head}{store}"), 128, &data);
        for e in (0..4096).step_by(2) {
            let sums = [v[1024 + e] & 0xffff, v[1024 + e] >> 16].map(|h| f16::from_bits(h as u16).to_f32() as i32 - 1);
            assert_eq!(sums, want[e..e + 2], "swizzle mode {mode}, element {e}");
        }
    }
}

#[test]
fn asynchronous_copies_land_at_their_wait_and_not_before() {
    let copy = "mov.u64 %d1, s; mul.wide.u32 %d2, %t, 16; add.u64 %d3, %d1, %d2; add.u64 %d4, %a, %d2; cp.async.cg.shared.global [%d3], [%d4], 16; cp.async.commit_group;";
    let take = "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%d3]; add.u32 %r4, %r4, 1; st.u32 [%d4], %r4;";
    let data: Vec<u32> = (0..128).collect();
    let v = ok(&format!("{copy} cp.async.wait_group 0; {take}"), 32, &data);
    assert_eq!(v[4 * 31], 4 * 31 + 4);
    let e = run(&format!("{copy} cp.async.wait_group 1; {take}"), "", Shape::line(1, 32), &data).unwrap_err();
    assert!(e.to_string().contains("uninitialized"), "{e}");
    // Fewer source bytes than the size: the rest is zero.
    let v = ok(
        &format!(
            "{} cp.async.wait_all; ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [%d3]; st.v4.u32 [%d4], {{%r1, %r2, %r3, %r4}};",
            copy.replace("], 16", "], 16, 6")
        ),
        1,
        &[!0; 4],
    );
    assert_eq!(v, [!0, 0xffff, 0, 0]);
    // Lanes that ignore their source copy zeros, and may have none.
    let odd = "and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0;";
    let copy = copy
        .replace("], 16", "], 16, %p1")
        .replace("add.u64 %d4, %a, %d2;", "add.u64 %d4, %a, %d2; selp.b64 %d4, 0, %d4, %p1;");
    let v = ok(&format!("{odd} {copy} cp.async.wait_all; ld.shared.u32 %r1, [%d3+12]; st.u32 [%o], %r1;"), 4, &[7; 16]);
    assert_eq!(v[..4], [7, 0, 7, 0]);
}

#[test]
fn counts_of_a_kernel_that_can_be_counted_by_hand() {
    let (_, r) = run(".file 1 \"a.rs\"\n.loc 1 5 1\nmov.u64 %d1, s; mul.wide.u32 %d2, %t, 8; add.u64 %d3, %d1, %d2; st.shared.u32 [%d3], %t;\n.loc 1 6 1\nsetp.lt.u32 %p1, %t, 16; @%p1 bra L; st.u32 [%o], %t; L:".replace(".file 1 \"a.rs\"\n", "").as_str(), ".file 1 \"a.rs\"", Shape::line(2, 32), &[0; 32]).unwrap();
    let c = r.counts;
    let of = |class| c.classes.get(&class).copied().unwrap_or_default();
    use emulator::Class;
    assert_eq!(of(Class::Shared).warp_instructions, 2);
    // Words two apart: two lanes to a bank.
    assert_eq!(of(Class::Shared).bank_conflicts, 2);
    let g = of(Class::Global);
    assert_eq!((g.warp_instructions, g.thread_instructions, g.global_bytes, g.global_sectors), (2, 32, 128, 4));
    assert_eq!(c.total.divergent_branches, 2);
    let line = |n| c.lines.iter().find(|(k, _)| k.file == "a.rs" && k.line == n).map(|(_, t)| *t).unwrap_or_default();
    assert_eq!(line(5).warp_instructions, 8);
    assert_eq!(line(6).warp_instructions, 2 * (1 + 1 + 1 + 1));
    assert_eq!(c.total.warp_instructions, c.classes.values().map(|t| t.warp_instructions).sum::<u64>());
    assert!(c.lane_efficiency() < 1.0 && c.to_string().contains("bank conflicts: 2"));
}

#[test]
fn counts_of_a_long_loop_with_guarded_instructions_are_exact() {
    // More instructions than a warp's turn has; the lanes below 5 stay out of one, and leave the loop half-way.
    let body = "mov.u32 %r1, 0; mov.u32 %r2, 20000; setp.lt.u32 %p1, %t, 5; @%p1 mov.u32 %r2, 10000;
        L: add.u32 %r1, %r1, 1; @!%p1 add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r1, %r2; @%p2 bra L;";
    let (_, r) = run(body, "", Shape::line(1, 40), &[0; 40]).unwrap();
    let c = |line| r.counts.lines.iter().find(|(k, _)| k.line == line).map(|(_, t)| *t).unwrap_or_default();
    // The loop's four stand in one line: two warps, of which the second has lanes of the longer loop only.
    let long = c(10);
    assert_eq!(long.warp_instructions, 2 * 4 * 20_000);
    // Each thread's last branch has its guard off.
    assert_eq!(long.thread_instructions, 5 * 3 * 10_000 + 35 * 4 * 20_000 - 40);
    assert_eq!(long.divergent_branches, 1);
}

#[test]
fn floating_point_operations_are_those_of_the_lanes_that_execute_them() {
    let body = "cvt.rn.f32.u32 %f1, %t; setp.lt.u32 %p1, %t, 5; @%p1 fma.rn.f32 %f1, %f1, %f1, %f1;
        add.f32 %f1, %f1, %f1; st.global.f32 [%o], %f1;";
    let (_, r) = run(body, "", Shape::line(2, 20), &[0; 32]).unwrap();
    let of = |class| r.counts.classes.get(&class).map_or(0, |t| t.flops);
    use emulator::Class;
    // Two blocks, 5 lanes of two operations, 20 of one.
    assert_eq!((r.counts.total.flops, of(Class::Float), of(Class::Convert)), (2 * (5 * 2 + 20), 60, 0));
    assert!(r.counts.to_string().contains("floating-point operations: 60"));
    let body = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f1,%f1,%f1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, \
        {%f1,%f1,%f1,%f1};";
    let (_, r) = run(body, "", Shape::line(1, 64), &[0; 64]).unwrap();
    assert_eq!(r.counts.total.flops, 2 * 2 * 16 * 8 * 16);
}
