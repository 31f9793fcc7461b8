//! The kernels of `kernels/pieces` by groups: what stands together in one snapshot, whatever the target.

/// A group's name and its kernels, in the order in which they are shown. Kernels that are in no group are compiled and
/// held to what must hold for all of them, and not shown.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("shuffles", &["shfl", "shfl_down", "shfl_up", "shfl_xor", "shfl_u8", "shfl_f64"]),
    ("segments", &["segment_shfl", "segment_shfl_down", "segment_shfl_up", "segment_ballot"]),
    ("votes", &["vote_any", "vote_all", "ballot", "match_any", "match_any_f64", "match_all"]),
    ("reductions", &["reduce_sum", "scan_sum", "reduce_add"]),
    ("integer_reductions", &["reduce_min", "reduce_max", "reduce_bits", "segment_reduce_add"]),
    ("places", &["queries", "group_barrier"]),
    ("unroll", &["unroll_shifts", "unroll_names", "unroll_tuples", "unroll_capped"]),
    ("strided", &["strided_sum_8", "strided_sum_8_by_2", "strided_max_9", "strided_min_9"]),
    (
        "math",
        &[
            "exp_f32",
            "log_f32",
            "sqrt_f32",
            "rsqrt_f32",
            "fma_f32",
            "numbers_f32",
            "extremes_f32",
            "exp2_f64",
            "numbers_f64",
        ],
    ),
    ("halves", &["narrow_f16", "widen_f16", "narrow_bf16", "widen_bf16"]),
    (
        "fast",
        &[
            "fast_exp",
            "fast_exp2",
            "fast_log",
            "fast_log2",
            "fast_sqrt",
            "fast_rsqrt",
            "fast_recip",
            "fast_div",
            "fast_tanh",
            "fast_sigmoid",
        ],
    ),
    ("vectors", &["vector_words", "vector_double_words", "vector_halves"]),
    ("shared", &["shared_array", "shared_dynamic"]),
    ("atomics", &["fences", "atomic_add", "atomic_access", "atomic_others"]),
];
