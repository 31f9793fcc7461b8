//! What the passes of a link share.

use crate::args::{Args, OptLevel};
use crate::inputs::Object;
use crate::nvvm;
use crate::report::BeforeOptimization;
use crate::session::Session;
use crate::target::{Gpu, Unrolling};
use crate::why::Reasons;
use hint_record::{LinkReport, Route};
use inkwell::module::Module;
use nounroll_metadata::SurvivingLoop;

/// The pass that optimizes. What comes after it asks whether it is skipped.
pub const OPTIMIZE: &str = "optimize";
/// The pass that finds out why hints were not honoured.
pub const EXPLAIN: &str = "explain";

/// A link in work: what it was asked for, the module, and what has been found out on the way.
pub struct Link<'s> {
    pub args: &'s Args,
    pub session: &'s Session,
    pub gpu: &'s Gpu,
    /// On the route by libNVVM.
    pub libnvvm: Option<&'s nvvm::Compiler>,
    /// What is still to be linked.
    pub objects: Vec<Object>,
    /// What all passes work on.
    pub module: Module<'s>,
    /// The hints, as they were resolved.
    pub before: BeforeOptimization,
    /// The module before optimization, where there may be something to explain.
    pub untouched: Option<Module<'s>>,
    /// The module as it was before it was adapted for libNVVM.
    pub unadapted: Option<Module<'s>>,
    /// What was changed for libNVVM.
    pub changes: Vec<String>,
    /// The loops that are left of hints.
    pub left: Vec<SurvivingLoop>,
    /// The same loops as the PTX has them, known by their labels; none where it does not tell, and for AMD's GPUs.
    pub in_ptx: Option<Vec<SurvivingLoop>>,
    /// The module as it was before it was made ready for printing.
    pub unprinted: Option<Module<'s>>,
    /// Why LLVM has not done as hints ask.
    pub reasons: Reasons,
    /// PTX, or AMD's assembly.
    pub text: String,
    /// The same as an ELF object, where it was asked for.
    pub object: Option<Vec<u8>>,
    pub report: LinkReport,
}

impl<'s> Link<'s> {
    /// A link that has not begun.
    pub fn new(
        args: &'s Args,
        session: &'s Session,
        gpu: &'s Gpu,
        libnvvm: Option<&'s nvvm::Compiler>,
        objects: Vec<Object>,
    ) -> Link<'s> {
        Link {
            args,
            session,
            gpu,
            libnvvm,
            objects,
            module: session.context().create_module("latch"),
            before: BeforeOptimization::default(),
            untouched: None,
            unadapted: None,
            changes: Vec::new(),
            left: Vec::new(),
            in_ptx: None,
            unprinted: None,
            reasons: Reasons::default(),
            text: String::new(),
            object: None,
            report: LinkReport { hints: Vec::new(), kernels: Vec::new() },
        }
    }

    /// Does LLVM's optimizer do anything to the module?
    pub fn is_optimized(&self) -> bool {
        self.args.optimize != OptLevel::None && !self.skips(OPTIMIZE)
    }

    /// Will anybody ask why a hint was not honoured?
    pub fn explains(&self) -> bool {
        self.is_optimized() && !self.skips(EXPLAIN)
    }

    /// Which loops LLVM's optimizer unrolls: others than hinted ones are left to libNVVM where that comes next.
    pub fn unrolling(&self) -> Unrolling {
        match self.args.route {
            Route::Llc => Unrolling::Any,
            Route::Nvvm => Unrolling::Hinted,
        }
    }

    /// libNVVM, on the route by it.
    pub fn libnvvm(&self) -> &'s nvvm::Compiler {
        self.libnvvm.expect("only the list for libNVVM has passes that ask for it")
    }

    fn skips(&self, pass: &str) -> bool {
        self.args.skip_pass.iter().any(|name| name == pass)
    }
}
