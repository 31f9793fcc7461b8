//! What the kernels compute, on the host, against double precision.

use device_std::host::{Launch, Order, Output, Rows, launch};
use reduce::blocks::Found;
use reduce::rmsnorm::{rmsnorm, rmsnorm_fast};
use reduce::softmax::{softmax, softmax_fast};
use reduce::{blocks, strided, subgroups};

/// Row lengths with and without a rest, shorter and longer than the blocks of [`BLOCKS`] take in one turn.
const COLUMNS: [usize; 10] = [1, 2, 3, 4, 5, 31, 128, 200, 515, 1024];
/// A partial sub-group, one sub-group, several with the last partial.
const BLOCKS: [u32; 4] = [5, 32, 72, 128];
const ROWS: u32 = 3;

/// Reproducible numbers from -span to span.
fn numbers(many: usize, span: f32) -> Vec<f32> {
    let mut seed = many as u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..many).map(|_| span * next()).collect()
}

/// How far `ours` is off, in units of the last place of the exact result.
fn ulps(ours: f32, exact: f64) -> f64 {
    let unit = f64::exp2(exact.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor() - 23.0);
    (f64::from(ours) - exact).abs() / unit
}

/// A kernel on rows as the tests call it: with its input, its output and its rows' length.
type RowKernel<'a> = &'a dyn Fn(&[f32], &Rows<'_, f32, 4>);

fn run(kernel: RowKernel<'_>, xs: &[f32], columns: usize, block: u32, order: Order) -> Vec<f32> {
    let mut ys = vec![f32::NAN; xs.len()];
    let rows = Rows::new(&mut ys, columns);
    let launched = Launch::new((xs.len() / columns) as u32, block).order(order).run(|| kernel(xs, &rows));
    launched.expect("a launch");
    ys
}

/// Every shape: within `bound` ulp of `exact`, which takes one row.
fn check(kernel: RowKernel<'_>, span: f32, exact: impl Fn(&[f64]) -> Vec<f64>, bound: f64) {
    for (columns, block) in COLUMNS.into_iter().flat_map(|columns| BLOCKS.map(|block| (columns, block))) {
        let xs = numbers(columns * ROWS as usize, span);
        let ys = run(kernel, &xs, columns, block, Order::Ascending);
        let wide: Vec<f64> = xs.iter().map(|x| f64::from(*x)).collect();
        for (row, ours) in wide.chunks(columns).zip(ys.chunks(columns)) {
            for (place, (exact, ours)) in exact(row).into_iter().zip(ours).enumerate() {
                let off = ulps(*ours, exact);
                assert!(off <= bound, "element {place} of {columns} by {block}: {ours:e} is off by {off} ulp");
            }
        }
    }
}

fn exact_softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
    row.iter().map(|x| (x - largest).exp() / sum).collect()
}

fn exact_rmsnorm(row: &[f64], weight: &[f32], epsilon: f32) -> Vec<f64> {
    let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
    let scale = 1.0 / (mean + f64::from(epsilon)).sqrt();
    row.iter().zip(weight).map(|(x, weight)| x * scale * f64::from(*weight)).collect()
}

#[test]
fn softmax_is_that_of_double_precision() {
    // The difference to the largest element, of up to 20, is off by 2^-20, and the exponential by as much of itself: 16 ulp.
    check(&|xs, rows| softmax(xs, rows.per_block()), 10.0, exact_softmax, 20.0);
    // Up to 1: half an ulp.
    check(&|xs, rows| softmax(xs, rows.per_block()), 0.5, exact_softmax, 5.0);
}

#[test]
fn softmax_does_not_overflow_and_gives_nan_only_for_what_has_no_softmax() {
    let of = |xs: [f32; 5]| run(&|xs, rows| softmax(xs, rows.per_block()), &xs, 5, 32, Order::Ascending);
    let infinite = f32::INFINITY;
    assert_eq!(of([3.0e38; 5]), [0.2; 5]);
    assert_eq!(of([-3.0e38, -infinite, -3.0e38, -infinite, -infinite]), [0.5, 0.0, 0.5, 0.0, 0.0]);
    assert_eq!(of([1000.0, -1000.0, 0.0, 0.0, 0.0]), [1.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(of([-infinite; 5]).iter().all(|y| y.is_nan()));
    assert!(of([1.0, f32::NAN, 2.0, 3.0, 4.0]).iter().all(|y| y.is_nan()));
    assert!(of([1.0, infinite, 2.0, 3.0, 4.0])[1].is_nan());
}

#[test]
fn rmsnorm_is_that_of_double_precision() {
    let weight = numbers(1024, 2.0);
    for (span, epsilon) in [(3.0, 1.0e-5), (1.0e-3, 1.0e-6), (1.0e15, 0.0)] {
        let kernel = |xs: &[f32], rows: &Rows<'_, f32, 4>| rmsnorm(xs, &weight, epsilon, rows.per_block());
        check(&kernel, span, |row| exact_rmsnorm(row, &weight, epsilon), 8.0);
    }
}

#[test]
fn fast_forms_are_the_same_formulas() {
    let weight = numbers(1024, 2.0);
    // On a host `fast_exp` is an exponential of a rounded product: |x| * 2^-23.7, and there is nothing else approximate.
    check(&|xs, rows| softmax_fast(xs, rows.per_block()), 10.0, exact_softmax, 40.0);
    let kernel = |xs: &[f32], rows: &Rows<'_, f32, 4>| rmsnorm_fast(xs, &weight, 1.0e-5, rows.per_block());
    check(&kernel, 3.0, |row| exact_rmsnorm(row, &weight, 1.0e-5), 8.0);
}

#[test]
fn neither_alignment_nor_the_order_of_turns_changes_a_bit() {
    let weight = numbers(1024, 2.0);
    let bits = |ys: Vec<f32>| ys.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let kernels: [RowKernel<'_>; 2] =
        [&|xs, rows| softmax(xs, rows.per_block()), &|xs, rows| rmsnorm(xs, &weight, 1.0e-5, rows.per_block())];
    for kernel in kernels {
        let xs = numbers(3 * 512, 4.0);
        let plain = bits(run(kernel, &xs, 512, 72, Order::Ascending));
        for order in [Order::Descending, Order::Shuffled(5)] {
            assert_eq!(bits(run(kernel, &xs, 512, 72, order)), plain);
        }
        for shift in 1..4 {
            let shifted: Vec<f32> = xs.iter().copied().cycle().skip(xs.len() - shift).take(xs.len() + shift).collect();
            assert_eq!(bits(run(kernel, &shifted[shift..], 512, 72, Order::Ascending)), plain);
        }
    }
}

#[test]
fn rows_have_their_sum_and_their_first_largest_element() {
    for (columns, block) in COLUMNS.into_iter().flat_map(|columns| BLOCKS.map(|block| (columns, block))) {
        // Few different numbers, so that there are ties; and -∞ at the end.
        let mut xs: Vec<f32> = numbers(columns * ROWS as usize, 3.0).into_iter().map(f32::round).collect();
        xs.extend(std::iter::repeat_n(f32::NEG_INFINITY, columns));
        let (mut sums, mut found) = ([0.0; 4], [Found { value: 0.0, at: 0 }; 4]);
        let (sum_rows, found_rows) = (Rows::new(&mut sums, 1), Rows::new(&mut found, 1));
        launch(4, block, 0, || blocks::row_sum(&xs, columns, sum_rows.per_block())).expect("a launch");
        launch(4, block, 0, || blocks::row_largest(&xs, columns, found_rows.per_block())).expect("a launch");
        for ((row, sum), found) in xs.chunks(columns).zip(sums).zip(found) {
            // Whole numbers of that size are added exactly.
            assert_eq!(sum, row.iter().sum::<f32>());
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let at = row.iter().position(|x| *x == largest).expect("it is in the row") as u32;
            assert_eq!(found, Found { value: largest, at }, "{row:?}");
        }
    }
}

#[test]
fn strided_reductions_are_the_tree_of_the_contract() {
    let pairs =
        |xs: &[f32]| xs.chunks(2).map(|pair| pair.iter().copied().reduce(|a, b| a + b)).collect::<Option<Vec<_>>>();
    let tree = |xs: &[f32]| (0..3).fold(xs.to_vec(), |xs, _| pairs(&xs).expect("no pair is empty"))[0];
    // Vectors are aligned; so is what they are read from.
    #[repr(align(16))]
    struct Aligned([f32; 64]);
    let xs = Aligned(numbers(64, 1.0e3).try_into().expect("64 numbers")).0;
    let (mut sums, mut strided, mut largest) = ([0.0; 8], [0.0; 8], [0.0; 8]);
    let (sums_out, strided_out, largest_out) =
        (Output::new(&mut sums), Output::<_, 4>::new(&mut strided), Output::new(&mut largest));
    launch(1, 8, 0, || strided::sums_of_8(&xs, sums_out.per_thread())).expect("a launch");
    launch(1, 2, 0, || strided::sums_of_32_by_4(&xs, strided_out.per_thread())).expect("a launch");
    launch(1, 8, 0, || strided::largest_of_8(&xs, largest_out.per_thread())).expect("a launch");
    for (i, xs) in xs.chunks(8).enumerate() {
        assert_eq!(sums[i], tree(xs));
        assert_eq!(largest[i], xs.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    }
    for (i, sum) in strided.into_iter().enumerate() {
        let leaves: Vec<f32> = xs[32 * (i / 4)..].iter().copied().skip(i % 4).step_by(4).take(8).collect();
        assert_eq!(sum, tree(&leaves));
    }
}

#[test]
fn sub_groups_reduce_and_scan() {
    let xs: Vec<f32> = numbers(72, 100.0).into_iter().map(f32::round).collect();
    type Kernel = fn(&[f32], device_std::memory::PerThread<'_, f32>);
    let of = |kernel: Kernel| {
        let mut ys = vec![0.0; xs.len()];
        let out = Output::new(&mut ys);
        launch(1, 72, 0, || kernel(&xs, out.per_thread())).expect("a launch");
        ys
    };
    let (sums, largest, scans) = (of(subgroups::group_sum), of(subgroups::group_largest), of(subgroups::group_scan));
    for (i, group) in xs.chunks(32).enumerate() {
        let own = 32 * i..32 * i + group.len();
        // Whole numbers of that size are added exactly.
        assert!(sums[own.clone()].iter().all(|sum| *sum == group.iter().sum::<f32>()));
        let max = group.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert!(largest[own.clone()].iter().all(|found| *found == max));
        let running: Vec<f32> = group
            .iter()
            .scan(0.0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
            .collect();
        assert_eq!(scans[own], running);
    }
}
