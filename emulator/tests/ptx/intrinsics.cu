// Kernels that nvcc compiles to intrinsics_sm_100a.ptx: what only intrinsics and libraries of CUDA give.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
// One warp; 24 words a thread.
extern "C" __global__ void warps(const unsigned *x, unsigned *y) {
    unsigned t = threadIdx.x, m = __activemask(), v = x[t], *o = y + 24 * t;
    o[0] = __shfl_sync(m, v, 3); o[1] = __shfl_up_sync(m, v, 1, 8); o[2] = __shfl_down_sync(m, v, 2); o[3] = __shfl_xor_sync(m, v, 4);
    o[4] = __match_any_sync(m, v & 3); o[5] = __match_any_sync(m, (unsigned long long)(v & 1) << 40);
    int same; o[6] = __match_all_sync(m, 5u, &same); o[7] = same;
    o[8] = __all_sync(m, v > 3); o[9] = __any_sync(m, v == 3); o[10] = __ballot_sync(m, v & 1); o[11] = __uni_sync(m, t < 32);
    o[12] = __reduce_add_sync(m, v); o[13] = __reduce_min_sync(m, v); o[14] = __reduce_max_sync(m, (int)v); o[15] = __reduce_xor_sync(m, v);
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    o[16] = cg::reduce(tile, v, cg::plus<unsigned>()); o[17] = tile.shfl_down(v, 2); o[18] = tile.ballot(v & 1);
    if (v & 1) { auto some = cg::coalesced_threads(); o[19] = some.thread_rank(); o[20] = some.size(); } else { o[19] = o[20] = 77; }
    o[21] = __syncthreads_count(v & 1); o[22] = __fns(v, 0, 2); o[23] = __syncthreads_or(v == 3);
}
// All threads of all blocks on the same numbers; the results do not depend on an order.
extern "C" __global__ void atomics(unsigned *u, int *i, unsigned long long *l, float *f, double *d, __half2 *h, __nv_bfloat16 *b, float4 *q, unsigned short *s) {
    __shared__ unsigned count; __shared__ float sum;
    unsigned t = threadIdx.x;
    if (t == 0) { count = 0; sum = 0; }
    __syncthreads();
    atomicAdd(u, t); atomicMax(u + 1, t); atomicMin(i, -(int)t); atomicOr(u + 2, 1u << t % 32); atomicXor(u + 3, t); atomicInc(u + 4, 9); atomicDec(u + 5, 9);
    atomicAdd(l, 1ull << 33); atomicMax(l + 1, (unsigned long long)t << 35); atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(h, __floats2half2_rn(1, 2));
    atomicAdd(b, __float2bfloat16(1)); atomicAdd(q, make_float4(1, 2, 3, 4)); atomicAdd(&count, 1); atomicAdd(&sum, 2.0f); atomicAdd_block(u + 6, 1); atomicAdd_system(u + 6, 1);
    for (unsigned short old = s[0];;) { unsigned short was = atomicCAS(s, old, old + 3); if (was == old) break; old = was; }
    __syncthreads();
    if (t == 0) { atomicAdd(u + 7, count + (unsigned)sum); atomicSub(u + 8, 1); __threadfence(); }
}
// 16 words a thread.
extern "C" __global__ void bits(const unsigned *x, unsigned *y) {
    unsigned t = threadIdx.x, v = x[t], w = x[t + 32], *o = y + 16 * t;
    o[0] = __byte_perm(v, w, t * 0x1111); o[1] = __funnelshift_l(v, w, t); o[2] = __funnelshift_rc(v, w, 32 + t); o[3] = __dp4a((int)v, (int)w, 7); o[4] = __dp2a_hi(v, w, 7u);
    o[5] = __vabsdiffu4(v, w); o[6] = __vmaxs2(v, w); o[7] = __vimax3_s32_relu((int)v, -3, (int)w); o[8] = __vsadu4(v, w); o[9] = __umulhi(v, w); o[10] = (v & w) | (~v & t); o[11] = __vaddus2(v, w);
    switch (t) { case 0: w += 5; break; case 1: w *= 7; break; case 2: w ^= v; break; case 3: w -= 11; break; case 4: w = ~w; break; case 5: w <<= 3; break; case 6: w /= t; break; case 7: w %= t; break; }
    o[12] = w; o[13] = __brev(v) ^ __clz(w); o[14] = __popcll(((unsigned long long)v << 32) | w); o[15] = __mul24(v, w);
}
// Copies that a pipeline makes, and sixteen-bit arithmetic on them.
extern "C" __global__ void halves(const __half2 *x, __half2 *y, __nv_bfloat162 *z) {
    __shared__ alignas(16) __half2 s[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
    __half2 a = s[t], b = s[t + 32];
    y[4 * t] = __hfma2_relu(a, b, a); y[4 * t + 1] = __hmax2_nan(a, b); y[4 * t + 2] = __hadd2_sat(a, b); y[4 * t + 3] = __heq2(a, a);
    float2 f = __half22float2(a);
    z[2 * t] = __floats2bfloat162_rn(f.x, f.y); z[2 * t + 1] = __hfma2(z[2 * t], z[2 * t], __hneg2(z[2 * t]));
}
