//! `strided_reduce` beside the loop that one would write by hand, on the host.
//!
//! Values are read from behind a reference that the compiler knows nothing of. An array handed over by value would be
//! copied first, in whatever way suits what comes after.

use criterion::{Criterion, criterion_group, criterion_main};
use device_std::reduce::StridedReduce;
use std::hint::black_box;

/// The same tree by a loop: level by level, in place.
fn by_loop<const N: usize, const S: usize>(mut values: [f32; N], op: impl Fn(f32, f32) -> f32) -> [f32; S] {
    let mut left = N / S;
    while left > 1 {
        for pair in 0..left.div_ceil(2) {
            for a in 0..S {
                let first = values[2 * pair * S + a];
                values[pair * S + a] =
                    if 2 * pair + 1 < left { op(first, values[(2 * pair + 1) * S + a]) } else { first };
            }
        }
        left = left.div_ceil(2);
    }
    std::array::from_fn(|a| values[a])
}

/// The sum from the left, which has another result: the least that any loop can do.
fn from_the_left<const N: usize, const S: usize>(values: [f32; N], op: impl Fn(f32, f32) -> f32) -> [f32; S] {
    let mut sums: [f32; S] = std::array::from_fn(|a| values[a]);
    for (i, value) in values.into_iter().enumerate().skip(S) {
        sums[i % S] = op(sums[i % S], value);
    }
    sums
}

fn shape<const N: usize, const S: usize>(criterion: &mut Criterion) {
    let values: [f32; N] = std::array::from_fn(|i| i as f32 * 0.37 - 3.0);
    assert_eq!(by_loop::<N, S>(values, |a, b| a + b), values.strided_reduce::<S>(|a, b| a + b));
    let mut group = criterion.benchmark_group(format!("sum of {N} to {S}"));
    group.bench_function("strided_reduce", |bencher| {
        bencher.iter(|| (*black_box(&values)).strided_reduce::<S>(|a, b| a + b));
    });
    group.bench_function("loop", |bencher| bencher.iter(|| by_loop::<N, S>(*black_box(&values), |a, b| a + b)));
    group.bench_function("left fold", |bencher| {
        bencher.iter(|| from_the_left::<N, S>(*black_box(&values), |a, b| a + b));
    });
    group.finish();
}

fn shapes(criterion: &mut Criterion) {
    shape::<8, 1>(criterion);
    shape::<32, 4>(criterion);
    shape::<64, 1>(criterion);
    shape::<64, 8>(criterion);
}

criterion_group!(benches, shapes);
criterion_main!(benches);
