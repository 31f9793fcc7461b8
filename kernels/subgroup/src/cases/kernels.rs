//! The kernels by their symbols, for a host to run.

use crate::folds::{self, Affine, Last};
use crate::value::{Odd, Pair};
use crate::{Input, RESULTS, Results, blocks, promises, queries, shuffles, votes};
use device_std::math::{Bf16, F16};
use device_std::memory::PerThread;
use device_std::subgroup::{Call, HostGroup, Site, SubGroup};

/// A kernel as a host calls it.
pub type HostKernel = fn(&[u64], &[u64], PerThread<'_, u64, RESULTS>);

/// What a kernel does in one thread.
pub type Body = fn(Input<'_>) -> Results;

/// A kernel of this crate.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Its symbol.
    pub name: &'static str,
    /// The kernel itself, with the host's sub-groups.
    pub native: HostKernel,
    /// What it does, by the width of sub-groups. Those of 4 lanes have only what a machine must have.
    bodies: &'static [(u32, Body)],
}

impl Kernel {
    /// What the kernel does with sub-groups of that width: 32, 64 and, for most, 4.
    pub fn body(&self, width: u32) -> Option<Body> {
        self.bodies.iter().find(|(known, _)| *known == width).map(|(_, body)| *body)
    }
}

/// The kernel of that name. One that needs types that stable Rust lacks is not there.
pub fn kernel(name: &str) -> Option<Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name).copied()
}

macro_rules! table {
    ($([$($group:ty)*] $module:ident::$name:ident = $body:ident $(<$type:ty>)?;)*) => {
        const KERNELS: &[Kernel] = &[$(
            Kernel {
                name: stringify!($name),
                native: $module::$name,
                bodies: table!(bodies [$($group)*] ($module::$body) [$($type)?]),
            },
        )*];
    };
    (bodies [$($group:ty)*] ($module:ident::$body:ident) []) => {
        &[$((<$group>::WIDTH, $module::$body::<$group>)),*]
    };
    (bodies [$($group:ty)*] ($module:ident::$body:ident) [$type:ty]) => {
        &[$((<$group>::WIDTH, $module::$body::<$group, $type>)),*]
    };
}

table! {
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_bool = shuffles<bool>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_u8 = shuffles<u8>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_u16 = shuffles<u16>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_u32 = shuffles<u32>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_u64 = shuffles<u64>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_u128 = shuffles<u128>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_usize = shuffles<usize>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_i8 = shuffles<i8>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_i16 = shuffles<i16>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_i32 = shuffles<i32>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_i64 = shuffles<i64>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_i128 = shuffles<i128>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_isize = shuffles<isize>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_f16 = shuffles<F16>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_bf16 = shuffles<Bf16>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_f32 = shuffles<f32>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_f64 = shuffles<f64>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_char = shuffles<char>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_pair = shuffles<Pair>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_odd = shuffles<Odd>;
    [Minimal<4> HostGroup<32> HostGroup<64>] shuffles::shuffle_tuple = shuffles<(u8, char, f64)>;
    [Minimal<4> HostGroup<32> HostGroup<64>] votes::vote = votes;
    [Minimal<4> HostGroup<32> HostGroup<64>] queries::query = queries;
    [Minimal<4> HostGroup<32> HostGroup<64>] promises::promise = promises;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::fold_sum = folds<u32>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::fold_wide_sum = folds<u128>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::fold_rounded_sum = folds<f32>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::fold_least = folds<f64>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::fold_argmin = folds<Pair>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::fold_affine = folds<Affine>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::fold_last = folds<Last>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::reduce_u32 = reductions<u32>;
    [Minimal<4> HostGroup<32> HostGroup<64>] folds::reduce_i32 = reductions<i32>;
    [HostGroup<32> HostGroup<64>] blocks::block_sum = block_folds<u32>;
    [HostGroup<32> HostGroup<64>] blocks::block_wide_sum = block_folds<u128>;
    [HostGroup<32> HostGroup<64>] blocks::block_rounded_sum = block_folds<f32>;
    [HostGroup<32> HostGroup<64>] blocks::block_argmin = block_folds<Pair>;
    [HostGroup<32> HostGroup<64>] blocks::block_affine = block_folds<Affine>;
    [HostGroup<32> HostGroup<64>] blocks::block_last = block_folds<Last>;
}

/// The host's sub-groups without anything that has a default, so that the defaults are tested too.
#[derive(Debug, Clone, Copy)]
struct Minimal<const WIDTH: u32>;

impl<const WIDTH: u32> Minimal<WIDTH> {
    fn host(call: Call<Self>) -> Call<HostGroup<WIDTH>> {
        Call { lanes: call.lanes, first: call.first, width: call.width, site: call.site }
    }
}

impl<const WIDTH: u32> SubGroup for Minimal<WIDTH> {
    const WIDTH: u32 = WIDTH;
    const LINEAR_LANES: bool = true;
    const INDEPENDENT: bool = true;
    const PARTITIONABLE: bool = true;

    type Site = Site;

    #[track_caller]
    fn site(operation: &'static str) -> Site {
        HostGroup::<WIDTH>::site(operation)
    }

    fn lane() -> u32 {
        HostGroup::<WIDTH>::lane()
    }

    fn shuffle(call: Call<Self>, word: u32, source: u32) -> u32 {
        HostGroup::shuffle(Self::host(call), word, source)
    }

    fn ballot(call: Call<Self>, predicate: bool) -> u64 {
        HostGroup::ballot(Self::host(call), predicate)
    }

    fn barrier(call: Call<Self>) {
        HostGroup::barrier(Self::host(call));
    }
}
