//! Machine code to text, and the text read.
//!
//! `nvdisasm -c` prints the code alone, `-gi` adds source lines with the calls they were inlined through; without line
//! information in the cubin it changes nothing, so it is always given. `-gp` adds the lines of the PTX text, for a
//! [`crate::Witness`].

use std::fs;
use std::path::PathBuf;

use crate::ptxas::temporary_folder;
use crate::tool::Tool;
use crate::{Cubin, Error, Module, Result, Severity};

/// NVIDIA's disassembler.
#[derive(Clone, Debug)]
pub struct Nvdisasm {
    tool: Tool,
}

impl Nvdisasm {
    /// The disassembler at `path`; a name without a folder is looked for in `PATH`. Whether it is there shows with the
    /// first run.
    pub fn new(path: impl Into<PathBuf>) -> Nvdisasm {
        Nvdisasm { tool: Tool { name: "nvdisasm", path: path.into() } }
    }

    /// Its release, such as `13.5`.
    pub fn version(&self) -> Result<String> {
        self.tool.version()
    }

    /// Disassembles `cubin` and reads the result.
    pub fn disassemble(&self, cubin: &Cubin) -> Result<Module> {
        Ok(Module::parse(&self.text(cubin)?)?)
    }

    /// Disassembles a cubin that was assembled with line information, so that instructions have a
    /// [`crate::Instruction::ptx_line`].
    pub fn disassemble_with_ptx_lines(&self, cubin: &Cubin) -> Result<Module> {
        Ok(Module::parse(&self.print(cubin, "-gp")?)?)
    }

    /// What nvdisasm prints for `cubin`.
    pub fn text(&self, cubin: &Cubin) -> Result<String> {
        self.print(cubin, "-gi")
    }

    fn print(&self, cubin: &Cubin, lines: &str) -> Result<String> {
        let folder = temporary_folder()?;
        let path = folder.path().join("in.cubin");
        fs::write(&path, &cubin.image).map_err(|source| Error::Write { path: path.clone(), source })?;
        let output = self.tool.run(["-c".as_ref(), lines.as_ref(), path.as_os_str()])?;
        let messages = self.tool.messages(&output);
        if output.status.success() {
            return Ok(output.stdout);
        }
        if messages.iter().all(|message| message.severity < Severity::Error) {
            return Err(self.tool.broken(&output));
        }
        Err(Error::NotDisassembled { arch: cubin.arch.clone(), messages })
    }
}
