//! Why a module cannot be loaded or a kernel not be launched. What goes wrong *while* a kernel runs is in
//! [`crate::fault`].

use thiserror::Error;

/// PTX text that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The text is not PTX.
    #[error("PTX line {line}: {what}")]
    Syntax {
        /// Line in the PTX text, from 1.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// An instruction the emulator does not know.
    #[error(
        "PTX line {line}: the emulator does not know the instruction `{name}`; see the table of instructions in its documentation"
    )]
    UnknownInstruction {
        /// Line in the PTX text, from 1.
        line: u32,
        /// The mnemonic with its qualifiers.
        name: String,
    },
    /// An instruction that is known, with operands it cannot have.
    #[error("PTX line {line}: `{name}`: {what}")]
    Operand {
        /// Line in the PTX text, from 1.
        line: u32,
        /// The mnemonic with its qualifiers.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// A name that nothing declares, or that is declared twice.
    #[error("PTX line {line}: {what} `{name}`")]
    Symbol {
        /// Line in the PTX text, from 1.
        line: u32,
        /// What is wrong.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The module asks for more than the emulator gives.
    #[error("PTX line {line}: {what} is more than the emulator's limit of {limit}")]
    TooLarge {
        /// Line in the PTX text, from 1.
        line: u32,
        /// What is too large.
        what: &'static str,
        /// The largest value accepted.
        limit: u64,
    },
}

impl LoadError {
    pub(crate) fn syntax(line: u32, what: String) -> Self {
        LoadError::Syntax { line, what }
    }
}
