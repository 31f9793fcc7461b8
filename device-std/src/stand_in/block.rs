//! The state of one running block: who runs, who waits for whom, and what was exchanged.
//!
//! Threads exchange and wait in **meetings**. A meeting is named by its participants, its operation and the operation's
//! place in the source; it is over once all participants have come, and then each can read what the others brought.
//! Threads that come to different meetings never see each other, so divergent threads end as a deadlock, not as an
//! exchange of unrelated values.

use super::error::{Error, Wait};
use super::memory::Memory;
use super::switch::Switch;
use crate::thread::host::Position;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;
use std::rc::Rc;
use std::thread::panicking;
use std::vec;
use std::vec::Vec;

/// Who meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The threads of the block.
    Block,
    /// Lanes of a sub-group.
    Lanes {
        /// The lanes of a full sub-group.
        width: u32,
        /// Which sub-group.
        group: u32,
        /// Which of its lanes, as bits.
        lanes: u64,
    },
}

impl Place {
    /// The linear thread indices of those participants that exist, ascending.
    fn participants(self, threads: u32) -> Vec<u32> {
        match self {
            Place::Block => (0..threads).collect(),
            Place::Lanes { width, group, lanes } => {
                let present = (0..width).filter(|lane| lanes >> lane & 1 != 0).map(|lane| group * width + lane);
                present.filter(|thread| *thread < threads).collect()
            }
        }
    }

    /// A thread as the participants count themselves.
    fn number(self, thread: u32) -> u32 {
        match self {
            Place::Block => thread,
            Place::Lanes { width, .. } => thread % width,
        }
    }
}

/// What threads meet for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub place: Place,
    pub operation: &'static str,
    pub location: &'static Location<'static>,
}

/// What the lanes of a sub-group brought to a meeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    present: u64,
    words: [u32; 64],
}

impl Words {
    pub(crate) const NONE: Words = Words { present: 0, words: [0; 64] };

    /// What a lone thread gets to see: its own word.
    pub(crate) fn alone(lane: u32, word: u32) -> Words {
        let mut words = Words::NONE;
        words.put(lane, word);
        words
    }

    fn put(&mut self, lane: u32, word: u32) {
        self.present |= 1 << lane;
        self.words[lane as usize] = word;
    }

    /// What a lane brought; `None` where it was not there.
    pub(crate) fn get(&self, lane: u32) -> Option<u32> {
        (self.present >> lane & 1 != 0).then(|| self.words[lane as usize])
    }

    /// The lanes that were there and brought `word`.
    pub(crate) fn same_as(&self, word: u32) -> u64 {
        self.words.iter().enumerate().fold(0, |lanes, (lane, own)| lanes | u64::from(*own == word) << lane)
            & self.present
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ready,
    Waiting,
    Returned,
}

/// A meeting that not all have come to.
#[derive(Debug)]
struct Pending {
    meeting: Meeting,
    participants: Vec<u32>,
    arrived: Vec<u32>,
    words: Words,
}

/// One block, from its first thread's start to its last one's return.
#[derive(Debug)]
pub(crate) struct Block {
    /// Where the block stands; the thread index in it is without meaning.
    pub position: Position,
    /// The block's shared memory.
    pub memory: Memory,
    threads: u32,
    status: RefCell<Vec<Status>>,
    pending: RefCell<Vec<Pending>>,
    results: RefCell<Vec<Option<Rc<Words>>>>,
    switches: RefCell<Vec<*const Switch>>,
    /// How often threads have paused since one last returned or met all that it waited for.
    pauses: Cell<u64>,
    /// Whether the launch itself is part of an unwinding, so that unwinding says nothing about its threads.
    is_in_panic: bool,
}

impl Block {
    pub fn new(position: Position, threads: u32, dynamic_shared: usize) -> Block {
        let many = threads as usize;
        Block {
            position,
            memory: Memory::new(dynamic_shared),
            threads,
            status: RefCell::new(vec![Status::Ready; many]),
            pending: RefCell::default(),
            results: RefCell::new(vec![None; many]),
            switches: RefCell::new(vec![ptr::null(); many]),
            pauses: Cell::new(0),
            is_in_panic: panicking(),
        }
    }

    pub fn status(&self, thread: usize) -> Status {
        self.status.borrow()[thread]
    }

    pub fn returned(&self, thread: usize) {
        self.status.borrow_mut()[thread] = Status::Returned;
        self.pauses.set(0);
    }

    /// Notes that a thread lets others run because it may be waiting for memory to change.
    pub fn paused(&self) {
        self.pauses.set(self.pauses.get() + 1);
    }

    /// Fails where threads have done nothing but pause for more than `patience` times.
    pub fn check_progress(&self, patience: u64) -> Result<(), Error> {
        if self.pauses.get() <= patience {
            return Ok(());
        }
        let running = (0..self.threads).filter(|thread| self.status(*thread as usize) == Status::Ready).collect();
        Err(Error::Stalled { block: self.position.block_idx, threads: running, operations: patience })
    }

    /// Notes how a thread leaves its stack.
    pub fn set_switch(&self, thread: u32, switch: &Switch) {
        self.switches.borrow_mut()[thread as usize] = switch;
    }

    /// How a thread that has started leaves its stack.
    pub fn switch(&self, thread: u32) -> *const Switch {
        self.switches.borrow()[thread as usize]
    }

    /// Whether the running thread unwinds: because it panicked, or because the launch has failed. It meets nobody then.
    pub fn is_unwinding(&self) -> bool {
        panicking() && !self.is_in_panic
    }

    /// A thread comes to a meeting. Whether the meeting is over, so that [`result`](Self::result) has what was brought;
    /// else the thread must wait.
    pub fn arrive(&self, thread: u32, meeting: Meeting, word: u32) -> bool {
        let mut pending = self.pending.borrow_mut();
        let at = pending.iter().position(|one| one.meeting == meeting).unwrap_or_else(|| {
            let participants = meeting.place.participants(self.threads);
            pending.push(Pending { meeting, participants, arrived: Vec::new(), words: Words::NONE });
            pending.len() - 1
        });
        pending[at].arrived.push(thread);
        if let Place::Lanes { width, .. } = meeting.place {
            pending[at].words.put(thread % width, word);
        }
        if pending[at].arrived.len() < pending[at].participants.len() {
            self.status.borrow_mut()[thread as usize] = Status::Waiting;
            return false;
        }
        self.pauses.set(0);
        let over = pending.swap_remove(at);
        let words = Rc::new(over.words);
        for participant in over.participants {
            self.results.borrow_mut()[participant as usize] = Some(Rc::clone(&words));
            self.status.borrow_mut()[participant as usize] = Status::Ready;
        }
        true
    }

    /// What was brought to the meeting that a thread came to last.
    pub fn result(&self, thread: u32) -> Rc<Words> {
        self.results.borrow_mut()[thread as usize].take().unwrap_or_else(|| Rc::new(Words::NONE))
    }

    /// Who waits for whom, once nobody can run.
    pub fn deadlock(&self) -> Error {
        let mut waits: Vec<Wait> = self.pending.borrow().iter().map(|pending| self.wait(pending)).collect();
        waits.sort_by_key(|wait| (wait.sub_group, wait.waiting.first().copied()));
        Error::Deadlock { block: self.position.block_idx, waits }
    }

    fn wait(&self, pending: &Pending) -> Wait {
        let Meeting { place, operation, location } = pending.meeting;
        let mut wait = Wait {
            operation,
            location,
            sub_group: match place {
                Place::Block => None,
                Place::Lanes { group, .. } => Some(group),
            },
            waiting: Vec::new(),
            missing: Vec::new(),
            returned: Vec::new(),
        };
        for &thread in &pending.participants {
            let list = match self.status(thread as usize) {
                _ if pending.arrived.contains(&thread) => &mut wait.waiting,
                Status::Returned => &mut wait.returned,
                Status::Ready | Status::Waiting => &mut wait.missing,
            };
            list.push(place.number(thread));
        }
        wait
    }
}
