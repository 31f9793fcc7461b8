//! PTX that was made before: one file, or a folder with one for each of several architectures.
//!
//! Which of them a device runs best is known by its loading it: they are tried from the newest architecture down. A
//! file for an older one runs too, since a driver compiles PTX for its GPU, but none for a newer one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use gated_delta::{Error, Kernels};
use launch::Launcher;

/// The text of a module, and where it comes from.
#[derive(Debug, Clone)]
pub struct Ptx {
    /// The file.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
    /// The architecture that it is for: `sm_90`.
    pub target: String,
}

impl Ptx {
    fn read(path: &Path) -> Result<Ptx> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let module = emulator::parse(&text).with_context(|| format!("{} is not PTX", path.display()))?;
        let target = module.target.to_owned();
        Ok(Ptx { path: path.to_owned(), text, target })
    }

    /// 120 of `sm_120a`.
    fn number(&self) -> u32 {
        let digits = self.target.trim_start_matches("sm_").trim_end_matches(|c: char| !c.is_ascii_digit());
        digits.parse().unwrap_or(0)
    }
}

/// The file, or the folder's files that end in `.ptx`, those for the newest architecture first.
pub fn find(path: &Path) -> Result<Vec<Ptx>> {
    if !path.is_dir() {
        return Ok(vec![Ptx::read(path)?]);
    }
    let reading = || format!("cannot read the folder {}", path.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(path).with_context(reading)? {
        let file = entry.with_context(reading)?.path();
        if file.extension().is_some_and(|extension| extension == "ptx") {
            found.push(Ptx::read(&file)?);
        }
    }
    if found.is_empty() {
        bail!("there is no PTX in {}: `cargo latch build -p gdn` makes it", path.display());
    }
    // The longer name is the one for the architecture alone: `sm_90a` before `sm_90`.
    found.sort_by_key(|ptx| std::cmp::Reverse((ptx.number(), ptx.target.len())));
    Ok(found)
}

/// Loads the first of them that the device can run. `open` makes the launcher anew for each try.
pub fn load<L: Launcher>(found: Vec<Ptx>, open: impl Fn() -> Result<L>) -> Result<(Kernels<L>, Ptx)> {
    let mut targets = Vec::new();
    for ptx in found {
        match Kernels::load(open()?, &ptx.text) {
            Ok(kernels) => return Ok((kernels, ptx)),
            Err(Error::Launch(launch::Error::Target { .. })) => targets.push(ptx.target),
            Err(error) => return Err(error).with_context(|| format!("cannot use {}", ptx.path.display())),
        }
    }
    let arch = open()?.device().arch.clone();
    bail!("the device is {arch} and there is PTX for {}: build it with `--arch {arch}`", targets.join(", "))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use launch::Emulator;

    use super::{find, load};

    fn folder(targets: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for target in targets {
            let text = format!(".version 8.7\n.target {target}\n.address_size 64\n");
            fs::write(folder.path().join(format!("gdn.{target}.ptx")), text).expect("a file can be written");
        }
        fs::write(folder.path().join("gpu-check"), "").expect("a file can be written");
        folder
    }

    #[test]
    fn a_device_gets_the_newest_that_it_can_run() {
        let folder = folder(&["sm_80", "sm_120a", "sm_90", "sm_90a", "sm_100"]);
        for (device, wanted) in
            [("sm_80", "sm_80"), ("sm_89", "sm_80"), ("sm_90", "sm_90a"), ("sm_103", "sm_100"), ("sm_120", "sm_120a")]
        {
            let found = find(folder.path()).expect("the files are PTX");
            let (_, ptx) = load(found, || Ok(Emulator::new(device)?)).expect("there is one for it");
            assert_eq!(ptx.target, wanted, "{device}");
        }
    }

    #[test]
    fn a_device_for_which_there_is_none_is_told_so() {
        let folder = folder(&["sm_90", "sm_120a"]);
        let error = load(find(folder.path()).expect("the files are PTX"), || Ok(Emulator::new("sm_80")?));
        let said = error.map(drop).expect_err("there is none").to_string();
        assert_eq!(said, "the device is sm_80 and there is PTX for sm_120a, sm_90: build it with `--arch sm_80`");
    }
}
