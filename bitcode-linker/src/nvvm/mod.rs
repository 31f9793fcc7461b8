//! The route by libNVVM, NVIDIA's own optimizer and code generation.
//!
//! libNVVM gets the linked module, its hints resolved, after LLVM has optimized it as on the other route, with two
//! differences: a loop without hint is not unrolled, and nothing is made a vector. [`adapt`] makes NVVM IR of it.
//! libNVVM reads LLVM 22 for sm_100 and later; for older architectures it wants the IR of LLVM 7, which has typed
//! pointers, and the error names the other route.
//!
//! # Why LLVM goes first
//! A hint should become the same on both routes. libNVVM unrolls by LLVM's metadata too, but it simplifies in another
//! order and sees fewer trip counts: given the module as it was linked, it leaves the loops of five of the 44 kernels
//! of `kernels/unroll`. Of LLVM's passes, `sroa` mends three of these, inlining before it a fourth, and nothing but
//! unrolling itself the fifth (an inner bound that the outer loop makes constant). A list of these passes alone still
//! differs on one of thirty hints of random nests; LLVM's usual one on half as many, most of which are loops that
//! libNVVM unrolls afterwards beyond what was asked. Hinted loops come out of LLVM marked, so that libNVVM does not
//! unroll them again.
//!
//! # Options
//! | here | libNVVM |
//! |---|---|
//! | `--target-cpu sm_120a` | `-arch=compute_120a` |
//! | `-O0` | `-opt=0` |
//! | `-O1`, `-O2`, `-O3`, `-Os`, `-Oz` | `-opt=3`: the only other level that it documents |
//! | `--fp-contract off`, `on` | `-fma=0`, `-fma=1` |
//!
//! Denormals, division and square root are by its defaults as IEEE 754 has them, like those of the other route. There
//! is no option for debug information: libNVVM prints the lines that the module has. Its `-g` is not given, since it
//! refuses modules of more than one crate.
//!
//! # What is left of a hint
//! The other route reads it from the loop IDs of the optimized module. libNVVM shows no such module, so what it was
//! given is compiled once more with numbered instructions, and its PTX tells which loop of it is made of which hinted
//! one ([`evidence`]). Nothing is concluded from what LLVM's own optimizer has left, unless numbering has changed the
//! loops.

mod adapt;
mod atomics;
mod error;
mod evidence;
mod intrinsics;
mod library;
mod listing;
mod overflow;

pub use error::Error;
pub use evidence::loops_left;

use crate::args::{Args, Contraction, OptLevel};
use crate::inputs::LLVM_MAJOR;
use crate::numbers;
use crate::ptx::{settle_jumps, settle_pragmas};
use inkwell::module::Module;
use library::{Failure, Library, Program};
use nounroll_metadata::SurvivingLoop;
use std::ffi::CString;

/// libNVVM, ready for one architecture.
pub struct Compiler {
    library: Library,
    options: Vec<CString>,
    is_optimized: bool,
}

impl Compiler {
    /// Loads the libNVVM that the command line names, and asks whether it reads what Rust writes for the architecture.
    pub fn new(args: &Args) -> Result<Compiler, Error> {
        let library = Library::open(args.libnvvm.as_deref().ok_or(Error::NotNamed)?)?;
        let cpu = &args.target_cpu;
        let arch = cpu.replacen("sm_", "compute_", 1);
        let unknown = || Error::UnknownArch { path: library.path().to_owned(), arch: arch.clone() };
        let name = CString::new(arch.clone()).map_err(|_| unknown())?;
        match library.llvm_version(&name)?.ok_or_else(unknown)? {
            found if found >= LLVM_MAJOR => {}
            found if found < OPAQUE_POINTERS => {
                return Err(Error::OldDialect { cpu: cpu.clone(), found, own: LLVM_MAJOR });
            }
            found => {
                let path = library.path().to_owned();
                return Err(Error::OldLibrary { path, cpu: cpu.clone(), found, own: LLVM_MAJOR });
            }
        }
        let options = options(args, &arch);
        Ok(Compiler { library, options, is_optimized: args.optimize != OptLevel::None })
    }

    /// Makes NVVM IR of a module. What was removed from it or written otherwise comes back.
    pub fn adapt(&self, module: &Module<'_>) -> Result<Vec<String>, Error> {
        Ok(adapt::adapt(module, self.library.ir_version()?, self.is_optimized))
    }

    /// The PTX of a module that has been adapted.
    pub fn ptx(&self, module: &Module<'_>, changes: &[String]) -> Result<String, Error> {
        let refused = |step, Failure(log)| Error::Refused { step, log, changes: changes.to_vec() };
        let bitcode = module.write_bitcode_to_memory();
        let program = Program::new(&self.library, bitcode.as_slice(), c"latch")?;
        let remarks = program.verify(&self.options).map_err(|failure| refused("refuses the module", failure))?;
        remark(&remarks);
        let remarks =
            program.compile(&self.options).map_err(|failure| refused("cannot compile the module", failure))?;
        remark(&remarks);
        Ok(settle_jumps(&settle_pragmas(&program.ptx()?)))
    }

    /// The loops that are left of the hints of a module that was compiled to `ptx`. None where that cannot be told: the
    /// [`evidence`] module says when.
    pub fn loops_left(&self, module: &Module<'_>, ptx: &str) -> Result<Option<Vec<SurvivingLoop>>, Error> {
        let numbered = module.clone();
        let numbers = numbers::number(&numbered);
        let changes = self.adapt(&numbered)?;
        // libNVVM may crash on what LLVM would refuse.
        numbered.verify().map_err(|message| Error::Numbers(message.to_string()))?;
        let numbered = self.ptx(&numbered, &changes)?;
        Ok(evidence::loops_left(&numbers, &numbered, ptx))
    }
}

/// The first LLVM without typed pointers. An older dialect is another language; a newer one only lacks what came later.
const OPAQUE_POINTERS: u32 = 15;

fn options(args: &Args, arch: &str) -> Vec<CString> {
    let level = if args.optimize == OptLevel::None { "-opt=0" } else { "-opt=3" };
    let contraction = match args.fp_contract {
        Contraction::Off => "-fma=0",
        Contraction::On => "-fma=1",
    };
    let options = [&format!("-arch={arch}"), level, contraction];
    options.iter().map(|option| CString::new(*option).expect("the architecture has been a C string before")).collect()
}

fn remark(remarks: &str) {
    if !remarks.is_empty() {
        tracing::info!("libNVVM: {remarks}");
    }
}

#[cfg(test)]
mod testing {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::module::Module;

    /// A module from LLVM's text.
    pub fn parse<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
        let text = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        context.create_module_from_ir(text).expect("the test's module parses")
    }

    /// The instructions of a function as LLVM prints them, one a line.
    pub fn body(module: &Module<'_>, function: &str) -> Vec<String> {
        assert!(module.verify().is_ok(), "{}", module.print_to_string());
        let function = module.get_function(function).expect("the function is there");
        let instructions = function.get_basic_block_iter().flat_map(|block| block.get_instructions());
        instructions.map(|instruction| instruction.to_string().trim_matches('"').trim().to_owned()).collect()
    }
}
