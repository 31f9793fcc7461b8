//! Every instruction of a module gets a line number of its own.
//!
//! Line numbers are what optimizers carry along, LLVM's to its remarks and libNVVM's to its PTX, and they do not change
//! what is done. So the numbers tell of which instruction something was made or said, and [`Numbers`] of which loop
//! that was a part.
//!
//! Loops that LLVM has made of one ([`nounroll_metadata::whole`]) count as one.

use codegen_pass::{Block, LoopForest, LoopId};
use inkwell::debug_info::{
    AsDIScope, DIFile, DIFlags, DIFlagsConstants, DISubroutineType, DWARFEmissionKind, DWARFSourceLanguage,
    DebugInfoBuilder, debug_metadata_version,
};
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::FunctionValue;
use nounroll_metadata::{FunctionGraph, LoopIds, SurvivingLoop, surviving_loops, whole};
use std::collections::HashMap;

/// The flag without which LLVM drops debug information.
const VERSION: &str = "Debug Info Version";

/// Of which loop every numbered instruction is a part.
#[derive(Default)]
pub struct Numbers {
    /// The innermost loop of the instruction with a number; the first instruction has the number 1.
    innermost: Vec<Option<SourceLoop>>,
    /// The loop right around every loop.
    parents: Vec<Option<SourceLoop>>,
    /// The hint of every loop, where it has one.
    hints: Vec<Option<SurvivingLoop>>,
}

/// A loop of the numbered module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceLoop(usize);

impl Numbers {
    /// The innermost loop around the instruction with a number.
    pub fn innermost(&self, number: u32) -> Option<SourceLoop> {
        *self.innermost.get((number as usize).checked_sub(1)?)?
    }

    /// The loop right around a loop, in the same function.
    pub fn parent(&self, inner: SourceLoop) -> Option<SourceLoop> {
        self.parents[inner.0]
    }

    /// The hint that a loop carries.
    pub fn hint(&self, hinted: SourceLoop) -> Option<&SurvivingLoop> {
        self.hints[hinted.0].as_ref()
    }
}

/// Numbers the instructions of a module whose hints are resolved. The debug information that it had is lost, and blocks
/// without name get one.
pub fn number(module: &Module<'_>) -> Numbers {
    module.strip_debug_info();
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    // LLVM makes the names differ.
    blocks.filter(|block| block.get_name().is_empty()).for_each(|block| block.set_name("block"));
    let hints = surviving_loops(module).into_iter();
    let hints = hints.map(|found| ((found.function.clone(), found.header.clone()), found)).collect();
    let mut work = Work::new(module, hints);
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        work.add_function(function);
    }
    work.builder.finalize();
    work.numbers
}

struct Work<'ctx> {
    builder: DebugInfoBuilder<'ctx>,
    file: DIFile<'ctx>,
    no_types: DISubroutineType<'ctx>,
    /// By function and header.
    hints: HashMap<(String, String), SurvivingLoop>,
    ids: LoopIds<'ctx>,
    numbers: Numbers,
}

impl<'ctx> Work<'ctx> {
    fn new(module: &Module<'ctx>, hints: HashMap<(String, String), SurvivingLoop>) -> Work<'ctx> {
        if module.get_flag(VERSION).is_none() {
            let version = u64::from(debug_metadata_version());
            let version = module.get_context().i32_type().const_int(version, false);
            module.add_basic_value_flag(VERSION, FlagBehavior::Warning, version);
        }
        let (language, kind) = (DWARFSourceLanguage::C, DWARFEmissionKind::LineTablesOnly);
        let (builder, unit) = module.create_debug_info_builder(
            false,
            language,
            "instructions",
            "",
            "latch-link",
            true,
            "",
            0,
            "",
            kind,
            0,
            false,
            false,
            "",
            "",
        );
        let file = unit.get_file();
        let no_types = builder.create_subroutine_type(file, None, &[], DIFlags::ZERO);
        let ids = LoopIds::new(module.get_context());
        Work { builder, file, no_types, hints, ids, numbers: Numbers::default() }
    }

    fn add_function(&mut self, function: FunctionValue<'ctx>) {
        let name = function.get_name().to_string_lossy().into_owned();
        let scope = self.builder.create_function(
            self.file.as_debug_info_scope(),
            &name,
            None,
            self.file,
            0,
            self.no_types,
            false,
            true,
            0,
            DIFlags::ZERO,
            true,
        );
        function.set_subprogram(scope);
        let graph = FunctionGraph::new(function);
        let forest = LoopForest::of(&graph);
        let loops = self.add_loops(&name, &graph, &forest);
        let context = function.get_type().get_context();
        for (at, block) in graph.llvm_blocks().iter().enumerate() {
            let innermost = forest.innermost(Block::new(at)).map(|id| loops[id.index()]);
            for instruction in block.get_instructions() {
                self.numbers.innermost.push(innermost);
                let number = self.numbers.innermost.len() as u32;
                let scope = scope.as_debug_info_scope();
                let location = self.builder.create_debug_location(context, number, 1, scope, None);
                instruction.set_debug_location(Some(location));
            }
        }
    }

    /// Adds a function's loops.
    fn add_loops(&mut self, function: &str, graph: &FunctionGraph<'ctx>, forest: &LoopForest) -> Vec<SourceLoop> {
        let first = self.numbers.parents.len();
        let whole = |id: LoopId| SourceLoop(first + whole(&self.ids, graph, forest, id).index());
        let loops: Vec<SourceLoop> = forest.ids().map(whole).collect();
        for id in forest.ids() {
            let header = graph.llvm_block(forest.get(id).header).get_name().to_string_lossy().into_owned();
            let around = |id: LoopId| forest.get(id).parent;
            let mut parent = around(id);
            while let Some(same) = parent.filter(|parent| loops[parent.index()] == loops[id.index()]) {
                parent = around(same);
            }
            self.numbers.parents.push(parent.map(|parent| loops[parent.index()]));
            self.numbers.hints.push(self.hints.get(&(function.to_owned(), header)).cloned());
        }
        loops
    }
}
