//! Sub-groups of threads that run on the host, of any width.

use super::{Call, SubGroup};
use crate::stand_in::{Place, Words, meet};
use crate::thread;
use std::panic::Location;
use std::rc::Rc;

/// The host's sub-groups of `WIDTH` threads: a power of two of at most 64.
#[derive(Debug, Clone, Copy)]
pub struct HostGroup<const WIDTH: u32>;

/// An operation and its place in the source.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    operation: &'static str,
    location: &'static Location<'static>,
}

/// The word that comes from a lane that does not exist. On a GPU it could be any; this one is like no useful value.
const ABSENT: u32 = 0xdead_1a9e;

impl<const WIDTH: u32> HostGroup<WIDTH> {
    fn meet(call: Call<Self>, word: u32) -> Rc<Words> {
        let place = Place::Lanes { width: WIDTH, group: Self::id(), lanes: call.lanes };
        meet(place, call.site.operation, call.site.location, Self::lane(), word)
    }
}

impl<const WIDTH: u32> SubGroup for HostGroup<WIDTH> {
    const WIDTH: u32 = {
        assert!(WIDTH.is_power_of_two() && WIDTH <= 64, "a sub-group's width is a power of two of at most 64");
        WIDTH
    };
    const LINEAR_LANES: bool = true;
    const INDEPENDENT: bool = true;
    const PARTITIONABLE: bool = true;

    type Site = Site;

    #[track_caller]
    fn site(operation: &'static str) -> Site {
        Site { operation, location: Location::caller() }
    }

    fn lane() -> u32 {
        thread::index_in_block() % Self::WIDTH
    }

    fn shuffle(call: Call<Self>, word: u32, source: u32) -> u32 {
        let source = call.first + source % call.width;
        Self::meet(call, word).get(source).unwrap_or(ABSENT)
    }

    fn ballot(call: Call<Self>, predicate: bool) -> u64 {
        Self::meet(call, u32::from(predicate)).same_as(1)
    }

    fn match_any(call: Call<Self>, word: u32) -> u64 {
        Self::meet(call, word).same_as(word)
    }

    fn barrier(call: Call<Self>) {
        Self::meet(call, 0);
    }
}
