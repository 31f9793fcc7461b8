//! The cubin that is shipped, and one beside it that tells from which line of the PTX each instruction was made.
//!
//! With `-lineinfo`, ptxas notes the line of the PTX text for every instruction, also where the text has no `.loc`. The
//! machine code is the same (that is checked, and anything else is an error), so what the second cubin says holds for
//! the first. Both are assembled at once: on two cores the witness costs no time.

use std::thread;

use crate::{AssembleOptions, Cubin, Error, Module, Nvdisasm, Ptxas, Result, same_code};

/// A cubin, and its disassembly with the lines of the PTX text.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The cubin to ship: assembled as asked.
    pub cubin: Cubin,
    /// Its code. Every [`crate::Instruction::ptx_line`] is a line of the text that was assembled.
    pub module: Module,
}

impl Witness {
    /// Assembles `ptx` as `options` say, and once more with line information; disassembles the second.
    ///
    /// # Errors
    /// Those of [`Ptxas::assemble`] and [`Nvdisasm::disassemble`]; [`Error::HasLocations`] where the text was not split
    /// ([`crate::split`]); [`Error::WitnessDiffers`] where line information changed the code.
    pub fn of(ptxas: &Ptxas, nvdisasm: &Nvdisasm, ptx: &str, arch: &str, options: &AssembleOptions) -> Result<Witness> {
        if let Some(at) = ptx.lines().position(is_location) {
            return Err(Error::HasLocations { line: at + 1 });
        }
        let (cubin, witness) = thread::scope(|scope| {
            let with_lines = AssembleOptions { line_info: true, ..*options };
            let witness = scope.spawn(move || ptxas.assemble(ptx, arch, &with_lines));
            let cubin = ptxas.assemble(ptx, arch, options);
            (cubin, witness.join())
        });
        let cubin = cubin?;
        let witness = witness.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let sections = same_code(&cubin.image, &witness.image)?;
        if !sections.is_empty() {
            return Err(Error::WitnessDiffers { arch: arch.to_owned(), sections });
        }
        Ok(Witness { cubin, module: nvdisasm.disassemble_with_ptx_lines(&witness)? })
    }
}

/// `.loc 1 2 3`, and not `.local`.
fn is_location(line: &str) -> bool {
    line.trim_start().strip_prefix(".loc").is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_array_is_no_location() {
        assert!(is_location("\t.loc\t1 80 3") && is_location(".loc 1 2 3"));
        assert!(
            !is_location("\t.local .align 4 .b8 \t__local_depot0[16];") && !is_location("\tld.local.b32 %r1, [%rd1];")
        );
    }
}
