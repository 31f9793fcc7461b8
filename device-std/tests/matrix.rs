//! Fragments, tiles and products on the host, held to the definitions in their documentation.

use std::cell::RefCell;
use std::collections::BTreeSet;

use device_std::host::{Error, Launch, Order, launch};
use device_std::math::{Bf16, F16};
use device_std::matrix::wgmma::{self, Sums, Tile};
use device_std::matrix::{A, Accumulator, B, Element, SharedTile, mma};
use device_std::shared::Shared;
use device_std::{block, shared, subgroup};

/// Is every element of the matrix held by one lane, once, and does `holder` know it?
#[track_caller]
fn check_layout(
    (rows, columns): (usize, usize),
    (threads, elements): (u32, usize),
    place: impl Fn(usize, u32) -> (usize, usize),
    holder: impl Fn(usize, usize) -> (u32, usize),
) {
    let mut held = BTreeSet::new();
    for thread in 0..threads {
        for i in 0..elements {
            let (row, column) = place(i, thread);
            assert!(row < rows && column < columns, "thread {thread} holds nothing at ({row}, {column})");
            assert!(held.insert((row, column)), "({row}, {column}) is held twice");
            assert_eq!(holder(row, column), (thread, i));
        }
    }
    assert_eq!(held.len(), rows * columns);
}

#[test]
fn every_element_is_held_by_one_lane() {
    type L = A<Bf16>;
    type R = B<Bf16>;
    let acc = |i, lane| (Accumulator::row(i, lane), Accumulator::column(i, lane));
    check_layout((L::ROWS, L::COLUMNS), (32, L::ELEMENTS), |i, l| (L::row(i, l), L::column(i, l)), L::holder);
    check_layout((R::ROWS, R::COLUMNS), (32, R::ELEMENTS), |i, l| (R::row(i, l), R::column(i, l)), R::holder);
    check_layout((16, 8), (32, Accumulator::ELEMENTS), acc, Accumulator::holder);
    check_layout((64, 64), (128, 32), |i, t| (Sums::row(i, t), Sums::column(i, t)), Sums::holder);
}

/// The first places of some lanes, as the PTX ISA's figures have them.
#[test]
fn lanes_hold_what_the_isa_says() {
    let a = |i, lane| (A::<F16>::row(i, lane), A::<F16>::column(i, lane));
    assert_eq!([a(0, 0), a(1, 0), a(2, 0), a(4, 0), a(7, 31)], [(0, 0), (0, 1), (8, 0), (0, 8), (15, 15)]);
    let b = |i, lane| (B::<F16>::row(i, lane), B::<F16>::column(i, lane));
    assert_eq!([b(0, 0), b(1, 0), b(2, 0), b(0, 4), b(3, 31)], [(0, 0), (1, 0), (8, 0), (0, 1), (15, 7)]);
    let c = |i, lane| (Accumulator::row(i, lane), Accumulator::column(i, lane));
    assert_eq!([c(0, 0), c(1, 0), c(2, 0), c(0, 4), c(3, 31)], [(0, 0), (0, 1), (8, 0), (1, 0), (15, 7)]);
    let d = |i, thread| (Sums::row(i, thread), Sums::column(i, thread));
    assert_eq!([d(2, 0), d(4, 0), d(0, 32), d(31, 127)], [(8, 0), (0, 8), (16, 0), (63, 63)]);
}

/// A number that a 16-bit format holds, other for every place.
fn number(row: usize, column: usize) -> f32 {
    (16 * row + column) as f32 - 100.0
}

fn check_product<T: Element>() {
    // Products of 2^-12 vanish beside 1 in single precision, unless they are added up first.
    let small = 1.0 / 4096.0;
    launch(1, 64, 0, || {
        let a = A::from_fn(|row, column| T::from_f32(if column < 8 { (row + column) as f32 } else { small }));
        let b = B::from_fn(|row, column| T::from_f32(if row < 8 { column as f32 - row as f32 } else { small }));
        let c = Accumulator::from_fn(|row, column| if column == 0 { 16_777_216.0 } else { number(row, column) });
        mma(a, b, c).for_each(|row, column, found| {
            let whole: f64 = (0..8).map(|k| (row + k) as f64 * (column as f64 - k as f64)).sum();
            let products = whole + 8.0 * f64::from(small * small);
            let own = if column == 0 { 16_777_216.0 } else { f64::from(number(row, column)) };
            assert_eq!(found, (products + own) as f32, "({row}, {column})");
        });
    })
    .expect("a launch");
}

#[test]
fn products_are_added_exactly_and_rounded_once() {
    check_product::<Bf16>();
    check_product::<F16>();
}

/// Small numbers before a large one: the order of the sum decides whether they are still there.
#[test]
fn products_are_added_in_the_order_of_k_and_the_accumulator_last() {
    let huge = 2f32.powi(60);
    launch(1, 32, 0, || {
        let ones = A::from_fn(|_, _| Bf16::from_f32(1.0));
        let b = B::from_fn(|row, _| Bf16::from_f32([huge, 1.0, -huge, 2.0].get(row).copied().unwrap_or(0.0)));
        // The 1 is lost beside the large number, the 2 comes after that has gone; the accumulator is added to what is left.
        mma(ones, b, Accumulator([0.5; 4])).for_each(|_, _, sum| assert_eq!(sum, 2.5));
        mma(ones, B::from_fn(|_, _| Bf16::from_f32(1.0)), Accumulator([huge; 4]))
            .for_each(|_, _, sum| assert_eq!(sum, huge));
    })
    .expect("a launch");
}

#[test]
fn results_become_operands_in_their_lanes() {
    launch(1, 32, 0, || {
        let left = Accumulator::from_fn(|row, column| number(row, column) * 1.0001);
        let right = Accumulator::from_fn(|row, column| number(row, column + 8) * 1.0001);
        let a = A::<Bf16>::from_accumulators(left, right);
        let wanted = A::from_fn(|row, column| Bf16::from_f32(number(row, column)));
        assert_eq!(a.registers(), wanted.registers());
        assert_eq!(a.elements().map(Bf16::to_bits), wanted.elements().map(Bf16::to_bits));
        assert_eq!(A::from_elements(a.elements()).registers(), a.registers());
        let halves = a.transpose();
        for (first, half) in [(0, halves[0]), (8, halves[1])] {
            let wanted = B::from_fn(|row, column| Bf16::from_f32(number(column + first, row)));
            assert_eq!(half.registers(), wanted.registers());
        }
    })
    .expect("a launch");
}

#[test]
fn accumulators_are_stored_and_loaded_by_rows() {
    let memory = RefCell::new(vec![f32::NAN; 16 * 11]);
    let place = memory.borrow_mut().as_mut_ptr();
    launch(1, 32, 0, || {
        let sums = Accumulator::from_fn(number);
        // SAFETY: 16 rows of 8 begin 11 elements after each other, and each lane has elements of its own.
        unsafe {
            sums.store(place, 11);
            assert_eq!(Accumulator::load(place, 11), sums);
        }
    })
    .expect("a launch");
    for (at, found) in memory.into_inner().into_iter().enumerate() {
        let (row, column) = (at / 11, at % 11);
        assert!(if column < 8 { found == number(row, column) } else { found.is_nan() }, "({row}, {column}): {found}");
    }
}

/// A matrix of 32 x 32 in shared memory, element (r, c) holding its place, by rows of 40.
fn filled() -> SharedTile<F16> {
    let tile = SharedTile::new(shared!([F16; 32 * 40], align = 16).as_slice(), 40);
    for at in (subgroup::lane() as usize..1024).step_by(32) {
        // SAFETY: each lane writes elements of its own, and all read after the barrier.
        unsafe { tile.memory().write(tile.index(at / 32, at % 32), F16::from_bits(at as u16)) };
    }
    subgroup::barrier();
    tile
}

#[test]
fn fragments_are_loaded_from_any_part_of_a_tile() {
    for order in [Order::Ascending, Order::Shuffled(5)] {
        let launch = Launch::new(1, 32).order(order);
        let run = || {
            let tile = filled().at(5, 8).at(3, 8);
            let element = |row: usize, column: usize| F16::from_bits((32 * (row + 8) + column + 16) as u16);
            // SAFETY: everything was written.
            unsafe {
                assert_eq!(A::load(tile).registers(), A::from_fn(element).registers());
                assert_eq!(A::load_transposed(tile).registers(), A::from_fn(|r, c| element(c, r)).registers());
                assert_eq!(B::load(tile).registers(), B::from_fn(element).registers());
                assert_eq!(B::load_transposed(tile).registers(), B::from_fn(|r, c| element(c, r)).registers());
                let pair = [B::from_fn(element), B::from_fn(|r, c| element(r, c + 8))];
                assert_eq!(B::load_pair(tile).map(B::registers), pair.map(B::registers));
                let pair = [B::from_fn(|r, c| element(c, r)), B::from_fn(|r, c| element(c + 8, r))];
                assert_eq!(B::load_pair_transposed(tile).map(B::registers), pair.map(B::registers));
            }
        };
        launch.run(run).expect("a launch");
    }
}

/// What a launch said that failed.
#[track_caller]
fn message(threads: u32, kernel: impl Fn()) -> String {
    launch(1, threads, 0, kernel).expect_err("it cannot go on").to_string()
}

fn product_of_zeros() -> Accumulator {
    let (a, b) = (A::<Bf16>::from_registers([0; 4]), B::from_registers([0; 2]));
    mma(a, b, Accumulator::ZERO)
}

#[test]
fn a_lane_that_does_not_exist_is_reported() {
    let said = message(40, || _ = product_of_zeros());
    assert!(said.contains("`mma` at") && said.contains("lane 8 of sub-group 1 does not exist"), "{said}");
    let said = std::panic::catch_unwind(product_of_zeros).expect_err("a thread alone has no lanes");
    let said = said.downcast_ref::<String>().expect("a message");
    assert!(said.contains("tests/matrix.rs") && said.contains("lane 1 of sub-group 0 does not exist"), "{said}");
}

#[test]
fn a_lane_that_does_not_come_is_reported() {
    let error = launch(1, 32, 0, || {
        if subgroup::lane() != 7 {
            product_of_zeros();
        }
    });
    let Err(Error::Deadlock { waits, .. }) = error else { panic!("{error:?}") };
    assert_eq!((waits[0].operation, &*waits[0].returned), ("mma", &[7][..]));
}

#[test]
fn rows_must_be_aligned_and_in_the_memory() {
    // SAFETY: nothing is loaded.
    let load = |row, column| message(32, || _ = unsafe { A::load(filled().at(row, column)) });
    let said = load(0, 4);
    assert!(said.contains("multiples of 16 bytes"), "{said}");
    let said = load(24, 0);
    assert!(said.contains("out of range"), "{said}");
}

/// Two operands of a warpgroup's product, the left one filled with `left(line, depth)`.
fn operands<const TA: bool, const TB: bool>(
    left: impl Fn(usize, usize) -> f32,
    right: impl Fn(usize, usize) -> f32,
) -> (Tile<Bf16, TA>, Tile<Bf16, TB>) {
    let (a, b) = (shared!([Bf16; 4096], align = 16), shared!([Bf16; 1024], align = 16));
    // Distances that leave gaps, with the cores of neighbouring lines nearer than those of another depth.
    let (a_tile, b_tile) = (Tile::new(a.as_slice(), 1800, 104), Tile::packed(b.as_slice()));
    let write = |memory: Shared<[Bf16]>, at: usize, value: f32| {
        // SAFETY: each thread writes elements of its own, and all read after the barrier.
        unsafe { memory.write(at, Bf16::from_f32(value)) };
    };
    for at in (block::thread_index() as usize..1024).step_by(128) {
        let (line, depth) = (at / 16, at % 16);
        write(a.as_slice(), a_tile.index(line, depth), left(line, depth));
        write(b.as_slice(), b_tile.index(line, depth), right(line, depth));
    }
    wgmma::publish();
    block::barrier();
    (a_tile, b_tile)
}

fn check_warpgroup<const TA: bool, const TB: bool>() {
    let left = |line: usize, depth: usize| (line + 3 * depth) as f32;
    let right = |line: usize, depth: usize| line as f32 - (depth * depth) as f32 / 4.0;
    launch(1, 128, 0, || {
        let (a, b) = operands::<TA, TB>(left, right);
        let mut sums = Sums([0.25; 32]);
        // SAFETY: all threads come by, the operands were written, and nothing is touched before the wait.
        unsafe {
            wgmma::fence(&mut sums);
            wgmma::mma_async(&mut sums, a, b);
            wgmma::mma_async(&mut sums, a, b);
            wgmma::commit_group();
            wgmma::wait_group::<0>(&mut sums);
        }
        sums.for_each(|row, column, sum| {
            let product: f64 = (0..16).map(|k| f64::from(left(row, k)) * f64::from(right(column, k))).sum();
            assert_eq!(sum, (2.0 * product + 0.25) as f32, "({row}, {column})");
        });
    })
    .expect("a launch");
}

#[test]
fn a_warpgroup_multiplies_tiles_of_either_order() {
    check_warpgroup::<false, false>();
    check_warpgroup::<true, false>();
    check_warpgroup::<false, true>();
    check_warpgroup::<true, true>();
}

#[test]
fn a_part_of_a_warpgroup_is_reported() {
    // SAFETY: nothing is computed.
    let said = message(96, || unsafe { wgmma::fence(&mut Sums::ZERO.clone()) });
    assert!(said.contains("`wgmma::fence` at") && said.contains("a multiple of 128 threads"), "{said}");
}

#[test]
fn a_tile_that_the_instruction_cannot_read_is_reported() {
    let run = |tile: fn(Shared<[Bf16]>) -> Tile<Bf16>| {
        message(128, || {
            let tile = tile(shared!([Bf16; 2048], align = 16).as_slice());
            // SAFETY: nothing is computed.
            unsafe { wgmma::mma_async(&mut Sums::ZERO.clone(), tile, tile) };
        })
    };
    let said = run(|memory| Tile::new(memory, 64, 512));
    assert!(said.contains("beyond its memory"), "{said}");
    let said = run(|memory| Tile::new(memory, 64, 132));
    assert!(said.contains("[64, 132] elements apart"), "{said}");
    let said = run(|memory| Tile::packed(memory.split_at(4).1));
    assert!(said.contains("a multiple of 16 bytes"), "{said}");
}
