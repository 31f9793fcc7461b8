//! The parsed text and the rebuilt control flow, held against nvdisasm's own JSON and its own graph.
//!
//! nvdisasm's graph is no substitute for ours: it runs on behind a trap and behind a call that never returns, and a
//! function that calls itself is a loop there. Where none of these is in play, the loops must be the same. They are
//! counted here by the plainest dominator algorithm there is, which shares nothing with the one under test.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use common::ARCHS;
use common::nests::{HEADER, Style, nest};
use sass::{AssembleOptions, Cubin, Flow, Function, Module, Program};

/// `lines.ptx` last: nothing may follow its debug section.
const FILES: [&str; 9] = [
    "arithmetic.ptx",
    "calls.ptx",
    "collectives.ptx",
    "loops.ptx",
    "memory.ptx",
    "spills.ptx",
    "switch.ptx",
    "taps.ptx",
    "lines.ptx",
];

/// What nvdisasm prints for a cubin with other options than ours.
fn nvdisasm(cubin: &Cubin, options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("in.cubin");
    fs::write(&path, &cubin.image).expect("written");
    let output = Command::new(common::tool("nvdisasm")).args(options).arg(&path).output().expect("nvdisasm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// All kernels in one module, because nvdisasm takes long to start. The header is this function's; PTX for debugging
/// needs a debug section.
fn everything(arch: &str, opt_level: u8, debug: bool) -> (Cubin, Module) {
    let is_header = |line: &&str| [".version", ".target", ".address_size"].iter().any(|word| line.starts_with(word));
    let target = if debug { "sm_80, debug" } else { "sm_80" };
    let mut ptx = format!(".version 8.0\n.target {target}\n.address_size 64\n");
    for file in FILES {
        let text = fs::read_to_string(common::data(file)).expect("the file");
        text.lines().filter(|line| !is_header(line)).for_each(|line| ptx.extend([line, "\n"]));
    }
    if debug {
        ptx.push_str(".section .debug_abbrev\n{\n.b8 0\n}\n");
    }
    let options = AssembleOptions { opt_level, line_info: true, ..AssembleOptions::default() };
    let cubin = common::ptxas().assemble(&ptx, arch, &options).unwrap_or_else(|error| panic!("{arch}: {error}"));
    let module = common::disassemble(&cubin);
    (cubin, module)
}

#[test]
fn every_instruction_is_read_as_the_json_has_it() {
    for (arch, opt_level, debug) in
        [("sm_80", 3, false), ("sm_90", 3, false), ("sm_100", 0, false), ("sm_120a", 3, true)]
    {
        let (cubin, module) = everything(arch, opt_level, debug);
        compare_with_json(&cubin, &module, arch);
    }
}

fn compare_with_json(cubin: &Cubin, module: &Module, what: &str) {
    let json: serde_json::Value = serde_json::from_str(&nvdisasm(cubin, &["--emit-json"])).expect("JSON");
    let functions = json[1].as_array().expect("functions");
    assert_eq!(functions.len(), module.sections.len(), "{what}");
    for function in functions {
        let name = function["function-name"].as_str().expect("a name");
        let section = module.sections.iter().find(|section| section.name == format!(".text.{name}"));
        let section = section.unwrap_or_else(|| panic!("{what} lacks {name}"));
        let instructions = function["sass-instructions"].as_array().expect("instructions");
        assert_eq!(instructions.len(), section.instructions.len(), "{what}, {name}");
        for (theirs, ours) in instructions.iter().zip(&section.instructions) {
            let place = format!("{what}, {name}, 0x{:x}: {ours}", ours.address);
            assert_eq!(theirs["opcode"].as_str(), Some(ours.opcode.as_str()), "{place}");
            let predicate = ours.predicate.as_ref().map(|predicate| format!("@{predicate}"));
            // The JSON calls the predicate registers that `P2R` reads a predicate, too.
            let their_predicate = theirs["predicate"].as_str().filter(|text| text.starts_with('@'));
            assert_eq!(their_predicate, predicate.as_deref(), "{place}");
            // These steer convergence and wait, and then go on.
            let goes_on = matches!(ours.mnemonic(), "BMOV" | "BREAK" | "WARPSYNC" | "ENDCOLLECTIVE" | "YIELD");
            if theirs["other-attributes"]["control-flow"] == "True" {
                assert!(ours.flow != Flow::Next || goes_on, "{place}");
            } else {
                assert_eq!(ours.flow, Flow::Next, "{place}");
            }
        }
    }
}

#[test]
fn loops_are_those_of_nvdisasm_s_graph() {
    let mut compared = 0;
    let made = ARCHS.into_iter().map(|arch| (arch, 3, false)).chain([("sm_90", 0, false), ("sm_80", 0, true)]);
    for (arch, opt_level, debug) in made {
        let (cubin, module) = everything(arch, opt_level, debug);
        let graph = TheirGraph::parse(&nvdisasm(&cubin, &["-bbcfg", "-poff"]));
        let program = Program::of(&module);
        for (at, function) in program.functions().iter().enumerate() {
            let traps = function.section.instructions.iter().any(|i| i.is("BPT.TRAP"));
            if traps || function.calls.iter().any(|call| call.callees.contains(&at)) {
                continue;
            }
            let ours: BTreeSet<u64> = function.loops.iter().map(|found| found.header).collect();
            let theirs = graph.loop_headers(function);
            assert_eq!(ours, theirs, "{} on {arch}", function.symbol.name);
            compared += theirs.len();
        }
    }
    assert!(compared > 60, "{compared} loops compared");
}

/// Deep nests: convergence barriers moved between registers, breaks out of several loops, tables, warp operations.
#[test]
fn loops_of_random_nests_are_those_of_nvdisasm_s_graph() {
    let (mut compared, mut moved) = (0, 0);
    for (seed, arch) in
        [3, 4, 12, 18, 26].into_iter().flat_map(|seed| ["sm_80", "sm_90", "sm_120a"].map(|arch| (seed, arch)))
    {
        let nest = nest(seed, Style { pragmas: seed % 2 == 0, size: 20 + 4 * seed as u32 });
        let ptx = format!("{HEADER}{}", nest.text);
        let cubin = common::ptxas().assemble(&ptx, arch, &AssembleOptions::default()).expect("assembled");
        let module = common::disassemble(&cubin);
        let graph = TheirGraph::parse(&nvdisasm(&cubin, &["-bbcfg", "-poff"]));
        for function in Program::of(&module).functions() {
            let ours: BTreeSet<u64> = function.loops.iter().map(|found| found.header).collect();
            let theirs = graph.loop_headers(function);
            assert_eq!(ours, theirs, "{} of seed {seed} on {arch}", function.symbol.name);
            compared += theirs.len();
            moved += function.section.instructions.iter().filter(|i| i.is("BMOV")).count();
        }
    }
    assert!(compared > 250 && moved > 200, "{compared} loops compared, {moved} barriers moved");
}

/// nvdisasm's graph of a whole cubin: where its blocks start, and the edges. A function's first block has its name, or
/// its section's.
#[derive(Default)]
struct TheirGraph {
    starts: BTreeMap<String, u64>,
    edges: BTreeMap<String, BTreeSet<String>>,
}

impl TheirGraph {
    fn parse(dot: &str) -> TheirGraph {
        let mut graph = TheirGraph::default();
        let mut node = String::new();
        for line in dot.lines() {
            if let Some((from, to)) = line.split_once(" -> ") {
                let name = |text: &str| text.trim_start_matches('"').split('"').next().expect("a name").to_owned();
                graph.edges.entry(name(from)).or_default().insert(name(to));
            } else if let Some(name) = line.strip_prefix('"') {
                node = name.trim_end_matches('"').to_owned();
            } else if line.starts_with("[label=") {
                let before = graph.starts.insert(node.clone(), first_offset(line));
                assert_eq!(before, None, "two blocks are called {node}");
            }
        }
        graph
    }

    /// The headers of the natural loops that `function` can reach.
    fn loop_headers(&self, function: &Function<'_>) -> BTreeSet<u64> {
        let names = [function.symbol.name.clone(), function.section.name.clone()];
        let first = names.iter().find_map(|name| self.starts.get_key_value(name));
        let (entry, start) = first.unwrap_or_else(|| panic!("no first block of {}", function.symbol.name));
        assert_eq!(*start, function.symbol.address);
        let reachable = self.reachable(entry, None);
        let mut headers = BTreeSet::new();
        for (from, to) in reachable.iter().flat_map(|from| self.successors(from).map(move |to| (from, to))) {
            // `to` dominates `from` if `from` cannot be reached without it.
            if *from == to || !self.reachable(entry, Some(to)).contains(from) {
                headers.insert(self.starts[to]);
            }
        }
        headers
    }

    fn successors<'a>(&'a self, node: &str) -> impl Iterator<Item = &'a String> {
        self.edges.get(node).into_iter().flatten()
    }

    fn reachable<'a>(&'a self, entry: &'a String, without: Option<&String>) -> BTreeSet<&'a String> {
        let mut seen = BTreeSet::new();
        let mut pending = vec![entry];
        while let Some(node) = pending.pop() {
            if Some(node) != without && seen.insert(node) {
                pending.extend(self.successors(node));
            }
        }
        seen
    }
}

/// The first offset in a label: `…\l0350:\ \ \ IMAD…`.
fn first_offset(label: &str) -> u64 {
    let mut parts = label.split("\\l").flat_map(|part| part.split('>'));
    let offset = parts.find_map(|part| {
        let (digits, rest) = part.split_once(':')?;
        rest.starts_with('\\').then(|| u64::from_str_radix(digits, 16).ok()).flatten()
    });
    offset.unwrap_or_else(|| panic!("no offset in {label}"))
}
