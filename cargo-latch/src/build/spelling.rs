//! What cargo calls a GPU: one target a GPU and variant, so that one run of cargo builds for all of them side by side.
//!
//! rustc knows one target for all of NVIDIA's GPUs, and cargo names a kernel crate's PTX after the crate alone: two
//! GPUs would overwrite each other's file, and each be built anew every time. To cargo, a target is just a name that it
//! hands to rustc and names a folder after. So cargo is given `nvptx64-nvidia-cuda--sm_90--llc-llvm`, and
//! `latch-rustc`, which stands before the compiler, hands on `--target nvptx64-nvidia-cuda -Ctarget-cpu=sm_90`. The
//! last part is the variant: all that makes another PTX of the same source for the same GPU and is not cargo's profile.
//!
//! When it is wrong: a manifest or a configuration that names `nvptx64-nvidia-cuda` in full, as in
//! `[target.nvptx64-nvidia-cuda.dependencies]`, does not mean such a target; `cfg(target_arch = "nvptx64")` does.
//! Packages that do so are found by [`crate::kernel_crate::Workspace::names_triple`] and built under the plain name, a
//! GPU at a time.

use std::ffi::OsString;

use crate::target::Target;

const SEPARATOR: &str = "--";

/// The name for a GPU and a variant.
pub fn spelled(target: Target, arch: &str, variant: &str) -> String {
    [target.triple(), arch, variant].join(SEPARATOR)
}

/// The target and the GPU of such a name.
pub fn read(name: &str) -> Option<(Target, &str)> {
    let target = Target::ALL.into_iter().find(|target| name.starts_with(target.triple()))?;
    let rest = name.strip_prefix(target.triple())?.strip_prefix(SEPARATOR)?;
    let (arch, _variant) = rest.split_once(SEPARATOR)?;
    Some((target, arch))
}

/// A compiler's command line in the compiler's own words.
pub fn for_rustc(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut spoken = Vec::new();
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        match read(text.strip_prefix("--target=").unwrap_or(text)) {
            Some((target, arch)) if spoken.last().is_some_and(|last| last == "--target") => {
                spoken.extend([target.triple().into(), format!("-Ctarget-cpu={arch}").into()]);
            }
            Some((target, arch)) if text.starts_with("--target=") => {
                spoken.extend([format!("--target={}", target.triple()).into(), format!("-Ctarget-cpu={arch}").into()]);
            }
            _ => spoken.push(argument),
        }
    }
    spoken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_spelled_target_is_read_back() {
        for (target, arch) in [(Target::Nvptx, "sm_120a"), (Target::Amdgcn, "gfx9-4-generic")] {
            assert_eq!(read(&spelled(target, arch, "llc-mir")), Some((target, arch)));
        }
        for other in ["nvptx64-nvidia-cuda", "x86_64-unknown-linux-gnu", "nvptx64-nvidia-cuda--sm_90"] {
            assert_eq!(read(other), None);
        }
    }

    #[test]
    fn rustc_hears_its_own_target_and_the_gpu() {
        let name = spelled(Target::Nvptx, "sm_90", "llc-llvm");
        let plain = words(&["--target", "nvptx64-nvidia-cuda", "-Ctarget-cpu=sm_90", "-O"]);
        assert_eq!(for_rustc(words(&["--target", &name, "-O"])), plain);
        let joined = words(&["--target=nvptx64-nvidia-cuda", "-Ctarget-cpu=sm_90", "-O"]);
        assert_eq!(for_rustc(words(&[&format!("--target={name}"), "-O"])), joined);
    }

    #[test]
    fn all_else_is_handed_on_as_it_is() {
        let others =
            words(&["--crate-name", "nvptx64-nvidia-cuda--sm_90--llc", "--target", "x86_64-unknown-linux-gnu"]);
        assert_eq!(for_rustc(others.clone()), others);
    }
}
