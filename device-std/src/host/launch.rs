//! A launch: blocks one after another, the threads of a block in turns.

use super::order::Order;
use crate::stand_in::{Block, Error, MAX_BLOCK, MAX_DYNAMIC_SHARED, Status, Switch, lane};
use crate::thread::host::Position;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::any::Any;
use std::borrow::ToOwned;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::string::String;
use std::thread_local;
use std::vec::Vec;

/// The bytes of a thread's stack, unless asked otherwise. Memory is taken as it is touched.
const STACK: usize = 1 << 20;

/// How many atomic operations threads may do with nothing else happening: minutes of waiting in vain.
const PATIENCE: u64 = 1 << 30;

/// Up to three dimensions; those left out are 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim(pub [u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Dim {
        Dim([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim {
    fn from((x, y): (u32, u32)) -> Dim {
        Dim([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim {
    fn from((x, y, z): (u32, u32, u32)) -> Dim {
        Dim([x, y, z])
    }
}

impl From<[u32; 3]> for Dim {
    fn from(sizes: [u32; 3]) -> Dim {
        Dim(sizes)
    }
}

/// Runs `kernel` in every thread of a grid: [`Launch`] with nothing else set.
pub fn launch(
    grid: impl Into<Dim>,
    block: impl Into<Dim>,
    dynamic_shared_bytes: usize,
    kernel: impl Fn(),
) -> Result<(), Error> {
    Launch::new(grid, block).dynamic_shared(dynamic_shared_bytes).run(kernel)
}

/// How to run a kernel.
#[derive(Debug, Clone)]
pub struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: usize,
    order: Order,
    stack: usize,
    patience: u64,
}

impl Launch {
    /// A launch of `grid` blocks of `block` threads each.
    pub fn new(grid: impl Into<Dim>, block: impl Into<Dim>) -> Launch {
        let (Dim(grid), Dim(block)) = (grid.into(), block.into());
        Launch { grid, block, dynamic_shared: 0, order: Order::default(), stack: STACK, patience: PATIENCE }
    }

    /// Gives each block this many bytes of dynamic shared memory.
    #[must_use]
    pub fn dynamic_shared(self, bytes: usize) -> Launch {
        Launch { dynamic_shared: bytes, ..self }
    }

    /// Sets the order in which threads get their turns.
    #[must_use]
    pub fn order(self, order: Order) -> Launch {
        Launch { order, ..self }
    }

    /// Sets the bytes of each thread's stack. A kernel that needs more ends the process.
    #[must_use]
    pub fn stack(self, bytes: usize) -> Launch {
        Launch { stack: bytes, ..self }
    }

    /// Sets how many atomic operations the threads of a block may do, all together, while none returns and none gets
    /// past a barrier or an exchange. More are taken for waiting in vain, and end the launch with [`Error::Stalled`].
    #[must_use]
    pub fn patience(self, operations: u64) -> Launch {
        Launch { patience: operations, ..self }
    }

    /// Runs `kernel`, which calls the kernel function with its arguments, in every thread.
    ///
    /// The first failure ends the launch: of the blocks, the later ones do not run. Threads of the block that still
    /// wait are unwound, so what they own is dropped.
    pub fn run(&self, kernel: impl Fn()) -> Result<(), Error> {
        let threads = self.threads()?;
        let [x, y, z] = self.grid;
        let mut stacks = Stacks::new(self.stack);
        for block_idx in indices([x, y, z]) {
            let position = Position { thread_idx: [0; 3], block_idx, block_dim: self.block, grid_dim: self.grid };
            run_block(self, position, threads, &kernel, &mut stacks)?;
        }
        Ok(())
    }

    /// The threads of a block, where the launch is one that a GPU can do.
    fn threads(&self) -> Result<u32, Error> {
        if self.grid.contains(&0) {
            return Err(Error::Grid(self.grid));
        }
        if self.dynamic_shared > MAX_DYNAMIC_SHARED {
            return Err(Error::DynamicShared(self.dynamic_shared));
        }
        let threads: u128 = self.block.iter().map(|size| u128::from(*size)).product();
        match u32::try_from(threads) {
            Ok(threads @ 1..=MAX_BLOCK) => Ok(threads),
            _ => Err(Error::Block(self.block)),
        }
    }
}

/// All indices below `sizes`, the first dimension fastest.
fn indices([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}

/// Stacks that nothing runs on.
struct Stacks {
    size: usize,
    free: Vec<DefaultStack>,
}

thread_local! {
    /// Stacks of the usual size that earlier launches have left.
    static LEFT: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

impl Stacks {
    fn new(size: usize) -> Stacks {
        Stacks { size, free: if size == STACK { LEFT.take() } else { Vec::new() } }
    }

    fn at_least(&mut self, many: usize) -> Result<&mut Vec<DefaultStack>, Error> {
        while self.free.len() < many {
            self.free.push(DefaultStack::new(self.size).map_err(Error::Stack)?);
        }
        Ok(&mut self.free)
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        if self.size == STACK {
            LEFT.set(std::mem::take(&mut self.free));
        }
    }
}

/// A thread of the block and the stack it runs on.
struct Thread {
    coroutine: Coroutine<(), (), ()>,
    index: [u32; 3],
}

fn run_block(
    launch: &Launch,
    position: Position,
    threads: u32,
    kernel: &impl Fn(),
    stacks: &mut Stacks,
) -> Result<(), Error> {
    let stacks = stacks.at_least(threads as usize)?;
    let block = Rc::new(Block::new(position, threads, launch.dynamic_shared));
    let mut running: Vec<Thread> = indices(launch.block)
        .zip(stacks.drain(..))
        .map(|(index, stack)| Thread { coroutine: thread(stack, kernel), index })
        .collect();
    let outcome = take_turns(&block, &mut running, launch);
    match outcome {
        Ok(()) => stacks.extend(running.into_iter().map(|thread| thread.coroutine.into_stack())),
        Err(_) => {
            // Dropping a thread that waits unwinds it, and library calls on the way ask who runs.
            for (number, thread) in running.into_iter().enumerate() {
                lane::run_as(&block, number, thread.index, || drop(thread));
            }
        }
    }
    outcome
}

/// One thread, ready to start.
fn thread(stack: DefaultStack, kernel: &impl Fn()) -> Coroutine<(), (), ()> {
    let body = |switch: &Switch, ()| {
        lane::started(switch);
        kernel();
    };
    // SAFETY: `run_block` drives every coroutine to its end or drops it before it returns, and `kernel` outlives that
    // call.
    unsafe { Coroutine::with_stack_unchecked(stack, body) }
}

/// Gives every thread its turns until all have returned.
fn take_turns(block: &Rc<Block>, threads: &mut [Thread], launch: &Launch) -> Result<(), Error> {
    let mut order = launch.order;
    let mut turns: Vec<usize> = (0..threads.len()).collect();
    let mut is_first_round = true;
    while !turns.is_empty() {
        order.arrange(&mut turns, is_first_round);
        is_first_round = false;
        let mut nobody_ran = true;
        for &number in &turns {
            if block.status(number) == Status::Ready {
                nobody_ran = false;
                turn(block, number, &mut threads[number])?;
                block.check_progress(launch.patience)?;
            }
        }
        if nobody_ran {
            return Err(block.deadlock());
        }
        turns.retain(|number| block.status(*number) != Status::Returned);
    }
    Ok(())
}

/// Runs a thread until it waits or returns.
fn turn(block: &Rc<Block>, number: usize, thread: &mut Thread) -> Result<(), Error> {
    let Thread { coroutine, index } = thread;
    let outcome = lane::run_as(block, number, *index, || catch_unwind(AssertUnwindSafe(|| coroutine.resume(()))));
    match outcome {
        Ok(CoroutineResult::Yield(())) => Ok(()),
        Ok(CoroutineResult::Return(())) => {
            block.returned(number);
            Ok(())
        }
        Err(payload) => {
            Err(Error::Panicked { block: block.position.block_idx, thread: *index, message: message(&*payload) })
        }
    }
}

/// What `panic!` was called with.
fn message(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a value that is no text".to_owned(),
    }
}
