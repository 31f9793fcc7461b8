//! The host backend: blocks in turn, threads that meet, and what is reported where they do not.

use device_std::host::{Error, Launch, MAX_BLOCK, Order, Output, Rows, launch};
use device_std::subgroup::{self, HostGroup, Segments};
use device_std::{block, thread};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const ORDERS: [Order; 4] = [Order::Ascending, Order::Descending, Order::Shuffled(1), Order::Shuffled(2)];

/// The waits of a deadlock.
fn deadlock(outcome: Result<(), Error>) -> Vec<device_std::host::Wait> {
    match outcome {
        Err(Error::Deadlock { waits, .. }) => waits,
        other => panic!("no deadlock: {other:?}"),
    }
}

#[test]
fn every_thread_of_every_block_runs_once_in_order() {
    let seen = RefCell::new(Vec::new());
    launch((2, 1, 2), (2, 3), 0, || {
        let block = [thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z()];
        seen.borrow_mut().push((block, thread::thread_idx_x(), thread::thread_idx_y()));
        assert_eq!((thread::grid_dim_z(), thread::block_dim_y(), block::threads()), (2, 3, 6));
    })
    .expect("a kernel that only looks around");
    let threads = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)];
    let blocks = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]];
    let expected: Vec<_> = blocks.iter().flat_map(|block| threads.map(|(x, y)| (*block, x, y))).collect();
    assert_eq!(*seen.borrow(), expected);
}

#[test]
fn a_launch_takes_the_same_course_every_time() {
    let course = |order| {
        let seen = RefCell::new(Vec::new());
        let outcome = Launch::new(2, 7).order(order).run(|| {
            for _ in 0..3 {
                seen.borrow_mut().push(block::thread_index());
                subgroup::barrier();
            }
        });
        assert!(outcome.is_ok());
        seen.into_inner()
    };
    for order in ORDERS {
        assert_eq!(course(order), course(order));
    }
    assert_ne!(course(Order::Ascending), course(Order::Descending));
    assert_ne!(course(Order::Shuffled(1)), course(Order::Shuffled(2)));
}

#[test]
fn all_wait_at_a_barrier_in_every_order() {
    for order in ORDERS {
        let (before, after) = (Cell::new(0), Cell::new(0));
        let outcome = Launch::new(1, 100).order(order).run(|| {
            for round in 1..=3 {
                before.set(before.get() + 1);
                block::barrier();
                assert_eq!(before.get(), 100 * round);
                after.set(after.get() + 1);
                block::barrier();
                assert_eq!(after.get(), 100 * round);
            }
        });
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[test]
fn a_barrier_of_a_sub_group_waits_for_no_other() {
    // The second sub-group returns at once.
    let outcome = launch(1, 64, 0, || {
        if subgroup::id() == 0 {
            subgroup::barrier();
        }
    });
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn segments_run_apart() {
    // Each segment of 8 goes through a number of exchanges of its own.
    let sums = RefCell::new(vec![0; 37]);
    let outcome = launch(1, 37, 0, || {
        let eight = subgroup::segments::<8>();
        let mut sum = eight.lane();
        for _ in 0..eight.index() {
            sum = eight.reduce(sum, |a, b| a.max(b) + 1);
        }
        sums.borrow_mut()[block::thread_index() as usize] = sum;
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(sums.borrow()[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(sums.borrow()[8..16], [10; 8]);
    assert_eq!(sums.borrow()[24..32], [16; 8]);
    // Lanes 0 to 4 alone; the sub-group of these counts its segments anew.
    assert_eq!(sums.borrow()[32..], [0, 1, 2, 3, 4]);
}

#[test]
fn lanes_that_never_come_are_named() {
    let line = line!() + 3;
    let outcome = launch(1, 40, 0, || {
        if subgroup::lane() < 4 {
            subgroup::shfl(1, 0);
        }
    });
    let text = outcome.as_ref().expect_err("a deadlock").to_string();
    let file = file!();
    assert_eq!(
        text,
        format!(
            "deadlock in block [0, 0, 0]: lanes 0-3 of sub-group 0 wait in `shfl` at {file}:{line}:13 for 4-31, which \
             have returned; lanes 0-3 of sub-group 1 wait in `shfl` at {file}:{line}:13 for 4-7, which have returned"
        )
    );
    let waits = deadlock(outcome);
    assert_eq!(
        (waits[1].sub_group, &waits[1].waiting[..], &waits[1].returned[..]),
        (Some(1), &[0, 1, 2, 3][..], &[4, 5, 6, 7][..])
    );
}

#[test]
fn divergent_lanes_do_not_exchange_by_accident() {
    let outcome = launch(1, 32, 0, || {
        if subgroup::lane().is_multiple_of(2) {
            subgroup::shfl_xor(0u8, 1);
        } else {
            subgroup::shfl_xor(1u8, 1);
        }
    });
    let waits = deadlock(outcome);
    assert_eq!(waits.len(), 2);
    assert_eq!(waits[0].waiting, waits[1].missing);
    assert_eq!(waits[0].location.line() + 2, waits[1].location.line());
}

#[test]
fn a_block_barrier_in_a_branch_is_reported() {
    let outcome = launch(3, (3, 2), 0, || {
        if thread::block_idx_x() == 1 && thread::thread_idx_y() == 1 {
            return;
        }
        if thread::block_idx_x() == 1 && thread::thread_idx_x() == 1 {
            subgroup::barrier();
        }
        block::barrier();
    });
    assert!(matches!(outcome, Err(Error::Deadlock { block: [1, 0, 0], .. })), "{outcome:?}");
    let waits = deadlock(outcome);
    let barrier = &waits[0];
    assert_eq!((barrier.operation, barrier.sub_group), ("barrier", None));
    assert_eq!(
        (&barrier.waiting[..], &barrier.missing[..], &barrier.returned[..]),
        (&[0, 2][..], &[1][..], &[3, 4, 5][..])
    );
    assert!(waits[0].to_string().contains("threads 0, 2 wait"), "{}", waits[0]);
    assert!(waits[0].to_string().ends_with("for 1, and for 3-5, which have returned"), "{}", waits[0]);
}

#[test]
fn waiting_for_memory_that_nobody_writes_is_reported() {
    use device_std::atomic::{Acquire, Atomic, Block};
    let flag = Atomic::new(0u32);
    let outcome = Launch::new(1, 6).patience(1000).run(|| {
        if thread::thread_idx_x() % 4 < 2 {
            while flag.load(Acquire, Block) == 0 {}
        }
        subgroup::barrier();
    });
    match &outcome {
        Err(Error::Stalled { block: [0, 0, 0], threads, operations: 1000 }) => assert_eq!(threads, &[0, 1, 4, 5]),
        other => panic!("{other:?}"),
    }
    assert!(outcome.expect_err("stalled").to_string().contains("threads 0-1, 4-5 have done 1000 atomic operations"));
}

#[test]
fn threads_that_get_on_are_not_taken_for_stalled() {
    use device_std::atomic::{Atomic, Block, Relaxed};
    let counter = Atomic::new(0u32);
    let outcome = Launch::new(2, 10).patience(100).run(|| {
        for _ in 0..5 {
            for _ in 0..10 {
                counter.fetch_add(1, Relaxed, Block);
            }
            block::barrier();
        }
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(counter.load(Relaxed, Block), 1000);
}

#[test]
fn a_panic_names_block_and_thread_and_ends_the_launch() {
    let started = Cell::new(0);
    let outcome = launch(4, (2, 2), 0, || {
        started.set(started.get() + 1);
        if thread::block_idx_x() == 1 && thread::thread_idx_y() == 1 {
            let [x, y] = [thread::thread_idx_x(), thread::thread_idx_y()];
            panic!("found ({x}, {y})");
        }
    });
    match outcome {
        Err(Error::Panicked { block, thread, message }) => {
            assert_eq!((block, thread, &message[..]), ([1, 0, 0], [0, 1, 0], "found (0, 1)"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(started.get(), 4 + 3);
}

#[test]
fn threads_that_wait_are_unwound_when_a_launch_fails() {
    /// Waits once more while it is dropped, as a guard of a kernel may.
    struct Guard(Rc<Cell<u32>>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            block::barrier();
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let outcome = launch(1, 8, 0, || {
        let guard = Guard(Rc::clone(&dropped));
        assert!(block::thread_index() != 5, "thread 5 gives up");
        block::barrier();
        drop(guard);
    });
    assert!(matches!(outcome, Err(Error::Panicked { thread: [5, 0, 0], .. })), "{outcome:?}");
    // Threads 0 to 4 wait. The panicking one unwinds itself, and there its guard waits in vain: that comes first.
    assert_eq!(dropped.get(), 6);
    assert_eq!(Rc::strong_count(&dropped), 1);
    // The next launch finds nothing left over.
    assert!(launch(1, 8, 0, || block::barrier()).is_ok());
}

#[test]
fn what_cannot_be_launched_is_refused() {
    let nothing = || {};
    assert!(matches!(launch(0, 1, 0, nothing), Err(Error::Grid([0, 1, 1]))));
    assert!(matches!(launch(1, (4, 0), 0, nothing), Err(Error::Block([4, 0, 1]))));
    assert!(matches!(launch(1, MAX_BLOCK + 1, 0, nothing), Err(Error::Block(_))));
    assert!(matches!(launch(1, (u32::MAX, u32::MAX, u32::MAX), 0, nothing), Err(Error::Block(_))));
    assert!(launch(1, MAX_BLOCK, 0, nothing).is_ok());
    let text = launch(1, (64, 32), 0, nothing).expect_err("too large").to_string();
    assert_eq!(
        text,
        "a block of 64 x 32 x 1 threads cannot be launched: each dimension must be at least 1, and all together at most 1024"
    );
}

#[test]
fn a_thread_that_is_alone_needs_no_launch() {
    assert_eq!(subgroup::reduce(7, |a, b| a + b), 7);
    assert_eq!((subgroup::ballot(true), subgroup::size(), subgroup::count()), (1, 1, 1));
    assert_eq!(Segments::<HostGroup<64>>::WHOLE.exclusive_scan('x', 'y', |_, x| x), 'y');
    block::barrier();
    subgroup::barrier();
}

#[test]
#[should_panic(expected = "`ballot` at device-std/tests/host.rs")]
fn others_that_no_launch_runs_are_missed() {
    let position = thread::host::Position { block_dim: [2, 1, 1], ..thread::host::Position::ALONE };
    thread::host::at(position, || subgroup::ballot(true));
}

#[test]
fn a_launch_within_a_launch_is_one_of_its_own() {
    let inner = Cell::new(0);
    let outcome = launch(1, 3, 0, || {
        launch(1, 2, 0, || {
            block::barrier();
            inner.set(inner.get() + thread::block_dim_x());
        })
        .expect("the inner launch");
        assert_eq!(thread::block_dim_x(), 3);
        block::barrier();
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(inner.get(), 3 * 2 * 2);
}

#[test]
fn each_thread_has_its_own_part_of_an_output() {
    // 2 x 2 blocks of 3 x 2 threads: 24 threads and 10 whole tiles of 5.
    let mut buffer = vec![0; 53];
    let out = Output::<_, 5>::new(&mut buffer);
    launch((2, 2), (3, 2), 0, || {
        let mut part = out.per_thread();
        let number = part.index() + 1;
        if let Some(tile) = part.tile() {
            tile.fill(number);
        }
    })
    .expect("a kernel that waits for nothing");
    let tiles = (1..=10).flat_map(|number| [number; 5]);
    assert_eq!(buffer, tiles.chain([0; 3]).collect::<Vec<usize>>());
}

#[test]
fn few_threads_have_many_elements_each() {
    let mut buffer = vec![0; 11];
    let out = Output::new(&mut buffer);
    launch(2, 2, 0, || {
        let mut part = out.per_thread();
        let number = part.index();
        for (turn, element) in part.elements().enumerate() {
            *element = 10 * turn + number;
        }
        assert_eq!(part.element().copied(), Some(number));
    })
    .expect("a kernel that waits for nothing");
    assert_eq!(buffer, [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22]);
}

#[test]
fn an_output_is_not_handed_out_twice() {
    fn take(out: &Output<'_, u8>) {
        let _part = out.per_thread();
    }
    let twice = |second: &dyn Fn(&Output<'_, u8>)| {
        let mut buffer = [0; 8];
        let out = Output::new(&mut buffer);
        assert!(launch(1, 4, 0, || take(&out)).is_ok());
        launch(1, 2, 0, || second(&out))
    };
    assert!(matches!(twice(&take), Err(Error::Panicked { .. })));
    let mut buffer = [0; 8];
    let out: Output<'_, u8> = Output::new(&mut buffer);
    let outcome = launch(1, 1, 0, || {
        let _parts = (out.per_thread(), out.per_thread());
    });
    assert!(matches!(outcome, Err(Error::Panicked { .. })), "{outcome:?}");
}

#[test]
fn each_block_has_a_row_and_its_threads_tiles_and_single_elements_of_it() {
    // 2 x 3 blocks of 3 x 1 threads, rows of 8 tiles of 2 and one element more.
    let mut buffer = vec![0; 6 * 17 + 1];
    let rows = Rows::<_, 2>::new(&mut buffer, 17);
    launch((2, 3), (3, 1), 0, || {
        let mut part = rows.per_block();
        let owner = 10 * (device_std::block::index() + 1) + part.index();
        assert_eq!((part.columns(), part.rest_start()), (17, 16));
        for tile in part.tiles() {
            tile.fill(owner);
        }
        for element in part.rest() {
            *element = owner + 5;
        }
    })
    .expect("a kernel that waits for nothing");
    let row = |block: usize| (0..8).flat_map(move |tile| [10 * block + tile % 3; 2]).chain([10 * block + 5]);
    assert_eq!(buffer, (1..=6).flat_map(row).chain([0]).collect::<Vec<usize>>());
}

#[test]
fn single_elements_are_divided_too() {
    let mut buffer = [0; 7];
    let rows = Rows::<_, 4>::new(&mut buffer, 7);
    launch(1, 2, 0, || {
        let mut part = rows.per_block();
        let owner = part.index() + 1;
        part.tiles().for_each(|tile| tile.fill(owner));
        part.rest().for_each(|element| *element = owner);
    })
    .expect("a kernel that waits for nothing");
    assert_eq!(buffer, [1, 1, 1, 1, 1, 2, 1]);
}

#[test]
fn a_single_thread_has_the_whole_row() {
    let mut buffer = [0; 7];
    let rows = Rows::<_, 4>::new(&mut buffer, 7);
    launch(1, 1, 0, || {
        let mut part = rows.per_block();
        part.tiles().for_each(|tile| tile.fill(1));
        assert_eq!(part.tile(), Some(&mut [1; 4]));
        part.rest().for_each(|element| *element += 2);
    })
    .expect("a kernel that waits for nothing");
    assert_eq!(buffer, [1, 1, 1, 1, 2, 2, 2]);
}

#[test]
fn rows_are_not_handed_out_twice_nor_beyond_the_buffer() {
    let message = |outcome: Result<(), Error>| match outcome {
        Err(Error::Panicked { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    fn take(rows: &Rows<'_, u8>) {
        let _part = rows.per_block();
    }
    let twice = "an output gives each thread its part once: make a new `Rows` for each launch";
    let mut buffer = [0; 8];
    let rows = Rows::new(&mut buffer, 2);
    assert!(launch(4, 2, 0, || take(&rows)).is_ok());
    // As many threads, and other rows.
    assert_eq!(message(launch(2, 4, 0, || take(&rows))), twice);
    let rows = Rows::new(&mut buffer, 2);
    assert_eq!(message(launch(1, 1, 0, || (take(&rows), take(&rows)).0)), twice);
    let rows = Rows::new(&mut buffer, 2);
    let short = "a buffer of 8 elements has no row of 2 for each of 5 blocks";
    assert_eq!(message(launch(5, 1, 0, || take(&rows))), short);
}

#[test]
fn a_made_up_position_gets_no_other_threads_part() {
    use device_std::thread::host::{Position, at};
    let mut buffer = [0; 8];
    let rows: Rows<'_, u8> = Rows::new(&mut buffer, 4);
    let position = Position { thread_idx: [2, 0, 0], block_idx: [0; 3], block_dim: [2, 1, 1], grid_dim: [2, 1, 1] };
    let take = || at(position, || rows.per_block().columns());
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(take));
    assert!(outcome.is_err(), "thread 2 of a block of two would share elements with thread 0");
}
