//! How many blocks of a kernel a multiprocessor holds at once.
//!
//! From the tables of compute capabilities in the CUDA C++ Programming Guide: registers are given to warps in units of
//! 256, and each block takes 1 KB of shared memory for the system.

/// What a multiprocessor has.
#[derive(Debug, Clone, Copy)]
pub struct Multiprocessor {
    registers: u32,
    warps: u32,
    blocks: u32,
    shared_bytes: u32,
}

impl Multiprocessor {
    /// That of an architecture, whatever suffix its name has.
    ///
    /// # Panics
    /// Where the architecture is none of sm_80, sm_90 and sm_120.
    pub fn of(arch: &str) -> Multiprocessor {
        let (warps, blocks, shared) = match arch.trim_end_matches(['a', 'f']) {
            "sm_80" => (64, 32, 164),
            "sm_90" => (64, 32, 228),
            "sm_120" => (48, 24, 100),
            other => panic!("the multiprocessor of {other} is not known"),
        };
        Multiprocessor { registers: 64 << 10, warps, blocks, shared_bytes: shared << 10 }
    }

    /// The blocks of so many threads that it holds, of which each thread has so many registers, each block so much
    /// shared memory.
    pub fn blocks(self, threads: u32, registers: u32, shared_bytes: u32) -> u32 {
        let warps = threads.div_ceil(32);
        let by_registers = self.registers / (registers * 32).next_multiple_of(256) / warps;
        let by_shared = self.shared_bytes / (shared_bytes + 1024);
        self.blocks.min(self.warps / warps).min(by_registers).min(by_shared)
    }
}

#[cfg(test)]
mod tests {
    use super::Multiprocessor;

    #[test]
    fn the_scarcest_thing_decides() {
        let sm_90 = Multiprocessor::of("sm_90a");
        assert_eq!(sm_90.blocks(1024, 32, 0), 2, "warps");
        assert_eq!(sm_90.blocks(32, 16, 0), 32, "blocks");
        assert_eq!(sm_90.blocks(256, 129, 0), 1, "registers: 136 for each thread are taken");
        assert_eq!(sm_90.blocks(256, 128, 0), 2, "registers");
        assert_eq!(sm_90.blocks(128, 32, 113 << 10), 2, "shared memory");
        assert_eq!(sm_90.blocks(128, 32, 114 << 10), 1, "shared memory");
        assert_eq!(Multiprocessor::of("sm_120").blocks(1024, 32, 0), 1, "warps");
    }
}
