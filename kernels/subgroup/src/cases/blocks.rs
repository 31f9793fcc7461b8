//! Reductions over blocks: the tree does not depend on the width of sub-groups.

use super::folds::{sparse, tied, tree, uneven};
use super::{Case, Cases, Expected, Random, blocks, group_sizes, inputs, line};
use crate::RESULTS;
use crate::folds::{Affine, Fold, Last, words};
use crate::value::Pair;

/// A kernel, its values and what they come to.
#[derive(Clone, Copy)]
struct Operation {
    kernel: &'static str,
    value: fn(u32, &mut Random) -> u128,
    expected: fn(&[u128]) -> [u64; 2],
}

const OPERATIONS: [Operation; 6] = [
    Operation { kernel: "block_sum", value: |_, random| random.wide(), expected: expected::<u32> },
    Operation { kernel: "block_wide_sum", value: |_, random| random.wide(), expected: expected::<u128> },
    Operation { kernel: "block_rounded_sum", value: uneven, expected: expected::<f32> },
    Operation { kernel: "block_argmin", value: tied, expected: expected::<Pair> },
    Operation { kernel: "block_affine", value: |_, random| random.wide(), expected: expected::<Affine> },
    Operation { kernel: "block_last", value: sparse, expected: expected::<Last> },
];

/// The largest block, and one whose last sub-group is a single thread.
const MORE_BLOCKS: [[u32; 3]; 2] = [[32, 8, 4], [1, 993, 1]];

pub(super) fn cases(width: u32) -> Cases {
    let blocks: Vec<[u32; 3]> =
        group_sizes(width).into_iter().map(line).chain(blocks(width)).chain(MORE_BLOCKS).collect();
    let all = OPERATIONS
        .into_iter()
        .flat_map(move |operation| blocks.clone().into_iter().map(move |block| case(width, block, operation)));
    Box::new(all)
}

fn case(width: u32, block: [u32; 3], operation: Operation) -> Case {
    let threads: u32 = block.iter().product();
    let mut random = Random::new(u64::from(threads));
    let values: Vec<u128> = (0..threads).map(|thread| (operation.value)(thread, &mut random)).collect();
    let [low, high] = (operation.expected)(&values).map(Some);
    let mut expected: Expected = [Some(0); RESULTS];
    expected[..8].copy_from_slice(&[low, high, low, high, low, high, low, high]);
    Case {
        name: format!("{} in a block of {block:?} by {width}", operation.kernel),
        kernel: operation.kernel,
        width,
        block,
        threads: inputs(threads, |thread| {
            let value = values[thread as usize];
            vec![value as u64, (value >> 64) as u64]
        }),
        common: Vec::new(),
        expected: vec![expected; threads as usize],
    }
}

fn expected<T: Fold>(values: &[u128]) -> [u64; 2] {
    let values: Vec<T> = values.iter().map(|bits| T::from_bits(*bits)).collect();
    words(tree(&values, values.len().next_power_of_two()).unwrap_or(values[0]))
}
