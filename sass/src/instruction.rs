//! One machine instruction, and where control goes after it.
//!
//! nvdisasm prints an instruction as
//!
//! ```text
//! /*0230*/              @!P0 BRA P1, `(.L_x_42) ;
//! /*0110*/                   BRX R4 -0x120      (*"BRANCH_TARGETS .L_x_122,.L_x_123,.L_x_79"*);
//! ```
//!
//! What the opcodes do to control flow (sm_75 to sm_120a):
//!
//! - `BRA`, `JMP` in all forms go to their label; a predicate, before the opcode or as an operand, makes that a choice,
//!   and so do `.DIV` and `.CONV`, which ask whether the warp has diverged;
//! - `BRX`, `JMX` and their uniform forms go to an address in a register; nvdisasm lists the targets as a note;
//! - `CALL` goes on behind itself when the callee returns. Where a register names the callee, the label beside it is
//!   only what the address is relative to;
//! - `BPT.TRAP` ends the kernel. ptxas often puts nothing but padding behind it;
//! - `BSSY Bn, label` arms a convergence barrier, `BSYNC Bn` waits at it. ptxas puts the label right behind the
//!   `BSYNC`, so that waiting is going on; `BREAK` takes threads out of the barrier and goes on as well, `BMOV` saves
//!   it or brings it back, perhaps as another `Bn`, and `YIELD` lets other threads of the warp run first;
//! - `WARPSYNC.COLLECTIVE` gathers threads and names the place right behind its `ENDCOLLECTIVE`;
//! - every other instruction goes on.

use std::fmt;
use std::sync::Arc;

/// A line of source code. More than one [`Frame`] where a call was inlined: the innermost first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source(pub(crate) Arc<[Frame]>);

/// One step of a [`Source`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame {
    /// The file, as the compiler named it.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
}

impl Source {
    /// Where the code was written.
    pub fn innermost(&self) -> &Frame {
        &self.0[0]
    }

    /// Where the code was written, then the calls through which it was inlined.
    pub fn frames(&self) -> &[Frame] {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, frame) in self.0.iter().enumerate() {
            let joint = if at == 0 { "" } else { ", inlined at " };
            write!(f, "{joint}{}:{}", frame.file, frame.line)?;
        }
        Ok(())
    }
}

/// The condition under which a thread executes an instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Predicate {
    /// Execute where the register is false.
    pub negated: bool,
    /// `P0`, `UP3`, `PT`.
    pub register: String,
}

impl Predicate {
    /// Reads `P0`, `!P0`; other text is no predicate.
    pub(crate) fn parse(text: &str) -> Option<Predicate> {
        let register = text.strip_prefix('!').unwrap_or(text);
        let number = register.strip_prefix("UP").or_else(|| register.strip_prefix('P'))?;
        let known = number == "T" || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
        known.then(|| Predicate { negated: register.len() < text.len(), register: register.to_owned() })
    }

    fn is_constant(&self) -> bool {
        self.register.ends_with('T')
    }

    fn never_holds(&self) -> bool {
        self.is_constant() && self.negated
    }

    fn always_holds(&self) -> bool {
        self.is_constant() && !self.negated
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negated { "!" } else { "" }, self.register)
    }
}

/// A place in the code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// In the section at hand.
    Address(u64),
    /// A symbol that the section does not define.
    Symbol(String),
}

/// What a call goes to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A function with a name or an address.
    Known(Place),
    /// Whatever a register holds.
    Register,
}

/// Where control goes after an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flow {
    /// On to the next instruction.
    Next,
    /// To `to`; where `conditional`, perhaps to the next instruction.
    Jump {
        /// Where to.
        to: Place,
        /// Is there a choice?
        conditional: bool,
    },
    /// To one of several places, picked by a register.
    IndirectJump {
        /// Where to; `None` where nvdisasm does not tell.
        to: Option<Vec<u64>>,
        /// Is there a choice?
        conditional: bool,
    },
    /// Into a function, and on when that returns.
    Call {
        /// Which function.
        callee: Callee,
        /// Is there a choice?
        conditional: bool,
    },
    /// Back to the caller.
    Return {
        /// Is there a choice?
        conditional: bool,
    },
    /// The thread ends.
    Exit {
        /// Is there a choice?
        conditional: bool,
    },
    /// Sets up a convergence barrier whose threads meet right before `at`.
    ArmBarrier {
        /// The barrier register.
        barrier: String,
        /// The first instruction behind the meeting point.
        at: Place,
    },
    /// Waits at a convergence barrier, then goes on.
    AwaitBarrier {
        /// The barrier register.
        barrier: String,
    },
}

/// One machine instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Its place in the section.
    pub address: u64,
    /// The condition, where there is one.
    pub predicate: Option<Predicate>,
    /// The opcode with its modifiers, such as `LDG.E.64.CONSTANT`.
    pub opcode: String,
    /// The operands as nvdisasm writes them.
    pub operands: Vec<String>,
    /// Where control goes.
    pub flow: Flow,
    /// Where it comes from, where line information was kept.
    pub source: Option<Source>,
    /// The line of the PTX text that it was made from, in a [`crate::Witness`].
    pub ptx_line: Option<u32>,
}

impl Instruction {
    /// The opcode without its modifiers: `LDG` of `LDG.E.64`.
    pub fn mnemonic(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// Does the opcode start with `opcode`, modifier by modifier? `LDG.E.64` is an `LDG` and an `LDG.E`, but no `LD`.
    pub fn is(&self, opcode: &str) -> bool {
        self.opcode.strip_prefix(opcode).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(predicate) = &self.predicate {
            write!(f, "@{predicate} ")?;
        }
        f.write_str(&self.opcode)?;
        let operands = self.operands.join(", ");
        if operands.is_empty() { Ok(()) } else { write!(f, " {operands}") }
    }
}

/// An instruction whose labels have no addresses yet.
#[derive(Clone, Debug)]
pub(crate) struct Unlinked {
    pub(crate) address: u64,
    pub(crate) predicate: Option<Predicate>,
    pub(crate) opcode: String,
    pub(crate) operands: Vec<String>,
    /// The targets of an indirect jump.
    pub(crate) table: Option<Vec<String>>,
    pub(crate) source: Option<Source>,
    pub(crate) ptx_line: Option<u32>,
}

/// What [`Unlinked::link`] asks for a label's address. An error means that there must be one.
pub(crate) type Resolve<'a> = dyn Fn(&str) -> Result<Place, String> + 'a;

impl Unlinked {
    /// Finds out where control goes.
    ///
    /// # Errors
    /// One sentence, where an operand that must be there is missing or a label is unknown.
    pub(crate) fn link(self, resolve: &Resolve<'_>) -> Result<Instruction, String> {
        let flow = if self.never_happens() { Flow::Next } else { self.flow(resolve)? };
        let Unlinked { address, predicate, opcode, operands, source, ptx_line, .. } = self;
        Ok(Instruction { address, predicate, opcode, operands, flow, source, ptx_line })
    }

    fn flow(&self, resolve: &Resolve<'_>) -> Result<Flow, String> {
        let mut parts = self.opcode.split('.');
        let mnemonic = parts.next().unwrap_or_default();
        let has = |modifier: &str| self.opcode.split('.').skip(1).any(|part| part == modifier);
        let conditional = self.is_conditional();
        Ok(match mnemonic {
            "BRA" | "JMP" => {
                let conditional = conditional || has("DIV") || has("CONV");
                Flow::Jump { to: self.target(resolve)?, conditional }
            }
            "WARPSYNC" if has("COLLECTIVE") => Flow::Jump { to: self.target(resolve)?, conditional: true },
            "BRX" | "BRXU" | "JMX" | "JMXU" => Flow::IndirectJump { to: self.table_addresses(resolve)?, conditional },
            "CALL" => Flow::Call { callee: self.callee(resolve)?, conditional },
            "RET" | "RTT" => Flow::Return { conditional },
            "EXIT" | "KILL" => Flow::Exit { conditional },
            "BPT" if has("TRAP") => Flow::Exit { conditional },
            "BSSY" => Flow::ArmBarrier { barrier: self.barrier()?, at: self.target(resolve)? },
            "BSYNC" => Flow::AwaitBarrier { barrier: self.barrier()? },
            _ => Flow::Next,
        })
    }

    /// Is the predicate false whatever happens, before the opcode or, of a branch, among its operands?
    fn never_happens(&self) -> bool {
        let among_operands = || self.operands.iter().filter_map(|operand| Predicate::parse(operand));
        let is_branch = self.opcode.starts_with("BRA");
        let false_for_good = is_branch && among_operands().any(|predicate| predicate.never_holds());
        false_for_good || self.predicate.as_ref().is_some_and(Predicate::never_holds)
    }

    /// Can a thread go past the jump?
    fn is_conditional(&self) -> bool {
        let choice = |predicate: &Predicate| !predicate.always_holds();
        let guarded = self.predicate.as_ref().is_some_and(choice);
        guarded || self.operands.iter().filter_map(|operand| Predicate::parse(operand)).any(|p| choice(&p))
    }

    fn target(&self, resolve: &Resolve<'_>) -> Result<Place, String> {
        let operand = self.operands.last().map(String::as_str).unwrap_or_default();
        if let Some(label) = label(operand) {
            return resolve(label);
        }
        let hex = operand.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        hex.map(Place::Address).ok_or_else(|| format!("`{}` names no place to go to", self.opcode))
    }

    fn callee(&self, resolve: &Resolve<'_>) -> Result<Callee, String> {
        let operand = self.operands.last().map(String::as_str).unwrap_or_default();
        let by_name = operand.starts_with('`') || operand.starts_with("0x");
        if by_name { self.target(resolve).map(Callee::Known) } else { Ok(Callee::Register) }
    }

    fn table_addresses(&self, resolve: &Resolve<'_>) -> Result<Option<Vec<u64>>, String> {
        let Some(labels) = &self.table else { return Ok(None) };
        let address = |label: &String| match resolve(label)? {
            Place::Address(address) => Ok(address),
            Place::Symbol(symbol) => Err(format!("the branch target `{symbol}` is not in this section")),
        };
        labels.iter().map(address).collect::<Result<_, _>>().map(Some)
    }

    fn barrier(&self) -> Result<String, String> {
        self.operands.first().cloned().ok_or_else(|| format!("`{}` names no barrier", self.opcode))
    }
}

/// The label in `` `(.L_x_3) ``.
fn label(operand: &str) -> Option<&str> {
    operand.strip_prefix("`(")?.strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(predicate: Option<&str>, opcode: &str, operands: &[&str]) -> Result<Flow, String> {
        let instruction = Unlinked {
            address: 0,
            predicate: predicate.map(|text| Predicate::parse(text).expect("a predicate")),
            opcode: opcode.to_owned(),
            operands: operands.iter().map(|&operand| operand.to_owned()).collect(),
            table: None,
            source: None,
            ptx_line: None,
        };
        let resolve = |label: &str| match label {
            ".L_x_1" => Ok(Place::Address(0x40)),
            ".L_x_2" => Err("no such label".to_owned()),
            other => Ok(Place::Symbol(other.to_owned())),
        };
        Ok(instruction.link(&resolve)?.flow)
    }

    fn jump(conditional: bool) -> Flow {
        Flow::Jump { to: Place::Address(0x40), conditional }
    }

    #[test]
    fn a_jump_is_conditional_by_predicate_operand_or_kind() {
        let to = "`(.L_x_1)";
        assert_eq!(link(None, "BRA", &[to]), Ok(jump(false)));
        assert_eq!(link(Some("PT"), "BRA", &[to]), Ok(jump(false)));
        assert_eq!(link(Some("!P0"), "BRA", &[to]), Ok(jump(true)));
        assert_eq!(link(None, "BRA", &["P1", to]), Ok(jump(true)));
        assert_eq!(link(None, "BRA.U", &["!UP0", to]), Ok(jump(true)));
        assert_eq!(link(None, "BRA.U", &["UPT", to]), Ok(jump(false)));
        assert_eq!(link(None, "BRA.DIV", &["~URZ", to]), Ok(jump(true)));
        assert_eq!(link(None, "BRA.CONV", &["UR4", to]), Ok(jump(true)));
        assert_eq!(link(None, "WARPSYNC.COLLECTIVE", &["R0", to]), Ok(jump(true)));
    }

    #[test]
    fn a_jump_that_never_happens_goes_on() {
        assert_eq!(link(Some("!PT"), "BRA", &["`(.L_x_1)"]), Ok(Flow::Next));
        assert_eq!(link(None, "BRA.U", &["!UPT", "`(.L_x_1)"]), Ok(Flow::Next));
        assert_eq!(link(Some("!UPT"), "EXIT", &[]), Ok(Flow::Next));
    }

    #[test]
    fn a_register_beats_the_label_that_a_call_is_relative_to() {
        let call = |callee| Ok(Flow::Call { callee, conditional: false });
        let symbol = |name: &str| Callee::Known(Place::Symbol(name.to_owned()));
        assert_eq!(link(None, "CALL.REL.NOINC", &["`($k$f)"]), call(symbol("$k$f")));
        assert_eq!(link(None, "CALL.REL.NOINC", &["R2 `(k)"]), call(Callee::Register));
        assert_eq!(link(None, "CALL.ABS.NOINC", &["R2"]), call(Callee::Register));
    }

    #[test]
    fn a_trap_ends_the_thread_and_a_breakpoint_does_not() {
        assert_eq!(link(None, "BPT.TRAP", &["0x1"]), Ok(Flow::Exit { conditional: false }));
        assert_eq!(link(Some("P0"), "BPT.TRAP", &["0x1"]), Ok(Flow::Exit { conditional: true }));
        assert_eq!(link(None, "BPT.INT", &["0x1"]), Ok(Flow::Next));
    }

    #[test]
    fn missing_parts_are_errors() {
        assert!(link(None, "BRA", &[]).is_err());
        assert!(link(None, "BRA", &["R4"]).is_err());
        assert!(link(None, "BRA", &["`(.L_x_2)"]).is_err());
        assert!(link(None, "BSYNC", &[]).is_err());
    }

    #[test]
    fn an_opcode_is_matched_modifier_by_modifier() {
        let load = Unlinked {
            address: 0,
            predicate: None,
            opcode: "LDG.E.64".to_owned(),
            operands: vec![],
            table: None,
            source: None,
            ptx_line: None,
        };
        let load = load.link(&|_| Err(String::new())).expect("an instruction");
        assert!(load.is("LDG") && load.is("LDG.E") && load.is("LDG.E.64"));
        assert!(!load.is("LD") && !load.is("LDG.E.6") && !load.is("LDG.E.64.CONSTANT"));
    }
}
