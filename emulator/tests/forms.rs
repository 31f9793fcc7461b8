//! Every form of the instructions that the emulator promises loads: as LLVM 22 and nvcc 13.5 print them, and as inline
//! assembly has them. That they compute the right thing is said elsewhere; that what is left out is refused, at the
//! end.

use emulator::{LoadError, Module};

/// Forms that `ptxas` takes for sm_100a, by theme; registers `%h` of 16 bits, `%r` of 32, `%d` of 64, `%p` predicates.
const FORMS: &[(&str, &str)] = &[
    (
        "warp",
        "activemask.b32 %r1; shfl.sync.idx.b32 %r1, %r2, 3, 31, -1; shfl.sync.idx.b32 %r1|%p1, %r2, %r3, %r4, %r5;
         shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1; shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;
         shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1; vote.sync.all.pred %p1, %p2, -1; vote.sync.any.pred %p1, !%p2, -1;
         vote.sync.uni.pred %p1, %p2, -1; vote.sync.ballot.b32 %r1, %p2, %r3; match.any.sync.b32 %r1, %r2, -1;
         match.any.sync.b64 %r1, %d2, -1; match.all.sync.b32 %r1|%p1, %r2, -1; match.all.sync.b64 %r1|%p1, %d2, %r3;
         match.all.sync.b32 %r1, %r2, -1; match.all.sync.b32 %r1, 7, -1; elect.sync %r1|%p1, -1; elect.sync _|%p1, %r2;
         redux.sync.add.u32 %r1, %r2, -1; redux.sync.add.s32 %r1, %r2, -1; redux.sync.min.s32 %r1, %r2, -1;
         redux.sync.max.s32 %r1, %r2, -1; redux.sync.min.u32 %r1, %r2, -1; redux.sync.max.u32 %r1, %r2, -1;
         redux.sync.and.b32 %r1, %r2, -1; redux.sync.or.b32 %r1, %r2, -1; redux.sync.xor.b32 %r1, %r2, -1;
         redux.sync.min.f32 %f1, %f2, -1; redux.sync.max.f32 %f1, %f2, -1; redux.sync.min.abs.f32 %f1, %f2, -1;
         redux.sync.max.abs.f32 %f1, %f2, -1; redux.sync.min.NaN.f32 %f1, %f2, -1; redux.sync.max.NaN.f32 %f1, %f2, -1;
         redux.sync.min.abs.NaN.f32 %f1, %f2, -1; redux.sync.max.abs.NaN.f32 %f1, %f2, -1; bar.warp.sync -1;
         bar.warp.sync %r1;",
    ),
    (
        "control",
        "{ ts: .branchtargets A, B; brx.idx %r1, ts; brx.idx.uni %r1, ts; A: bra B; B: bra.uni A; @%p1 bra A; @!%p1 bra B; }
         call f; call.uni f; nanosleep.u32 5; nanosleep.u32 %r1; griddepcontrol.wait; griddepcontrol.launch_dependents; trap; brkpt;
         pmevent 1; pmevent.mask 3; setmaxnreg.inc.sync.aligned.u32 64; setmaxnreg.dec.sync.aligned.u32 64; exit; ret;
         ret.uni;",
    ),
    (
        "barriers and fences",
        "bar.sync 0; bar.sync %r1; bar.sync 1, 64; bar.sync %r1, %r2; bar.cta.sync 0; bar.arrive 1, 64; bar.cta.arrive 1, 64;
         bar.red.popc.u32 %r1, 0, %p1; bar.red.popc.u32 %r1, 0, 64, !%p1; bar.red.and.pred %p1, 0, %p2;
         bar.red.or.pred %p1, 0, %p2; bar.cta.red.or.pred %p1, 0, %p2; barrier.sync 0; barrier.sync %r1, 64;
         barrier.sync.aligned 0; barrier.cta.sync 0; barrier.cta.sync.aligned 0; barrier.cta.sync.aligned %r1, %r2;
         barrier.arrive 1, 64; barrier.cta.arrive.aligned 1, 64; barrier.red.popc.u32 %r1, 0, %p1;
         barrier.cta.red.popc.aligned.u32 %r1, 0, %p1; barrier.cta.red.and.aligned.pred %p1, 0, %p2;
         barrier.red.or.pred %p1, 0, 64, %p2; membar.cta; membar.gl; membar.sys; fence.sc.cta; fence.sc.cluster; fence.sc.gpu;
         fence.sc.sys; fence.acq_rel.cta; fence.acq_rel.cluster; fence.acq_rel.gpu; fence.acq_rel.sys; fence.acquire.gpu;
         fence.release.sys; fence.cta; fence.gpu; fence.proxy.alias; fence.proxy.async; fence.proxy.async.global;
         fence.proxy.async.shared::cta; fence.proxy.async.shared::cluster; fence.mbarrier_init.release.cluster;",
    ),
    (
        "atomics",
        "atom.global.add.u32 %r1, [%d1], 1; atom.add.s32 %r1, [%d1], %r2; atom.global.add.u64 %d1, [%d1], %d2;
         atom.shared.add.f32 %f1, [%d1], %f2; atom.global.add.f64 %d1, [%d1], %d2; atom.add.noftz.f16 %h1, [%d1], %h2;
         atom.global.add.noftz.f16x2 %r1, [%d1], %r2; atom.add.noftz.bf16 %h1, [%d1], %h2;
         atom.add.noftz.bf16x2 %r1, [%d1], %r2; atom.global.cas.b16 %h1, [%d1], %h2, %h3; atom.cas.b32 %r1, [%d1], %r2, %r3;
         atom.shared.cas.b64 %d1, [%d1], %d2, %d3; atom.exch.b32 %r1, [%d1], %r2; atom.exch.b64 %d1, [%d1], %d2;
         atom.and.b32 %r1, [%d1], %r2; atom.or.b64 %d1, [%d1], %d2; atom.xor.b32 %r1, [%d1], %r2; atom.inc.u32 %r1, [%d1], %r2;
         atom.dec.u32 %r1, [%d1], %r2; atom.min.s32 %r1, [%d1], %r2; atom.max.u32 %r1, [%d1], %r2;
         atom.min.s64 %d1, [%d1], %d2; atom.max.u64 %d1, [%d1], %d2; atom.relaxed.gpu.global.add.u32 %r1, [%d1], %r2;
         atom.acquire.cta.shared.cas.b32 %r1, [%d1], %r2, %r3; atom.release.sys.exch.b32 %r1, [%d1], %r2;
         atom.acq_rel.cluster.global.add.u64 %d1, [%d1], %d2; atom.global.cta.add.u32 %r1, [%d1], %r2;
         atom.cta.add.f32 %f1, [%d1], %f2; atom.sys.inc.u32 %r1, [%d1], %r2; atom.shared::cta.add.u32 %r1, [%d1], %r2;
         atom.shared::cluster.add.u32 %r1, [%d1], %r2; atom.global.add.v2.f32 {%f1, %f2}, [%d1], {%f3, %f4};
         atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%d1], {%f1, %f2, %f3, %f4};
         atom.global.v2.f32.add {%f1, %f2}, [%d1], {%f3, %f4};
         atom.global.add.noftz.v2.f16 {%h1, %h2}, [%d1], {%h1, %h2};
         atom.global.v4.bf16x2.max.noftz {%r1, %r2, %r3, %r4}, [%d1], {%r1, %r2, %r3, %r4};
         red.global.add.u32 [%d1], 1; red.add.f32 [%d1], %f1; red.global.add.f64 [%d1], %d2; red.shared.or.b32 [%d1], %r1;
         red.relaxed.gpu.global.max.s32 [%d1], %r1; red.release.sys.global.add.u64 [%d1], %d2; red.and.b64 [%d1], %d2;
         red.global.inc.u32 [%d1], 5; red.global.dec.u32 [%d1], 5; red.min.u64 [%d1], %d2;
         red.global.add.noftz.f16x2 [%d1], %r1; red.global.add.noftz.bf16 [%d1], %h1;
         red.global.add.v2.f32 [%d1], {%f1, %f2}; red.global.v4.f32.add [%d1], {%f1, %f2, %f3, %f4};",
    ),
    (
        "asynchronous copies",
        "cp.async.ca.shared.global [%d1], [%d2], 4; cp.async.ca.shared.global [%d1], [%d2], 8;
         cp.async.ca.shared.global [%d1], [%d2], 16; cp.async.cg.shared.global [%d1], [%d2], 16;
         cp.async.cg.shared.global [%d1], [%d2], 16, 4; cp.async.ca.shared.global [%d1], [%d2], 8, %r1;
         cp.async.ca.shared::cta.global [%r1], [%d2], 4; cp.async.cg.shared.global.L2::128B [%r1+16], [%d2+32], 16;
         cp.async.ca.shared.global.L2::64B [%r1], [%d2], 4; cp.async.ca.shared.global [%d1], [%d2], 4, %p1;
         cp.async.cg.shared.global.L2::cache_hint [%d1], [%d2], 16, %d3;
         cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_group 3; cp.async.wait_all;",
    ),
    (
        "tensor cores",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};
         mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};
         mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r3,%r4};
         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};
         mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r1}, {%f1,%f2,%f3,%f4};
         mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2}, {%r1}, {%r3,%r4};
         mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r1}, {%f1,%f2,%f3,%f4};
         mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r1}, {%f1,%f2,%f3,%f4};
         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};
         ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%d1]; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1,%r2}, [%d1];
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r1]; ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%r1}, [%d1];
         ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1,%r2}, [%d1+16];
         ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%r1,%r2,%r3,%r4}, [%d1];
         stmatrix.sync.aligned.m8n8.x1.shared.b16 [%d1], {%r1}; stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%d1], {%r1,%r2};
         stmatrix.sync.aligned.m8n8.x4.b16 [%d1], {%r1,%r2,%r3,%r4}; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
    ),
    (
        "bits",
        "prmt.b32 %r1, %r2, %r3, %r4; prmt.b32 %r1, %r2, 0, 0x4321; prmt.b32.f4e %r1, %r2, %r3, %r4;
         prmt.b32.b4e %r1, %r2, %r3, %r4; prmt.b32.rc8 %r1, %r2, %r3, %r4; prmt.b32.ecl %r1, %r2, %r3, %r4;
         prmt.b32.ecr %r1, %r2, %r3, %r4; prmt.b32.rc16 %r1, %r2, %r3, %r4; lop3.b32 %r1, %r2, %r3, %r4, 0xca;
         lop3.and.b32 %r1|%p1, %r2, %r3, %r4, 0xca, %p2; lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0xca, %p2;
         shf.l.wrap.b32 %r1, %r2, %r3, %r4; shf.l.clamp.b32 %r1, %r2, %r3, 5; shf.r.wrap.b32 %r1, %r2, %r3, 5;
         shf.r.clamp.b32 %r1, %r2, %r3, %r4; bfe.u32 %r1, %r2, 3, 4; bfe.s32 %r1, %r2, %r3, %r4; bfe.u64 %d1, %d2, 3, 4;
         bfe.s64 %d1, %d2, %r3, %r4; bfi.b32 %r1, %r2, %r3, 3, 4; bfi.b64 %d1, %d2, %d3, %r3, %r4; fns.b32 %r1, %r2, %r3, %r4;
         fns.b32 %r1, -1, 3, 1; bmsk.clamp.b32 %r1, %r2, %r3; bmsk.wrap.b32 %r1, %r2, %r3; szext.clamp.s32 %r1, %r2, %r3;
         szext.wrap.u32 %r1, %r2, %r3; brev.b32 %r1, %r2; brev.b64 %d1, %d2; clz.b32 %r1, %r2; clz.b64 %r1, %d2;
         popc.b32 %r1, %r2; popc.b64 %r1, %d2; bfind.u32 %r1, %r2; bfind.s32 %r1, %r2; bfind.u64 %r1, %d2; bfind.s64 %r1, %d2;
         bfind.shiftamt.u32 %r1, %r2; bfind.shiftamt.s32 %r1, %r2; bfind.shiftamt.u64 %r1, %d2; bfind.shiftamt.s64 %r1, %d2;
         cnot.b16 %h1, %h2; cnot.b32 %r1, %r2; cnot.b64 %d1, %d2; and.b16 %h1, %h2, 1; or.b64 %d1, %d2, %d3;
         xor.pred %p1, %p2, %p3; not.pred %p1, %p2; not.b16 %h1, %h2; not.b64 %d1, %d2; shl.b16 %h1, %h2, 3;
         shl.b64 %d1, %d2, %r1; shr.u16 %h1, %h2, 3; shr.s16 %h1, %h2, 3; shr.s64 %d1, %d2, 3; shr.b32 %r1, %r2, 3;",
    ),
    (
        "integers",
        "vabsdiff4.u32.u32.u32 %r1, %r2, %r3, %r4; vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4; dp4a.u32.u32 %r1, %r2, %r3, %r4; dp4a.s32.s32 %r1, %r2, %r3, %r4; dp4a.u32.s32 %r1, %r2, %r3, %r4;
         dp4a.s32.u32 %r1, %r2, %r3, %r4; dp2a.lo.u32.u32 %r1, %r2, %r3, %r4; dp2a.hi.u32.u32 %r1, %r2, %r3, %r4;
         dp2a.lo.s32.s32 %r1, %r2, %r3, %r4; dp2a.hi.s32.s32 %r1, %r2, %r3, %r4; dp2a.lo.u32.s32 %r1, %r2, %r3, %r4;
         dp2a.hi.s32.u32 %r1, %r2, %r3, %r4; dp2a.lo.s32.u32 %r1, %r2, %r3, %r4; dp2a.hi.u32.s32 %r1, %r2, %r3, %r4;
         min.s32.relu %r1, %r2, %r3; max.s32.relu %r1, %r2, %r3; min.relu.s32 %r1, %r2, %r3; max.relu.s32 %r1, %r2, %r3;
         min.s16x2 %r1, %r2, %r3; max.u16x2 %r1, %r2, %r3; min.s16x2.relu %r1, %r2, %r3; max.s16x2.relu %r1, %r2, %r3;
         min.relu.s16x2 %r1, %r2, %r3; max.relu.s16x2 %r1, %r2, %r3; add.s16x2 %r1, %r2, %r3; add.u16x2 %r1, %r2, %r3;
         neg.s16 %h1, %h2; neg.s64 %d1, %d2; abs.s16 %h1, %h2; sad.u32 %r1, %r2, %r3, %r4; sad.s64 %d1, %d2, %d3, %d4;
         mul24.lo.u32 %r1, %r2, %r3; mul24.hi.s32 %r1, %r2, %r3; mad24.lo.s32 %r1, %r2, %r3, %r4;
         mad24.hi.u32 %r1, %r2, %r3, %r4; mad24.hi.s32 %r1, %r2, %r3, %r4; mad24.hi.sat.s32 %r1, %r2, %r3, %r4;
         mad.hi.sat.s32 %r1, %r2, %r3, %r4; add.sat.s32 %r1, %r2, %r3; add.cc.u64 %d1, %d2, %d3; addc.u64 %d1, %d2, %d3; sub.cc.s32 %r1, %r2, %r3; subc.cc.u64 %d1, %d2, %d3;
         madc.hi.cc.u32 %r1, %r2, %r3, %r4; mad.lo.cc.u64 %d1, %d2, %d3, %d4; madc.hi.cc.u64 %d1, %d2, %d3, %d4;
         madc.lo.s64 %d1, %d2, %d3, %d4; mad.wide.s16 %r1, %h2, %h3, %r4; mul.wide.u32 %d1, %r2, 4; rem.s16 %h1, %h2, %h3;",
    ),
    (
        "packed and half floats",
        "fma.rn.bf16x2 %r1, %r2, %r3, %r4; fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4;
         fma.rn.f16 %h1, %h2, %h3, %h1; fma.rn.ftz.f16x2 %r1, %r2, %r3, %r4; fma.rn.ftz.sat.f16 %h1, %h2, %h3, %h1;
         fma.rn.relu.bf16 %h1, %h2, %h3, %h1; fma.rn.f32x2 %d1, %d2, %d3, %d4; fma.rz.ftz.f32x2 %d1, %d2, %d3, %d4;
         add.rn.f32x2 %d1, %d2, %d3; add.f32x2 %d1, %d2, %d3; mul.rp.f32x2 %d1, %d2, %d3; sub.rm.f32x2 %d1, %d2, %d3;
         add.f16 %h1, %h2, %h3; add.rn.bf16 %h1, %h2, %h3; add.sat.f16x2 %r1, %r2, %r3; sub.rn.bf16x2 %r1, %r2, %r3;
         mul.ftz.f16 %h1, %h2, %h3; neg.bf16x2 %r1, %r2; abs.f16 %h1, %h2; neg.ftz.f16 %h1, %h2; abs.bf16 %h1, %h2;
         min.f16 %h1, %h2, %h3; max.NaN.bf16x2 %r1, %r2, %r3; min.ftz.NaN.xorsign.abs.f16x2 %r1, %r2, %r3;
         max.xorsign.abs.bf16 %h1, %h2, %h3; ex2.approx.f16 %h1, %h2; ex2.approx.f16x2 %r1, %r2;
         ex2.approx.ftz.bf16 %h1, %h2; ex2.approx.ftz.bf16x2 %r1, %r2; tanh.approx.f16 %h1, %h2; tanh.approx.f16x2 %r1, %r2;
         tanh.approx.bf16 %h1, %h2; tanh.approx.bf16x2 %r1, %r2;",
    ),
    (
        "floats",
        "add.rn.ftz.sat.f32 %f1, %f2, %f3; sub.rz.f32 %f1, %f2, %f3; mul.rp.f64 %d1, %d2, %d3; fma.rm.ftz.f32 %f1, %f2, %f3, %f4;
         mad.rn.f32 %f1, %f2, %f3, %f4; min.f32 %f1, %f2, %f3; min.f32 %f1, %f2, %f3, %f4; max.NaN.f32 %f1, %f2, %f3, %f4;
         max.ftz.NaN.abs.f32 %f1, %f2, %f3, %f4; min.ftz.abs.f32 %f1, %f2, %f3, %f4; max.ftz.xorsign.abs.f32 %f1, %f2, %f3;
         min.NaN.xorsign.abs.f32 %f1, %f2, %f3; min.f64 %d1, %d2, %d3; testp.finite.f32 %p1, %f1; testp.infinite.f64 %p1, %d1;
         testp.number.f32 %p1, %f1; testp.notanumber.f32 %p1, %f1; testp.normal.f64 %p1, %d1; testp.subnormal.f32 %p1, %f1;
         copysign.f32 %f1, %f2, %f3; copysign.f64 %d1, %d2, %d3; tanh.approx.f32 %f1, %f2; ex2.approx.ftz.f32 %f1, %f2;
         lg2.approx.f32 %f1, %f2; sin.approx.ftz.f32 %f1, %f2; cos.approx.f32 %f1, %f2; rcp.rn.f32 %f1, %f2;
         rcp.approx.ftz.f64 %d1, %d2; rsqrt.approx.ftz.f64 %d1, %d2; rsqrt.approx.f64 %d1, %d2; sqrt.approx.f32 %f1, %f2;
         sqrt.rz.ftz.f32 %f1, %f2; div.full.f32 %f1, %f2, %f3; div.approx.ftz.f32 %f1, %f2, %f3; div.rn.f64 %d1, %d2, %d3;
         add.rn.f32.f16 %f1, %h2, %f3; sub.rn.f32.bf16 %f1, %h2, %f3; fma.rn.f32.f16 %f1, %h2, %h3, %f4;
         selp.b16 %h1, %h2, %h3, %p1; selp.f64 %d1, %d2, %d3, %p1; slct.f32.s32 %f1, %f2, %f3, %r1; set.gt.u32.f32 %r1, %f1, %f2; set.lt.ftz.f32.f32 %f1, %f2, %f3;
         setp.num.f32 %p1, %f1, %f2; setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p3; setp.neu.f16x2 %p1|%p2, %r1, %r2;
         setp.eq.bf16x2 %p1|%p2, %r1, %r2;",
    ),
    (
        "conversions",
        "cvt.rn.bf16x2.f32 %r1, %f1, %f2; cvt.rn.relu.bf16x2.f32 %r1, %f1, %f2; cvt.rz.bf16x2.f32 %r1, %f1, %f2;
         cvt.rn.f16x2.f32 %r1, %f1, %f2; cvt.rz.relu.f16x2.f32 %r1, %f1, %f2; cvt.rn.satfinite.f16x2.f32 %r1, %f1, %f2;
         cvt.rn.relu.satfinite.bf16x2.f32 %r1, %f1, %f2; cvt.rn.bf16.f32 %h1, %f1; cvt.rz.relu.bf16.f32 %h1, %f1;
         cvt.rn.f16.f32 %h1, %f1; cvt.rn.satfinite.f16.f32 %h1, %f1; cvt.rna.tf32.f32 %r1, %f1; cvt.rn.tf32.f32 %r1, %f1;
         cvt.rz.relu.tf32.f32 %r1, %f1; cvt.rna.satfinite.tf32.f32 %r1, %f1; cvt.rn.satfinite.tf32.f32 %r1, %f1;
         cvt.f32.f16 %f1, %h1; cvt.f32.bf16 %f1, %h1; cvt.f64.f16 %d1, %h1; cvt.f64.bf16 %d1, %h1; cvt.rn.bf16.f64 %h1, %d1;
         cvt.rn.f16.f64 %h1, %d1; cvt.rn.bf16.s32 %h1, %r1; cvt.rn.bf16.u64 %h1, %d1; cvt.rzi.s32.bf16 %r1, %h1;
         cvt.rni.u16.f16 %h1, %h2; cvt.rn.bf16.f16 %h1, %h2; cvt.rn.f16.bf16 %h1, %h2; cvt.rmi.bf16.bf16 %h1, %h2;
         cvt.rpi.ftz.f32.f32 %f1, %f2; cvt.sat.f32.f32 %f1, %f2; cvt.ftz.f64.f32 %d1, %f1; cvt.rn.f32.s8 %f1, %h1;
         cvt.rzi.u8.f32 %r1, %f1; cvt.sat.u8.s32 %r1, %r2; cvt.s64.s8 %d1, %h1; cvt.u16.u8 %h1, %h2; cvt.rn.f64.u64 %d1, %d2;
         cvt.pack.sat.s16.s32 %r1, %r2, %r3; cvt.pack.sat.u16.s32 %r1, %r2, %r3; cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;
         cvt.pack.sat.s8.s32.b32 %r1, %r2, %r3, %r4;",
    ),
    (
        "memory",
        "ld.global.b8 %h1, [%d1]; ld.global.u16 %h1, [%d1]; ld.global.nc.f32 %f1, [%d1]; ld.global.nc.v4.b32 {%r1,%r2,%r3,%r4}, [%d1];
         ld.global.v2.b64 {%d1,%d2}, [%d3]; ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1];
         ld.global.v4.b64 {%d1,%d2,%d3,%d4}, [%d5]; ld.global.nc.v8.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%d1];
         ld.global.nc.L2::evict_last.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1]; ld.global.ca.u32 %r1, [%d1];
         ld.global.cg.u32 %r1, [%d1]; ld.global.cs.u32 %r1, [%d1]; ld.global.lu.u32 %r1, [%d1]; ld.global.cv.u32 %r1, [%d1];
         ld.global.L1::evict_last.u32 %r1, [%d1]; ld.global.nc.L1::no_allocate.L2::128B.u32 %r1, [%d1];
         ld.global.L1::evict_first.L2::256B.v2.f32 {%f1,%f2}, [%d1]; ld.global.L2::cache_hint.u32 %r1, [%d1], %d2;
         ld.relaxed.gpu.global.u32 %r1, [%d1]; ld.acquire.sys.u64 %d1, [%d1]; ld.volatile.shared.u32 %r1, [%d1];
         ld.mmio.relaxed.sys.global.u32 %r1, [%d1]; ld.weak.global.u32 %r1, [%d1]; ld.acquire.cta.shared.u32 %r1, [%d1];
         ld.const.b32 %r1, [%d1]; ld.local.b32 %r1, [%d1]; ld.shared::cta.b32 %r1, [%r2]; ldu.global.b32 %r1, [%d1];
         ldu.global.v2.f32 {%f1,%f2}, [%d1]; st.global.b8 [%d1], %h1; st.global.v4.f32 [%d1], {%f1,%f2,%f3,%f4};
         st.global.v8.b32 [%d1], {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}; st.global.v4.b64 [%d5], {%d1,%d2,%d3,%d4};
         st.global.wb.u32 [%d1], %r1; st.global.wt.u32 [%d1], %r1; st.global.cg.u32 [%d1], %r1; st.global.cs.u32 [%d1], %r1;
         st.relaxed.sys.global.u32 [%d1], %r1; st.release.gpu.global.u32 [%d1], %r1; st.volatile.u32 [%d1], %r1;
         st.global.L1::no_allocate.u32 [%d1], %r1; st.global.L2::cache_hint.u32 [%d1], %r1, %d2; st.shared.v2.b64 [%d1], {%d2,%d3};
         prefetch.global.L1 [%d1]; prefetch.global.L2 [%d1]; prefetch.global.L2::evict_last [%d1]; prefetch.L2 [%d1];
         prefetchu.L1 [%d1]; discard.global.L2 [%d1], 128; applypriority.global.L2::evict_normal [%d1], 128;
         createpolicy.fractional.L2::evict_last.b64 %d1, 1.0; createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d1;
         cvta.global.u64 %d1, %d2; cvta.to.shared.u64 %d1, %d2; cvta.to.local.u64 %d1, %d2; cvta.param.u64 %d1, %d2;
         cvta.shared::cta.u64 %d1, %d2; isspacep.global %p1, %d1; isspacep.shared %p1, %d1; isspacep.local %p1, %d1;
         isspacep.const %p1, %d1; isspacep.shared::cta %p1, %d1; mov.b32 {%h1, %h2}, %r1; mov.b64 {%r1, _}, %d1;
         mov.b64 %d1, {%h1, %h2, %h3, %h1}; mov.b32 %r1, {%h1, %h2};",
    ),
];

/// What only sm_90a has.
const WGMMA: &str = "wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %d1, %d2, %p1, 1, 1, 0, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, %d2, %p1, 1, -1, 1;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, %d1, %d2, 1, 1, 1, 0, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1,%r2}, %d1, %d2, %p1, 1, 1, 0, 0;";

/// What the documentation of the crate says is left out.
const LEFT_OUT: &[&str] = &[
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1], %r9;",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2,%r3,%r4};",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%f1,%f2,%f3,%f4}, %r1, 0;",
    "tcgen05.fence::before_thread_sync;",
    "mbarrier.init.shared.b64 [%d1], 1;",
    "cp.async.mbarrier.arrive.shared.b64 [%d1];",
    "cp.async.bulk.commit_group;",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%d1], %r1, [%d2];",
    "barrier.cluster.arrive;",
    "mapa.u64 %d1, %d2, 0;",
    "multimem.ld_reduce.global.add.f32 %f1, [%d1];",
    "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1}];",
    "vabsdiff2.u32.u32.u32 %r1, %r2, %r3, %r4;",
    "fma.rn.oob.bf16 %h1, %h2, %h3, %h1;",
    "vadd.s32.s32.s32 %r1, %r2, %r3;",
    "alloca.u64 %d1, 16;",
    "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%d1];",
    "shfl.idx.b32 %r1, %r2, 0, 31;",
    "vote.ballot.b32 %r1, %p1;",
];

fn load(statement: &str) -> Result<Module, LoadError> {
    Module::load(&format!(
        ".version 8.8\n.target sm_100a\n.address_size 64 .func f() {{ ret; }}\n.visible .entry k() {{\n.reg .b16 %h<4>; .reg .b32 %r<10>;\n\
         .reg .f32 %f<10>; .reg .b64 %d<10>; .reg .pred %p<4>;\n{statement}\nret;\n}}"
    ))
}

/// Statements, blocks in braces whole.
fn statements(text: &str) -> Vec<String> {
    let (mut out, mut one, mut depth) = (Vec::new(), String::new(), 0);
    let braced = |s: &str| s.trim_start().starts_with('{');
    for c in text.chars() {
        one.push(c);
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (c == ';' || c == '}' && braced(&one)) {
            out.push(std::mem::take(&mut one).trim().to_owned());
        }
    }
    out
}

#[test]
fn every_form_promised_loads() {
    let mut refused = Vec::new();
    for (theme, text) in FORMS.iter().copied().chain([("wgmma", WGMMA)]) {
        for s in statements(text) {
            if let Err(e) = load(&s) {
                refused.push(format!("{theme}: {s}: {e}"));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn what_is_left_out_is_refused_by_name() {
    for s in LEFT_OUT {
        match load(s) {
            Err(LoadError::UnknownInstruction { line: 7, name }) => assert!(s.starts_with(&name), "{s}"),
            Err(e) => panic!("{s}: {e}"),
            Ok(_) => panic!("{s} loads"),
        }
    }
}

#[test]
fn every_opcode_of_the_table_stands_among_the_forms() {
    let all: Vec<String> = FORMS.iter().flat_map(|(_, text)| statements(text)).chain(statements(WGMMA)).collect();
    let used = |name: &str| all.iter().any(|s| s.split([' ', ';', '.']).any(|w| w == name));
    let table = emulator::supported();
    let opcodes = table.lines().filter_map(|l| l.strip_prefix("| `")?.split(['.', '{', '`']).next());
    let mut missing: Vec<&str> = opcodes.filter(|o| !used(o)).collect();
    missing.dedup();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn qualifiers_that_do_not_exist_are_refused() {
    for s in [
        "fence.proxy.other;",
        "prefetch.global.L3 [%d1];",
        "discard.global.L1.x [%d1], 128;",
        "membar.gpu;",
        "bar.cta.warp;",
    ] {
        assert!(matches!(load(s), Err(LoadError::UnknownInstruction { .. })), "{s}");
    }
    let e = load(".reg .b128 %q;").unwrap_err();
    assert!(e.to_string().contains("registers of 128 bits are not supported"), "{e}");
}
