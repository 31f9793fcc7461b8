//! What every kernel of this crate takes.

use device_std::block;

/// Words of input of a thread.
pub const INPUTS: usize = 8;
/// Words of output of a thread.
pub const RESULTS: usize = 24;
/// A thread's output.
pub type Results = [u64; RESULTS];

/// The input as one thread sees it.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    threads: &'a [u64],
    common: &'a [u64],
}

impl<'a> Input<'a> {
    /// The input of a launch: words of the threads, and words for all of them.
    #[inline(always)]
    pub fn new(threads: &'a [u64], common: &'a [u64]) -> Input<'a> {
        Input { threads, common }
    }

    /// The thread's word `at`, and 0 where there is none.
    #[inline(always)]
    pub fn own(&self, at: usize) -> u64 {
        let first = (block::thread_index() as usize).wrapping_mul(INPUTS);
        self.threads.get(first.wrapping_add(at)).copied().unwrap_or(0)
    }

    /// The word `at` for all threads, and 0 where there is none.
    #[inline(always)]
    pub fn common(&self, at: usize) -> u64 {
        self.common.get(at).copied().unwrap_or(0)
    }
}

/// Makes kernels of functions that are generic over the machine.
macro_rules! kernels {
    ($($(#[$meta:meta])* $name:ident = $body:ident $(<$type:ty>)?;)*) => {$(
        $(#[$meta])*
        #[doc = concat!("Runs [`", stringify!($body), "`] in every thread.")]
        #[device_std::kernel]
        pub fn $name(threads: &[u64], common: &[u64], mut out: PerThread<'_, u64, { $crate::RESULTS }>) {
            let results = $body::<device_std::subgroup::Native $(, $type)?>($crate::Input::new(threads, common));
            if let Some(tile) = out.tile() {
                *tile = results;
            }
        }
    )*};
}

pub(crate) use kernels;
