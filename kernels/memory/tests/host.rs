//! What the kernels compute, on the host.

use device_std::atomic::Atomic;
use device_std::host::{Error, Launch, Order, Output, launch};
use memory::{BLOCK, Numbers, TILE};

const ORDERS: [Order; 3] = [Order::Ascending, Order::Descending, Order::Shuffled(3)];

fn floats(many: usize) -> Vec<f32> {
    (0..many).map(|number| number as f32 + 0.25).collect()
}

#[test]
fn each_block_turns_its_part_around() {
    for order in ORDERS {
        let xs = floats(3 * BLOCK);
        let mut ys = vec![0.0; xs.len()];
        let out = Output::new(&mut ys);
        Launch::new(3, BLOCK as u32).order(order).run(|| memory::reverse(&xs, out.per_thread())).expect("a launch");
        let expected: Vec<f32> = xs.chunks(BLOCK).flat_map(|part| part.iter().rev().copied()).collect();
        assert_eq!(ys, expected);
    }
}

#[test]
fn instances_of_a_generic_function_have_arrays_of_their_own() {
    for order in ORDERS {
        let mut ys = vec![0; 100];
        let out = Output::new(&mut ys);
        Launch::new(1, 100).order(order).run(|| memory::instances(out.per_thread())).expect("a launch");
        let expected: Vec<u32> = (0..100).map(|i| (i + 1) % 100 + (i + 2) % 100 + (i + 3) % 100).collect();
        assert_eq!(ys, expected);
    }
}

#[test]
fn tiles_are_transposed() {
    let side = 3 * TILE;
    let xs = floats(side * side);
    let mut ys = vec![0.0; xs.len()];
    let out = ys.as_mut_ptr();
    // SAFETY: `ys` is as large as `xs`, and there is a thread for each element.
    let kernel = || unsafe { memory::transpose(&xs, out) };
    launch((3, 3), (TILE as u32, TILE as u32), 0, kernel).expect("a launch");
    for row in 0..side {
        for column in 0..side {
            assert_eq!(ys[column * side + row], xs[row * side + column]);
        }
    }
}

#[test]
fn vectors_go_to_the_neighbour() {
    let xs = floats(4 * 40);
    let mut ys = vec![0.0; xs.len()];
    let out = Output::new(&mut ys);
    launch(1, 40, 0, || memory::vectors(&xs, out.per_thread())).expect("a launch");
    assert_eq!(ys[..156], xs[4..]);
    assert_eq!(ys[156..], xs[..4]);
}

#[test]
fn dynamic_memory_has_the_size_of_the_launch() {
    for bytes in [0, 1, 100, 227 << 10] {
        let mut ys = [9];
        let out = Output::new(&mut ys);
        launch(1, 1, bytes, || memory::dynamic_size(out.per_thread())).expect("a launch");
        assert_eq!(ys, [bytes as u64]);
    }
    let refused = launch(1, 1, (227 << 10) + 1, || {});
    assert!(matches!(refused, Err(Error::DynamicShared(_))), "{refused:?}");
    assert_eq!(
        refused.expect_err("refused").to_string(),
        "232449 bytes of dynamic shared memory cannot be launched: the largest GPUs give a block 232448"
    );
}

#[test]
fn parts_of_dynamic_memory_do_not_overlap() {
    for order in ORDERS {
        let mut ys = [0; 33];
        let out = Output::new(&mut ys);
        let kernel = || memory::dynamic_parts(out.per_thread());
        Launch::new(1, 33).dynamic_shared(9 * 33).order(order).run(kernel).expect("a launch");
        for (i, y) in ys.into_iter().enumerate() {
            assert_eq!(y, 10 * ((i as u64 + 1) % 33) + (i as u64 + 2) % 33);
        }
    }
}

#[test]
fn too_little_dynamic_memory_is_noticed() {
    let mut ys = [0; 33];
    let out = Output::new(&mut ys);
    let outcome = launch(1, 33, 9 * 33 - 1, || memory::dynamic_parts(out.per_thread()));
    match outcome {
        Err(Error::Panicked { thread: [32, 0, 0], message, .. }) => {
            assert_eq!(message, "an index is out of range of a shared array");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn shared_memory_is_each_blocks_own_and_starts_unwritten() {
    use device_std::{block, shared, thread};
    let seen = std::cell::RefCell::new(Vec::new());
    launch(2, 2, 4, || {
        let (number, dynamic) = (shared!(u32), shared::dynamic::<u32>());
        if block::thread_index() == 0 {
            // SAFETY: only this thread is there before the barrier; on a host unwritten memory is filled.
            seen.borrow_mut().push(unsafe { (number.get(), dynamic.read(0)) });
            // SAFETY: as above.
            unsafe { number.set(thread::block_idx_x()) };
            // SAFETY: as above.
            unsafe { dynamic.write(0, 7) };
        }
        block::barrier();
        // SAFETY: it is written, and not again.
        assert_eq!(unsafe { number.get() }, thread::block_idx_x());
    })
    .expect("a launch");
    assert_eq!(seen.into_inner(), [(u32::MAX, u32::MAX); 2]);
}

#[test]
fn more_static_memory_than_a_gpu_has_is_reported() {
    use device_std::shared;
    let outcome = launch(1, 1, 0, || {
        let _ = (shared!([u64; 4096]), shared!([u64; 2048]));
        let _ = shared!(u8);
    });
    match outcome {
        Err(Error::Panicked { message, .. }) => {
            assert_eq!(message, "static shared memory ends at 48 KB, and the block asks for 49153 bytes of it");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn arrays_are_aligned_as_asked() {
    use device_std::shared;
    launch(1, 1, 1, || {
        let _ = shared!(u8);
        assert!(shared!([u8; 3], align = 128).as_ptr().addr().is_multiple_of(128));
        assert!(shared!([u8; 3], align = 16).as_ptr().addr().is_multiple_of(16));
        assert!(shared::dynamic::<u8>().as_ptr().addr().is_multiple_of(16));
        assert!(shared!([u64; 0]).as_slice().is_empty());
    })
    .expect("a launch");
}

#[test]
fn any_number_of_threads_squares_everything() {
    let xs = floats(50);
    for (grid, block) in [(1, 1), (2, 7), (1, 50), (4, 16)] {
        let mut ys = vec![0.0; xs.len()];
        let out = Output::new(&mut ys);
        launch(grid, block, 0, || memory::square(&xs, out.per_thread())).expect("a launch");
        assert_eq!(ys, xs.iter().map(|x| x * x).collect::<Vec<f32>>());
    }
}

#[test]
fn whole_tiles_are_scaled() {
    let xs = floats(11);
    let mut ys = vec![0.0; 11];
    let out = Output::new(&mut ys);
    launch(1, 4, 0, || memory::scale_tiles(&xs, 2.0, out.per_thread())).expect("a launch");
    let expected: Vec<f32> = xs.iter().take(8).map(|x| 2.0 * x).chain([0.0; 3]).collect();
    assert_eq!(ys, expected);
}

#[test]
fn a_histogram_counts_everything() {
    let xs: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(i)).collect();
    for order in ORDERS {
        let mut bins = [5; 64];
        let atomics = Atomic::from_mut_slice(&mut bins);
        Launch::new(3, 40).order(order).run(|| memory::histogram(&xs, atomics)).expect("a launch");
        for (bin, count) in bins.iter().enumerate() {
            let expected = xs.iter().filter(|x| **x as usize % 64 == bin).count();
            assert_eq!(*count, 5 + expected as u64);
        }
    }
}

#[test]
fn a_thread_can_wait_for_another_ones_write() {
    for order in ORDERS {
        let (mut words, mut flags, mut ys) = ([0; 2], [0; 2], [0; 8]);
        let (words, flags) = (Atomic::from_mut_slice(&mut words), Atomic::from_mut_slice(&mut flags));
        let out = Output::new(&mut ys);
        let kernel = || memory::message(words, flags, out.per_thread());
        Launch::new(2, 4).order(order).run(kernel).expect("a launch");
        assert_eq!(ys, [0x1000, 0, 0, 0, 0x1001, 0, 0, 0]);
    }
}

#[test]
fn every_atomic_operation_does_what_it_says() {
    use device_std::atomic::{Block, Relaxed};
    let numbers = Numbers {
        wide: Atomic::new(100),
        signed_wide: Atomic::new(-100),
        double: Atomic::new(1.5),
        short: Atomic::new(100),
        signed_short: Atomic::new(-100),
        float: Atomic::new(1.5),
    };
    launch(1, 1, 0, || memory::every_operation(std::slice::from_ref(&numbers))).expect("a launch");
    // 21 is left of add and subtract; min, max, and leave it; 0x100 is set, and 0x11 flipped; swapped away and back.
    assert_eq!(numbers.wide.load(Relaxed, Block), (21 | 0x100) ^ 0x11);
    assert_eq!(numbers.short.load(Relaxed, Block), (21 | 0x100) ^ 0x11);
    // -21, the lesser of it and -1000, the greater of that and 5, masked, set, flipped.
    assert_eq!(numbers.signed_wide.load(Relaxed, Block), (5 | 0x100) ^ -2);
    assert_eq!(numbers.signed_short.load(Relaxed, Block), (5 | 0x100) ^ -2);
    // Two halves are added each time, twice.
    assert_eq!((numbers.double.load(Relaxed, Block), numbers.float.load(Relaxed, Block)), (3.5, 3.5));
}
