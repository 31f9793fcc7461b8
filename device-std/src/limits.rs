//! How much shared memory a block can have.
//!
//! From the table of technical specifications in the CUDA C++ Programming Guide ("maximum amount of shared memory per
//! thread block") and, for AMD, the size of the local data share in LLVM's AMDGPU user guide.

/// The bytes of all static arrays of a kernel together, on every architecture of NVIDIA's: ptxas refuses more.
pub const STATIC_LIMIT: usize = 48 << 10;

/// What one architecture offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The architecture's name without a suffix for features of its own: `sm_90`, not `sm_90a`.
    pub arch: &'static str,
    /// The most bytes of static and dynamic shared memory of a block together. On NVIDIA's GPUs a launch must ask for
    /// more than 48 KB (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`).
    pub block_bytes: usize,
}

/// The architectures that are known.
pub const LIMITS: &[Limits] = &[
    kib("sm_70", 96),
    kib("sm_75", 64),
    kib("sm_80", 163),
    kib("sm_86", 99),
    kib("sm_87", 163),
    kib("sm_89", 99),
    kib("sm_90", 227),
    kib("sm_100", 227),
    kib("sm_103", 227),
    kib("sm_110", 227),
    kib("sm_120", 99),
    kib("sm_121", 99),
    kib("gfx906", 64),
    kib("gfx908", 64),
    kib("gfx90a", 64),
    kib("gfx942", 64),
    kib("gfx950", 160),
    kib("gfx1030", 64),
    kib("gfx1100", 64),
    kib("gfx1200", 64),
    kib("gfx1201", 64),
];

const fn kib(arch: &'static str, kib: usize) -> Limits {
    Limits { arch, block_bytes: kib << 10 }
}

/// The limits of an architecture, whatever suffix its name has: `limits("sm_90a")`. `None` where it is not known.
pub fn limits(arch: &str) -> Option<Limits> {
    let known = |name: &str| LIMITS.iter().find(|limits| limits.arch == name).copied();
    known(arch).or_else(|| known(arch.strip_suffix(['a', 'f'])?))
}

#[cfg(test)]
mod tests {
    use super::limits;

    #[test]
    fn suffixes_do_not_change_the_limit() {
        let bytes = |arch| limits(arch).map(|limits| limits.block_bytes);
        assert_eq!((bytes("sm_80"), bytes("sm_90a"), bytes("sm_100f")), (Some(166_912), Some(232_448), Some(232_448)));
        assert_eq!((bytes("sm_120a"), bytes("gfx90a"), bytes("gfx1100")), (Some(101_376), Some(65_536), Some(65_536)));
        assert_eq!((bytes("sm_52"), bytes("sm_"), bytes("")), (None, None, None));
    }
}
