// Kernels that nvcc compiles to cpp_sm_80.ptx and cpp_sm_120a.ptx.
#include <cassert>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern __shared__ float dyn[];
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int launches;
extern "C" __global__ void reduce(const float *x, float *y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    dyn[t] = weights[t & 3];
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d] * dyn[0];
        __syncthreads();
    }
    if (t == 0) { y[blockIdx.x] = s[0]; atomicAdd(&launches, 1); }
}
extern "C" __global__ void functions(const float *x, float *y) {
    int t = threadIdx.x;
    float v = x[t];
    float *o = y + 8 * t;
    o[0] = expf(v); o[1] = sinf(v); o[2] = logf(v); o[3] = sqrtf(v); o[4] = rsqrtf(v); o[5] = tanhf(v); o[6] = powf(v, 1.7f); o[7] = 1.0f / v;
}
extern "C" __global__ void numbers(const int *x, int *y, double *d, __half *h, __nv_bfloat16 *b, float4 *q) {
    int t = threadIdx.x, v = x[t];
    y[t] = v + __clz(v) + (int)__brev(v) + __ffs(v) + (int)__byte_perm(v, v * 3, 0x3210 ^ t) + (int)__funnelshift_l(v, t, 3) + __mulhi(v, 77) + __popc(v);
    d[t] = d[t] / 3.0 + fma(d[t], d[t], 1.0);
    h[t] = __hfma(h[t], h[t], __float2half(1.5f));
    b[t] = __hadd(b[t], __float2bfloat16((float)t));
    float4 z = q[t]; z.x += z.y; z.z *= z.w; q[t] = z;
    printf("%d\n", v);
}
__device__ __noinline__ float rec(float x, int n) { return n ? rec(x * 2, n - 1) + 1 : x; }
struct S { float a[5]; double b; };
extern "C" __global__ void calls(float *x, int n, S s) {
    x[threadIdx.x] = rec(x[threadIdx.x], n) + s.a[n] + (float)s.b;
    assert(n < 5);
}
