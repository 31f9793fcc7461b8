//! A kernel as text: its code, its blocks, or a picture for Graphviz.
//!
//! Only what can be reached is shown, loops are marked at their headers, and a function starts with its name. The texts
//! are for people and snapshots; [`crate::Report`] is for programs.

use std::fmt::{Display, Write};

use crate::{EdgeKind, Function, Kernel, Loop};

impl Kernel<'_, '_> {
    /// The code, with labels, source lines where known, and loops marked.
    pub fn sass(&self) -> String {
        let mut text = String::new();
        for function in self.functions() {
            header(&mut text, self, function);
            let mut source = None;
            for block in 0..function.graph.blocks.len() {
                block_label(&mut text, function, block);
                for instruction in function.code(block) {
                    if instruction.source.as_ref() != source {
                        source = instruction.source.as_ref();
                        let shown = source.map_or_else(|| "no source line".to_owned(), ToString::to_string);
                        line(&mut text, format_args!("    // {shown}"));
                    }
                    line(&mut text, format_args!("    {:#06x}  {instruction}", instruction.address));
                }
            }
        }
        text
    }

    /// The blocks and edges, a line for each block.
    pub fn cfg(&self) -> String {
        let mut text = String::new();
        for function in self.functions() {
            header(&mut text, self, function);
            for (at, block) in function.graph.blocks.iter().enumerate() {
                let edges: Vec<String> = block.edges.iter().map(|e| format!("{} ({})", e.to, word(e.kind))).collect();
                let to = if edges.is_empty() { "end".to_owned() } else { edges.join(", ") };
                let loops = mark(function, at).map(|mark| format!("  // {mark}")).unwrap_or_default();
                let code = function.code(at);
                let (first, last) = (code[0].address, code[code.len() - 1].address);
                line(&mut text, format_args!("    {at}: {first:#06x} to {last:#06x}, {} -> {to}{loops}", code.len()));
            }
        }
        text
    }

    /// The blocks and edges in Graphviz's language.
    pub fn dot(&self) -> String {
        let mut text = format!("digraph {} {{\n    node [shape=box, fontname=monospace];\n", quoted(self.name()));
        for (cluster, function) in self.functions().enumerate() {
            let name = quoted(function.symbol.short_name(self.name()));
            line(&mut text, format_args!("    subgraph cluster_{cluster} {{\n        label={name};"));
            for (at, block) in function.graph.blocks.iter().enumerate() {
                let mut label: String = mark(function, at).map(|mark| format!("{mark}\n")).unwrap_or_default();
                function.code(at).iter().for_each(|i| line(&mut label, format_args!("{:#06x} {i}", i.address)));
                line(&mut text, format_args!("        f{cluster}_{at} [label={}];", left_aligned(&label)));
                for edge in &block.edges {
                    let kind = word(edge.kind);
                    line(&mut text, format_args!("        f{cluster}_{at} -> f{cluster}_{} [label={kind}];", edge.to));
                }
            }
            text.push_str("    }\n");
        }
        text.push_str("}\n");
        text
    }
}

fn header(text: &mut String, kernel: &Kernel<'_, '_>, function: &Function<'_>) {
    if !text.is_empty() {
        text.push('\n');
    }
    let kind = match function.symbol.kind {
        crate::SymbolKind::Kernel => "kernel",
        crate::SymbolKind::Device => "device function",
        crate::SymbolKind::Arithmetic | crate::SymbolKind::Support => "helper of ptxas",
    };
    line(text, format_args!("{kind} {}", function.symbol.short_name(kernel.name())));
}

/// The labels of a block, with what it is to a loop.
fn block_label(text: &mut String, function: &Function<'_>, block: usize) {
    let address = function.code(block)[0].address;
    let labels = &function.section.labels;
    let here = labels[labels.partition_point(|(at, _)| *at < address)..].iter().take_while(|(at, _)| *at == address);
    let name = here.map(|(_, name)| name.as_str()).find(|name| name.starts_with(".L_"));
    match (name, mark(function, block)) {
        (None, None) => {}
        (name, None) => line(text, format_args!("  {}:", name.unwrap_or_default())),
        (name, Some(mark)) => line(text, format_args!("  {}:  // {mark}", name.unwrap_or("(no label)"))),
    }
}

/// `loop 2, depth 1, back from 0x0360` at a header.
fn mark(function: &Function<'_>, block: usize) -> Option<String> {
    let address = function.code(block)[0].address;
    let is_header = |(_, found): &(usize, &Loop<'_>)| found.header == address;
    let (at, found) = function.loops.iter().enumerate().find(is_header)?;
    let latches: Vec<String> = found.latches.iter().map(|latch| format!("{latch:#06x}")).collect();
    Some(format!("loop {}, depth {}, back from {}", at + 1, found.depth, latches.join(" and ")))
}

fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Next => "next",
        EdgeKind::Jump => "jump",
        EdgeKind::Indirect => "indirect",
        EdgeKind::Returned => "returned",
    }
}

fn line(text: &mut String, content: impl Display) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{content}");
}

/// A string of Graphviz's language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A label whose lines start at the left.
fn left_aligned(text: &str) -> String {
    quoted(text).replace('\n', "\\l")
}
