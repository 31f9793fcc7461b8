//! The kernels by their symbols, for a host to run.

use crate::folds::{self, Affine, Last};
use crate::value::{Odd, Pair};
use crate::{Input, RESULTS, Results, queries, shuffles, votes};
use device_std::memory::PerThread;
use device_std::subgroup::{Call, HostGroup, Site, SubGroup};

/// A kernel as a host calls it.
pub type HostKernel = fn(&[u64], &[u64], PerThread<'_, u64, RESULTS>);

/// A kernel of this crate.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Its symbol.
    pub name: &'static str,
    /// The kernel itself, with the host's sub-groups.
    pub native: HostKernel,
    /// What it does, with sub-groups of 4, 32 and 64 lanes; those of 4 have only what a machine must have.
    bodies: [fn(Input<'_>) -> Results; 3],
}

impl Kernel {
    /// What the kernel does with sub-groups of that width, if it is 4, 32 or 64.
    pub fn body(&self, width: u32) -> Option<fn(Input<'_>) -> Results> {
        let at = [4, 32, 64].iter().position(|known| *known == width)?;
        Some(self.bodies[at])
    }
}

/// The kernel of that name. One that needs types that stable Rust lacks is not there.
pub fn kernel(name: &str) -> Option<Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name).copied()
}

macro_rules! table {
    ($($module:ident::$name:ident = $body:ident $(<$type:ty>)?;)*) => {
        const KERNELS: &[Kernel] = &[$(
            Kernel {
                name: stringify!($name),
                native: $module::$name,
                bodies: [
                    $module::$body::<Minimal<4> $(, $type)?>,
                    $module::$body::<HostGroup<32> $(, $type)?>,
                    $module::$body::<HostGroup<64> $(, $type)?>,
                ],
            },
        )*];
    };
}

table! {
    shuffles::shuffle_bool = shuffles<bool>;
    shuffles::shuffle_u8 = shuffles<u8>;
    shuffles::shuffle_u16 = shuffles<u16>;
    shuffles::shuffle_u32 = shuffles<u32>;
    shuffles::shuffle_u64 = shuffles<u64>;
    shuffles::shuffle_u128 = shuffles<u128>;
    shuffles::shuffle_usize = shuffles<usize>;
    shuffles::shuffle_i8 = shuffles<i8>;
    shuffles::shuffle_i16 = shuffles<i16>;
    shuffles::shuffle_i32 = shuffles<i32>;
    shuffles::shuffle_i64 = shuffles<i64>;
    shuffles::shuffle_i128 = shuffles<i128>;
    shuffles::shuffle_isize = shuffles<isize>;
    shuffles::shuffle_f32 = shuffles<f32>;
    shuffles::shuffle_f64 = shuffles<f64>;
    shuffles::shuffle_char = shuffles<char>;
    shuffles::shuffle_pair = shuffles<Pair>;
    shuffles::shuffle_odd = shuffles<Odd>;
    shuffles::shuffle_tuple = shuffles<(u8, char, f64)>;
    votes::vote = votes;
    queries::query = queries;
    folds::fold_sum = folds<u32>;
    folds::fold_wide_sum = folds<u128>;
    folds::fold_rounded_sum = folds<f32>;
    folds::fold_least = folds<f64>;
    folds::fold_argmin = folds<Pair>;
    folds::fold_affine = folds<Affine>;
    folds::fold_last = folds<Last>;
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
