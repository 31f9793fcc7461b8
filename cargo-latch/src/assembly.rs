//! PTX to machine code by NVIDIA's tools, each text once: what ptxas makes is kept ([`result_cache`]).

use anyhow::{Context, Result};
use result_cache::{Cache, Key};
use sass::{AssembleOptions, Cubin, Message, Nvdisasm, Ptxas, Resources, Witness};
use serde::{Deserialize, Serialize};

use crate::build::Arch;
use crate::setup::{CudaTools, Home, Tools};

/// To be raised when the form of what is kept changes.
const STEP: &str = "ptxas 1";

/// NVIDIA's tools, and what they made before.
#[derive(Debug)]
pub struct Assembler {
    ptxas: Ptxas,
    nvdisasm: Nvdisasm,
    /// The hashes of the tools' contents, in that order.
    contents: [String; 2],
    /// The hash of this program's content.
    own_content: String,
    cache: Cache,
}

/// All of a [`Cubin`] but its image.
#[derive(Serialize, Deserialize)]
struct About {
    opt_level: u8,
    resources: Resources,
    messages: Vec<Message>,
}

impl Assembler {
    /// The tools that set-up has found, or why there are none.
    pub fn of(tools: &Tools) -> Result<Assembler> {
        match &tools.cuda {
            Ok(cuda) => Assembler::with(cuda, &tools.home),
            Err(error) => Err(anyhow::anyhow!("{error}")),
        }
    }

    /// These tools.
    pub fn with(cuda: &CudaTools, home: &Home) -> Result<Assembler> {
        let this = std::env::current_exe().context("cannot tell which program this is")?;
        Ok(Assembler {
            ptxas: Ptxas::new(&cuda.ptxas),
            nvdisasm: Nvdisasm::new(&cuda.nvdisasm),
            contents: [home.content_of(&cuda.ptxas)?, home.content_of(&cuda.nvdisasm)?],
            own_content: home.content_of(&this)?,
            cache: home.cache(),
        })
    }

    /// The tools by name, and the hashes of their contents.
    pub fn tools(&self) -> [(String, String); 2] {
        let [ptxas, nvdisasm] = self.contents.clone();
        [("ptxas".to_owned(), ptxas), ("nvdisasm".to_owned(), nvdisasm)]
    }

    /// The machine code of a PTX text.
    pub fn cubin(&self, ptx: &str, arch: &Arch, options: &AssembleOptions) -> Result<Cubin> {
        let key =
            Key::of(STEP).with(&self.contents[0]).with(arch.name()).with(format!("{options:?}")).with(ptx).finish();
        if let Some(cubin) = self.cache.get(&key).and_then(|kept| unpack(&kept, arch)) {
            return Ok(cubin);
        }
        let cubin = self.ptxas.assemble(ptx, arch.name(), options)?;
        self.cache.put(&key, &pack(&cubin));
        Ok(cubin)
    }

    /// The disassembled text of machine code, read.
    pub fn disassemble(&self, cubin: &Cubin) -> Result<sass::Module> {
        Ok(self.nvdisasm.disassemble(cubin)?)
    }

    /// The same, with the lines of the text that its instructions were made of; the cubin is kept for builds.
    pub fn witness(&self, ptx: &str, arch: &Arch, options: &AssembleOptions) -> Result<Witness> {
        let witness = Witness::of(&self.ptxas, &self.nvdisasm, ptx, arch.name(), options)?;
        self.cache.put(&self.cubin_key(ptx, arch, options), &pack(&witness.cubin));
        Ok(witness)
    }

    /// What this program finds in the machine code of a PTX text, found again where it has looked before. `step` names
    /// what is looked for.
    pub fn found<T: Serialize + for<'a> Deserialize<'a>>(
        &self,
        step: &str,
        ptx: &str,
        arch: &Arch,
        find: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let key = Key::of(step).with(&self.own_content).with(self.contents.join(" ")).with(arch.name()).with(ptx);
        let key = key.finish();
        if let Some(found) = self.cache.get(&key).and_then(|kept| serde_json::from_slice(&kept).ok()) {
            return Ok(found);
        }
        let found = find()?;
        self.cache.put(&key, &serde_json::to_vec(&found).context("what was found cannot be written down")?);
        Ok(found)
    }

    fn cubin_key(&self, ptx: &str, arch: &Arch, options: &AssembleOptions) -> Key {
        Key::of(STEP).with(&self.contents[0]).with(arch.name()).with(format!("{options:?}")).with(ptx).finish()
    }
}

impl About {
    fn of(cubin: &Cubin) -> About {
        About { opt_level: cubin.opt_level, resources: cubin.resources.clone(), messages: cubin.messages.clone() }
    }
}

/// A line of JSON, then the image.
fn pack(cubin: &Cubin) -> Vec<u8> {
    let mut packed = serde_json::to_vec(&About::of(cubin)).expect("messages and figures are plain data");
    packed.push(b'\n');
    packed.extend(&cubin.image);
    packed
}

fn unpack(packed: &[u8], arch: &Arch) -> Option<Cubin> {
    let end = packed.iter().position(|byte| *byte == b'\n')?;
    let about: About = serde_json::from_slice(&packed[..end]).ok()?;
    let About { opt_level, resources, messages } = about;
    Some(Cubin { image: packed[end + 1..].to_vec(), arch: arch.name().to_owned(), opt_level, resources, messages })
}
