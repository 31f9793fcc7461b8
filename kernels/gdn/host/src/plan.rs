//! Which kernel, and how it is launched.

use crate::error::Error;
use crate::problem::{Format, Sizes};
use gdn::{mma, recurrent, wy};

/// The largest key that the recurrent kernel has registers for.
pub const MAX_DK: u32 = 256;

/// A way to compute the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Token by token.
    Recurrent,
    /// In chunks of 16, 32 or 64 tokens.
    Chunk(u32),
    /// In chunks of 64 tokens on tensor cores, for `dk` = 128, `dv` a multiple of 64, and elements of 16 bits.
    Mma,
}

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The entry point.
    pub entry: String,
    /// Blocks: heads of all sequences, by tiles of the state's rows.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
}

/// Where a sequence is shorter, the recurrence costs less than a chunk.
const FEW_TOKENS: u32 = 16;

/// Whether tensor cores can do it.
fn on_tensor_cores(sizes: &Sizes, format: Format) -> bool {
    format != Format::F32 && sizes.dk == mma::DK && sizes.dv.is_multiple_of(mma::ROWS)
}

impl Kernel {
    /// The kernel for a problem on a device whose blocks can have so much shared memory.
    ///
    /// Tensor cores where they can do it; else the largest chunk that fits, but no larger than the longest sequence needs;
    /// token by token where sequences are short or no chunk fits.
    pub fn choose(sizes: &Sizes, format: Format, shared_limit: u64) -> Kernel {
        let longest = sizes.sequences.iter().copied().max().unwrap_or(0);
        if longest < FEW_TOKENS {
            return Kernel::Recurrent;
        }
        if on_tensor_cores(sizes, format) && u64::from(mma::BYTES) <= shared_limit {
            return Kernel::Mma;
        }
        let fits = |chunk: &u32| wy::layout::bytes(*chunk, sizes.dk) <= shared_limit && *chunk < 2 * longest;
        [64, 32, 16].into_iter().find(fits).map_or(Kernel::Recurrent, Kernel::Chunk)
    }

    /// The launch of this kernel.
    pub fn plan(self, sizes: &Sizes, format: Format) -> Result<Plan, Error> {
        let (entry, rows, threads, shared_bytes) = match self {
            Kernel::Recurrent => {
                let capacity = [64, 128, MAX_DK].into_iter().find(|capacity| sizes.dk <= *capacity);
                let capacity =
                    capacity.ok_or(Error::TooLarge { name: "dk", value: sizes.dk as usize, limit: MAX_DK })?;
                let entry = format!("gdn_recurrent_{}_{capacity}", format.name());
                (entry, recurrent::ROWS, recurrent::THREADS, 0)
            }
            Kernel::Chunk(chunk) => {
                if ![16, 32, 64].contains(&chunk) {
                    return Err(Error::Chunk(chunk));
                }
                let entry = format!("gdn_wy_chunk_{}_{chunk}", format.name());
                (entry, wy::ROWS, wy::THREADS, wy::layout::bytes(chunk, sizes.dk))
            }
            Kernel::Mma => {
                if !on_tensor_cores(sizes, format) {
                    return Err(Error::Mma { dk: sizes.dk, dv: sizes.dv, element: format.name() });
                }
                let entry = format!("gdn_wy_mma_{}", format.name());
                (entry, mma::ROWS, mma::THREADS, u64::from(mma::BYTES))
            }
        };
        let slots = sizes.sequences.len() as u64 * u64::from(sizes.heads);
        let slots = u32::try_from(slots).ok().filter(|slots| *slots < 1 << 31).ok_or(Error::TooManyHeads(slots))?;
        Ok(Plan {
            entry,
            grid: [slots, sizes.dv.div_ceil(rows), 1],
            block: [threads, 1, 1],
            shared_bytes: u32::try_from(shared_bytes).unwrap_or(u32::MAX),
        })
    }
}
