//! The host's sub-groups keep the contract: all cases, with the native width and with others.

use device_std::host::{Launch, Order, Output};
use subgroup::cases::{Case, kernel};
use subgroup::{Input, RESULTS};

/// Runs every case for sub-groups of `width`, as its kernel where that is the host's own width.
fn run_all(width: u32, is_native: bool, order: Order) {
    run(Case::all(width), width, is_native, order);
}

fn run(cases: impl Iterator<Item = Case>, width: u32, is_native: bool, order: Order) {
    let mut run = 0;
    for case in cases {
        let Some(kernel) = kernel(case.kernel) else {
            // The only type that hosts cannot name.
            assert_eq!(case.kernel, "shuffle_primitive_f16");
            continue;
        };
        let Some(body) = kernel.body(width) else {
            assert!(kernel.name.starts_with("block_") && width < 32, "{}", kernel.name);
            continue;
        };
        let mut output = vec![u64::MAX; case.expected.len() * RESULTS];
        let parts = Output::new(&mut output);
        let launched = Launch::new(1, case.block).order(order).run(|| {
            if is_native {
                (kernel.native)(&case.threads, &case.common, parts.per_thread());
            } else {
                let results = body(Input::new(&case.threads, &case.common));
                *parts.per_thread().tile().expect("a part for every thread") = results;
            }
        });
        assert!(launched.is_ok(), "{}: {launched:?}", case.name);
        assert_eq!(case.check(&output), Ok(()));
        run += 1;
    }
    assert!(run > 400, "only {run} cases");
}

#[test]
fn kernels_keep_the_contract() {
    run_all(32, true, Order::Ascending);
}

#[test]
fn the_order_of_turns_does_not_show() {
    // Not all: how lanes meet does not depend on the type.
    run(Case::all(32).step_by(7), 32, true, Order::Shuffled(7));
}

#[test]
fn wide_sub_groups_keep_the_contract() {
    run_all(64, false, Order::Descending);
}

#[test]
fn narrow_sub_groups_keep_the_contract() {
    run_all(4, false, Order::Ascending);
}
