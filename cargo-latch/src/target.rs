//! Whose GPUs kernels are built for.
//!
//! The two targets go separate ways from the compiler on: rustc calls our linker for NVIDIA's, whose objects are
//! bitcode by nature, and ours is called by [`crate::build`] for AMD's, which rustc would link only after an
//! optimization of its own.

use std::fmt;

/// A target of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Target {
    /// NVIDIA's GPUs
    Nvptx,
    /// AMD's GPUs
    Amdgcn,
}

impl Target {
    /// Both.
    pub const ALL: [Target; 2] = [Target::Nvptx, Target::Amdgcn];

    /// The compiler's name for it.
    pub fn triple(self) -> &'static str {
        match self {
            Target::Nvptx => "nvptx64-nvidia-cuda",
            Target::Amdgcn => "amdgcn-amd-amdhsa",
        }
    }

    /// The extension of the text that a build makes: PTX, or AMD's assembly.
    pub fn extension(self) -> &'static str {
        match self {
            Target::Nvptx => "ptx",
            Target::Amdgcn => "s",
        }
    }

    /// How the names of its GPUs start.
    pub fn prefix(self) -> &'static str {
        match self {
            Target::Nvptx => "sm_",
            Target::Amdgcn => "gfx",
        }
    }

    /// Names of GPUs, for messages.
    pub fn examples(self) -> &'static str {
        match self {
            Target::Nvptx => "sm_80, sm_90, sm_120a, …",
            Target::Amdgcn => "gfx942, gfx1100, …",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::Nvptx => "nvptx",
            Target::Amdgcn => "amdgcn",
        })
    }
}
