//! The two families of GPUs that Latch builds for, and in what they differ for the linker.
//!
//! | | NVIDIA | AMD |
//! |---|---|---|
//! | text | PTX, which ptxas compiles | the instructions of the GPU itself |
//! | loop pragmas in the text | yes: ptxas unrolls too | none: nothing comes after LLVM |
//! | atomic scopes | written by device-std, as assembly | written here ([`crate::passes::place_scopes`]) |
//! | assembly that threads execute together | by its mnemonics ([`crate::passes::mark_convergent`]) | all of it |

use inkwell::targets::{InitializationConfig, Target, TargetTriple};

/// Whose GPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// NVIDIA's.
    Nvptx,
    /// AMD's, with the HSA runtime.
    Amdgcn,
}

impl Family {
    /// LLVM's target for a triple, and whose it is; none for a triple of something else.
    pub fn of(triple: &TargetTriple) -> Option<(Family, Target)> {
        Target::initialize_nvptx(&InitializationConfig::default());
        Target::initialize_amd_gpu(&InitializationConfig::default());
        let target = Target::from_triple(triple).ok()?;
        let family = match target.get_name().to_bytes() {
            b"nvptx64" => Family::Nvptx,
            b"amdgcn" => Family::Amdgcn,
            _ => return None,
        };
        Some((family, target))
    }

    /// rustc's name of the target.
    pub fn triple(self) -> &'static str {
        match self {
            Family::Nvptx => "nvptx64-nvidia-cuda",
            Family::Amdgcn => "amdgcn-amd-amdhsa",
        }
    }

    /// The functions that the driver defines for every module.
    pub fn provided(self) -> &'static [&'static str] {
        match self {
            Family::Nvptx => &["vprintf", "malloc", "free", "__assertfail"],
            Family::Amdgcn => &[],
        }
    }
}
