//! What the tests share: modules written by hand, and a reader of LLVM's text that knows nothing of the crate's code.
//!
//! In the modules, a line `enter N` stands for an enter marker of site N, and `body N` or `body N FACTOR` for a body
//! marker. Sites from 100 on are `#[unroll]`, the others `#[nounroll]`; site N names line 10 + N.
#![allow(dead_code, reason = "every test file uses a part of it")]

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use nounroll_metadata::{Error, HintOutcome, prepare_for_printing, resolve_hints};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The text of site N.
pub fn site(number: u32) -> String {
    let kind = if number >= 100 { "unroll" } else { "nounroll" };
    format!("{kind}|pkg|src/lib.rs|{}|5", 10 + number)
}

/// LLVM's text for a module whose functions are given, with the markers' shorthand replaced.
pub fn ir(functions: &str) -> String {
    let mut text = String::from("target triple = \"nvptx64-nvidia-cuda\"\n");
    let mut sites = BTreeSet::new();
    for line in functions.lines() {
        match marker(line, &mut sites) {
            Some(call) => text.push_str(&call),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    for &number in &sites {
        let name = site(number);
        writeln!(text, "@site{number} = private unnamed_addr constant [{} x i8] c\"{name}\"", name.len()).unwrap();
    }
    if !sites.is_empty() {
        text.push_str("declare void @__latch_loop_enter(ptr, i64)\ndeclare void @__latch_loop_body(ptr, i64, i64)\n");
    }
    text
}

fn marker(line: &str, sites: &mut BTreeSet<u32>) -> Option<String> {
    let (line, debug) =
        line.split_once(", !dbg").map_or((line, String::new()), |(call, at)| (call, format!(", !dbg{at}")));
    let words: Vec<&str> = line.split_whitespace().collect();
    let (role, number, factor) = match words[..] {
        ["enter", number] => ("enter", number, String::new()),
        ["body", number] => ("body", number, ", i64 1".to_owned()),
        ["body", number, factor] => ("body", number, format!(", i64 {factor}")),
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    sites.insert(number);
    let length = site(number).len();
    Some(format!("  call void @__latch_loop_{role}(ptr @site{number}, i64 {length}{factor}){debug}"))
}

/// Reads a module that a test wrote, and holds it to LLVM's verifier.
pub fn parse<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{}\n{text}", error.to_string()));
    module.verify().unwrap_or_else(|error| panic!("the test's own module is wrong: {}\n{text}", error.to_string()));
    module
}

/// A module after its hints were resolved.
pub struct Resolved {
    pub outcomes: Vec<HintOutcome>,
    pub text: String,
}

/// Resolves the hints of a module in the tests' shorthand.
pub fn resolve(functions: &str) -> Resolved {
    try_resolve(functions).expect("the hints can be resolved")
}

pub fn try_resolve(functions: &str) -> Result<Resolved, Error> {
    let context = Context::create();
    let module = parse(&context, &ir(functions));
    let outcomes = resolve_hints(&module)?;
    let text = module.print_to_string().to_string();
    assert!(!text.contains("@__latch_loop"), "no marker is left:\n{text}");
    Ok(Resolved { outcomes, text })
}

impl Resolved {
    /// The functions' text: without header, constants, declarations and attributes, and with the metadata.
    pub fn shown(&self) -> String {
        let noise = ["; ModuleID", "source_filename", "target ", "@site", "declare ", "attributes "];
        let lines = self.text.lines().filter(|line| !noise.iter().any(|start| line.starts_with(start)));
        // LLVM lists predecessors in the order of its use lists, which is no promise.
        let lines = lines.map(|line| line.split_once(";").map_or(line, |(code, _)| code).trim_end());
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    /// Each outcome in a line: site's line, and header <- latch (back edges), or the reason.
    pub fn verdicts(&self) -> Vec<String> {
        let show = |outcome: &HintOutcome| match &outcome.verdict {
            Ok(marked) => {
                format!("{}: {} <- {} ({})", outcome.site.line - 10, marked.header, marked.latch, marked.back_edges)
            }
            Err(reason) => format!("{}: {reason:?}", outcome.site.line - 10),
        };
        self.outcomes.iter().map(show).collect()
    }

    /// The loop IDs in the text.
    pub fn ids(&self) -> LoopIds {
        LoopIds::read(&self.text)
    }
}

/// The loop IDs of a module, read from its text.
pub struct LoopIds {
    /// By `function:block`, the number of the node.
    pub by_block: BTreeMap<String, u32>,
    /// Those of them that end in a switch, which has an ID whether or not it is a latch.
    switches: BTreeSet<String>,
    nodes: BTreeMap<u32, String>,
}

impl LoopIds {
    pub fn read(text: &str) -> LoopIds {
        let mut ids = LoopIds { by_block: BTreeMap::new(), switches: BTreeSet::new(), nodes: BTreeMap::new() };
        let (mut function, mut block) = (String::new(), String::new());
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once("define ").and_then(|(_, rest)| rest.split_once('@')) {
                function = rest[..rest.find('(').unwrap()].to_owned();
                block = "entry".to_owned();
            } else if let Some((number, node)) = line.strip_prefix('!').and_then(|line| line.split_once(" = ")) {
                ids.nodes.extend(number.parse().ok().map(|number: u32| (number, node.to_owned())));
            } else if let Some((label, _)) = line.split_once(':').filter(|_| !line.starts_with([' ', '!', '\t', ']'])) {
                block = label.to_owned();
            } else if let Some((_, id)) = line.split_once("!llvm.loop !") {
                let digits: String = id.chars().take_while(char::is_ascii_digit).collect();
                let place = format!("{function}:{block}");
                if line.starts_with("  ]") {
                    ids.switches.insert(place.clone());
                }
                assert!(ids.by_block.insert(place, digits.parse().unwrap()).is_none(), "one terminator a block");
            }
        }
        ids
    }

    /// The blocks with a branch that carries an ID, of all functions.
    pub fn blocks(&self) -> Vec<&str> {
        let branches = self.by_block.keys().filter(|place| !self.switches.contains(*place));
        branches.map(|place| place.split_once(':').unwrap().1).collect()
    }

    /// The blocks with a switch that carries an ID.
    pub fn switches(&self) -> Vec<&str> {
        self.switches.iter().map(|place| place.split_once(':').unwrap().1).collect()
    }

    /// The text of the node that a block carries. Panics where it is not distinct and self-referencing.
    pub fn node(&self, block: &str) -> &str {
        let (_, number) = self.by_block.iter().find(|(place, _)| place.ends_with(&format!(":{block}"))).unwrap();
        let node = &self.nodes[number];
        let start = format!("distinct !{{!{number}");
        assert!(node.starts_with(&start), "`{node}` is no loop ID");
        node
    }

    /// The numbers of the properties that a block's ID holds.
    pub fn property_numbers(&self, block: &str) -> Vec<u32> {
        let inner = self.node(block).trim_start_matches("distinct !{").trim_end_matches('}');
        inner.split(", ").skip(1).map(|number| number.trim_start_matches('!').parse().unwrap()).collect()
    }

    /// The properties that a block's ID holds, each as its node's text.
    pub fn properties(&self, block: &str) -> Vec<&str> {
        self.property_numbers(block).iter().map(|number| self.nodes[number].as_str()).collect()
    }

    /// Does the node with this number hold a site property?
    pub fn names_a_site(&self, number: u32) -> bool {
        self.property_texts(number).iter().any(|text| text.starts_with("!{!\"latch.site\""))
    }

    /// Does the ID of a block of this name, if it has one, make LLVM print the pragma?
    pub fn forbids_unrolling(&self, block: &str) -> bool {
        let place = self.by_block.iter().find(|(place, _)| place.ends_with(&format!(":{block}")));
        let says =
            |text: &&str| ["!{!\"llvm.loop.unroll.disable\"}", "!{!\"llvm.loop.unroll.count\", i32 1}"].contains(text);
        place.is_some_and(|(_, number)| self.property_texts(*number).iter().any(says))
    }

    fn property_texts(&self, number: u32) -> Vec<&str> {
        let inner = self.nodes[&number].trim_start_matches("distinct !{").trim_end_matches('}');
        let numbers = inner.split(", ").skip(1).filter_map(|number| number.trim_start_matches('!').parse::<u32>().ok());
        numbers.map(|number| self.nodes[&number].as_str()).collect()
    }

    /// What the site property of a block's ID says, if it has one.
    pub fn site(&self, block: &str) -> Option<String> {
        let sites: Vec<&str> =
            self.properties(block).into_iter().filter(|text| text.starts_with("!{!\"latch.site\"")).collect();
        assert!(sites.len() <= 1, "one site a loop");
        let text = sites.first()?;
        Some(text.split(", ").nth(1).unwrap().trim_matches(['!', '"']).to_owned())
    }
}

/// A GPU to optimize for, at one of rustc's levels.
fn machine(level: &str) -> TargetMachine {
    Target::initialize_nvptx(&InitializationConfig::default());
    let triple = TargetTriple::create("nvptx64-nvidia-cuda");
    let level = match level {
        "0" => OptimizationLevel::None,
        "1" => OptimizationLevel::Less,
        "3" => OptimizationLevel::Aggressive,
        _ => OptimizationLevel::Default,
    };
    let target = Target::from_triple(&triple).unwrap();
    target.create_target_machine(&triple, "sm_90", "", level, RelocMode::Default, CodeModel::Default).unwrap()
}

/// Optimizes a module as the linker does, and holds it to the verifier.
pub fn optimize(module: &Module<'_>, level: &str) {
    let machine = machine(level);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.run_passes(&format!("default<O{level}>"), &machine, PassBuilderOptions::create()).unwrap();
    module.verify().unwrap_or_else(|error| panic!("{}", error.to_string()));
}

/// The `.pragma "nounroll"` directives in a module's PTX.
pub fn pragmas(module: &Module<'_>, level: &str) -> usize {
    prepare_for_printing(module);
    module.verify().unwrap_or_else(|error| panic!("{}", error.to_string()));
    let ptx = machine(level).write_to_memory_buffer(module, FileType::Assembly).unwrap();
    String::from_utf8_lossy(ptx.as_slice()).matches(".pragma \"nounroll\"").count()
}
