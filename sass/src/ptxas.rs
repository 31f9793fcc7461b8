//! PTX to machine code.
//!
//! ptxas writes to a folder of our own, and the cubin is read back into memory: nothing is left behind, whether it
//! succeeds or not. Its figures ([`Resources`]) and everything it said ([`Message`]) are kept.
//!
//! Three of its habits need care:
//!
//! - it refuses to optimize PTX whose `.target` says `debug`, but only when an optimization level is asked for by name:
//!   such PTX is always assembled at level 0;
//! - given a virtual architecture (`compute_90`) it succeeds and writes nothing: only real ones are let through;
//! - it names neither architecture when PTX for a newer GPU is to be assembled for an older one.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::tool::{Output, Tool, as_argument};
use crate::{Error, Message, Resources, Result, Severity};

/// NVIDIA's assembler.
#[derive(Clone, Debug)]
pub struct Ptxas {
    tool: Tool,
}

/// PTX, in a file or in memory.
#[derive(Clone, Copy, Debug)]
pub enum Ptx<'a> {
    /// A file.
    File(&'a Path),
    /// The text itself.
    Text(&'a str),
}

impl<'a> From<&'a Path> for Ptx<'a> {
    fn from(path: &'a Path) -> Self {
        Ptx::File(path)
    }
}

impl<'a> From<&'a PathBuf> for Ptx<'a> {
    fn from(path: &'a PathBuf) -> Self {
        Ptx::File(path)
    }
}

impl<'a> From<&'a str> for Ptx<'a> {
    fn from(text: &'a str) -> Self {
        Ptx::Text(text)
    }
}

impl<'a> From<&'a String> for Ptx<'a> {
    fn from(text: &'a String) -> Self {
        Ptx::Text(text)
    }
}

/// How to assemble.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AssembleOptions {
    /// 0 to 3. PTX for debugging is assembled at 0 whatever stands here.
    pub opt_level: u8,
    /// Keep the PTX's line table, so that instructions have a source line.
    pub line_info: bool,
    /// Full debug information; implies level 0.
    pub debug: bool,
    /// No thread may use more registers than this: ptxas spills.
    pub max_registers: Option<u32>,
}

impl Default for AssembleOptions {
    fn default() -> Self {
        AssembleOptions { opt_level: 3, line_info: false, debug: false, max_registers: None }
    }
}

/// Machine code for one architecture.
#[derive(Clone, Debug)]
pub struct Cubin {
    /// The ELF file.
    pub image: Vec<u8>,
    /// What it is for, such as `sm_90`.
    pub arch: String,
    /// The optimization level that was used.
    pub opt_level: u8,
    /// ptxas's figures.
    pub resources: Resources,
    /// Everything that ptxas said.
    pub messages: Vec<Message>,
}

impl Ptxas {
    /// The assembler at `path`; a name without a folder is looked for in `PATH`. Whether it is there shows with the
    /// first run.
    pub fn new(path: impl Into<PathBuf>) -> Ptxas {
        Ptxas { tool: Tool { name: "ptxas", path: path.into() } }
    }

    /// Its release, such as `13.5`.
    pub fn version(&self) -> Result<String> {
        self.tool.version()
    }

    /// The architectures it knows, without the `a` and `f` variants.
    pub fn architectures(&self) -> Result<Vec<String>> {
        let output = self.tool.run(["--list-arch"])?;
        let mut numbers: Vec<u32> = output.stdout.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(|number| format!("sm_{number}")).collect())
    }

    /// Assembles `ptx` for `arch`.
    ///
    /// # Errors
    /// [`Error::Refused`] with ptxas's messages and the lines they speak of, where the PTX is at fault;
    /// [`Error::BadArch`], [`Error::UnknownArch`] and [`Error::WrongTarget`] where the architecture is.
    pub fn assemble<'a>(&self, ptx: impl Into<Ptx<'a>>, arch: &str, options: &AssembleOptions) -> Result<Cubin> {
        if !is_real_arch(arch) {
            return Err(Error::BadArch { arch: arch.to_owned() });
        }
        let ptx = ptx.into();
        let text = ptx.text()?;
        let folder = temporary_folder()?;
        let (input, cubin) = (ptx.put_into(folder.path())?, folder.path().join("out.cubin"));
        let for_debugging = options.debug || target(&text).is_some_and(|target| target.debug);
        let opt_level = if for_debugging { 0 } else { options.opt_level };
        let output = self.tool.run(arguments(arch, opt_level, options, &input, &cubin))?;
        let messages = with_lines(self.tool.messages(&output), &text);
        if !output.status.success() {
            return Err(self.explain(ptx, arch, &text, messages, &output));
        }
        let image = fs::read(&cubin).map_err(|_| self.tool.broken(&output))?;
        let resources = Resources::parse(&output.stderr);
        Ok(Cubin { image, arch: arch.to_owned(), opt_level, resources, messages })
    }

    fn explain(&self, ptx: Ptx<'_>, arch: &str, text: &str, messages: Vec<Message>, output: &Output) -> Error {
        let said = |part: &str| messages.iter().find(|message| message.text.contains(part));
        if said("is not defined for option 'gpu-name'").is_some() {
            let (version, known) = (self.version().unwrap_or_default(), self.architectures().unwrap_or_default());
            return Error::UnknownArch { arch: arch.to_owned(), version, known };
        }
        let mismatch = said("specified by .target is higher").or_else(|| said("cannot be compiled to future"));
        if let (Some(message), Some(target)) = (mismatch, target(text)) {
            return Error::WrongTarget {
                target: target.arch.to_owned(),
                arch: arch.to_owned(),
                said: message.text.clone(),
            };
        }
        if messages.iter().all(|message| message.severity < Severity::Error) {
            return self.tool.broken(output);
        }
        Error::Refused { ptx: ptx.name(), arch: arch.to_owned(), messages }
    }
}

impl Cubin {
    /// What the user should see: warnings, and losses of speed that ptxas calls information.
    pub fn warnings(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.is_warning())
    }

    /// Writes the ELF file: the whole of it, or nothing.
    pub fn write_to(&self, path: &Path) -> Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let write = || -> std::io::Result<()> {
            // Temporary files are private by default; this one becomes the user's output.
            let mode = fs::Permissions::from_mode(0o666);
            let mut file = tempfile::Builder::new().permissions(mode).tempfile_in(folder)?;
            file.write_all(&self.image)?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|source| Error::Write { path: path.to_owned(), source })
    }
}

impl<'a> Ptx<'a> {
    /// How messages name it.
    fn name(self) -> String {
        match self {
            Ptx::File(path) => format!("`{}`", path.display()),
            Ptx::Text(_) => "the PTX".to_owned(),
        }
    }

    fn text(self) -> Result<Cow<'a, str>> {
        match self {
            Ptx::Text(text) => Ok(Cow::Borrowed(text)),
            Ptx::File(path) => {
                let bytes = fs::read(path).map_err(|source| Error::ReadPtx { path: path.to_owned(), source })?;
                Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }

    /// The path that ptxas is to read: the user's own where there is one, since it becomes part of the debug
    /// information.
    fn put_into(self, folder: &Path) -> Result<PathBuf> {
        match self {
            Ptx::File(path) => Ok(as_argument(path)),
            Ptx::Text(text) => {
                let path = folder.join("in.ptx");
                fs::write(&path, text).map_err(|source| Error::Write { path: path.clone(), source })?;
                Ok(path)
            }
        }
    }
}

pub(crate) fn temporary_folder() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|source| Error::Write { path: std::env::temp_dir(), source })
}

fn arguments(arch: &str, opt_level: u8, options: &AssembleOptions, input: &Path, output: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        vec!["-v".into(), format!("-arch={arch}").into(), format!("-O{opt_level}").into()];
    // Full debug information has the lines; asked for both, ptxas warns.
    arguments.extend(match (options.debug, options.line_info) {
        (true, _) => Some("-g".into()),
        (false, true) => Some("-lineinfo".into()),
        (false, false) => None,
    });
    arguments.extend(options.max_registers.map(|most| format!("-maxrregcount={most}").into()));
    arguments.extend(["-o".into(), output.into(), input.into()]);
    arguments
}

/// `sm_`, a number, and perhaps the letter of a variant.
fn is_real_arch(arch: &str) -> bool {
    let Some(number) = arch.strip_prefix("sm_") else { return false };
    let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a PTX file says about its GPU.
struct Target<'a> {
    arch: &'a str,
    debug: bool,
}

fn target(ptx: &str) -> Option<Target<'_>> {
    let directive = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    let mut words = directive.split("//").next()?.split(',').map(str::trim);
    let arch = words.next()?;
    Some(Target { arch, debug: words.any(|word| word == "debug") })
}

/// Adds the PTX's text to messages that name a line.
fn with_lines(mut messages: Vec<Message>, ptx: &str) -> Vec<Message> {
    let lines: Vec<&str> = ptx.lines().collect();
    for message in &mut messages {
        let index = message.line.and_then(|line| (line as usize).checked_sub(1));
        message.line_text = index.and_then(|index| lines.get(index)).map(|text| text.trim().to_owned());
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_architectures_pass() {
        for good in ["sm_80", "sm_120a", "sm_100f"] {
            assert!(is_real_arch(good), "{good}");
        }
        for bad in ["", "sm_", "sm_a", "compute_80", "sm_80 -g", "sm_80x", "lto_80", "80"] {
            assert!(!is_real_arch(bad), "{bad}");
        }
    }

    #[test]
    fn the_target_line_tells_whether_the_ptx_is_for_debugging() {
        let debug = target("//\n.version 8.0\n .target sm_90a, debug // x\n").expect("a target");
        assert_eq!((debug.arch, debug.debug), ("sm_90a", true));
        assert!(!target(".target sm_80, texmode_independent\n").expect("a target").debug);
        assert!(target("// .target sm_80, debug\n").is_none());
    }
}
