//! Loop IDs: the metadata that LLVM reads from a latch.
//!
//! An ID is a distinct node whose first operand is itself; the others are properties. Ours are the hint
//! (`llvm.loop.unroll.disable`, `.full` or `.count`) and [`SITE_PROPERTY`], which names the source site and the function
//! that the loop stood in when hints were resolved. LLVM keeps properties that it does not know, so after optimization
//! the site still tells which loops are left of a hint. A loop that must have an ID and has no hint gets
//! [`PLAIN_PROPERTY`]: an ID without properties, or with places in the source alone, counts for LLVM as none.

use crate::ffi::{self, Metadata, MetadataBuilder};
use codegen_pass::{HintKind, Site};
use inkwell::context::ContextRef;
use inkwell::values::{InstructionValue, MetadataValue};

/// The name of our own property: `!{!"latch.site", !"<site>", !"<function's symbol>"}`.
pub const SITE_PROPERTY: &str = "latch.site";
/// The property of a loop whose ID only has to be there.
pub const PLAIN_PROPERTY: &str = "latch.plain";
const LOOP_KIND: &str = "llvm.loop";
const UNROLL_PREFIX: &str = "llvm.loop.unroll.";

/// Reads and writes loop IDs in one context.
pub struct LoopIds<'ctx> {
    context: ContextRef<'ctx>,
    builder: MetadataBuilder<'ctx>,
    kind: u32,
}

/// The loop IDs that a loop's latches carried before its hint was resolved: their properties, each once.
#[derive(Default)]
pub struct Existing<'ctx> {
    properties: Vec<MetadataValue<'ctx>>,
}

impl<'ctx> LoopIds<'ctx> {
    /// For modules of this context.
    pub fn new(context: ContextRef<'ctx>) -> LoopIds<'ctx> {
        LoopIds { context, builder: MetadataBuilder::new(context), kind: context.get_kind_id(LOOP_KIND) }
    }

    /// What the terminators of a loop's latches carry.
    pub fn existing(&self, terminators: impl Iterator<Item = InstructionValue<'ctx>>) -> Existing<'ctx> {
        let mut properties = Vec::new();
        for node in terminators.filter_map(|terminator| terminator.get_metadata(self.kind)) {
            for property in ffi::node_operands(node).into_iter().flatten() {
                if property != node && !properties.contains(&property) {
                    properties.push(property);
                }
            }
        }
        Existing { properties }
    }

    /// Gives a hinted loop its ID. Properties that were there stay, but for requests to unroll in another way.
    pub fn write_hint(
        &self,
        terminator: InstructionValue<'ctx>,
        existing: &Existing<'ctx>,
        site: &Site,
        factor: u64,
        function: &str,
    ) {
        let kept = existing.properties.iter().filter(|property| !is_unroll_request(**property));
        let mut properties: Vec<Metadata> = kept.map(|property| self.builder.existing(*property)).collect();
        properties.push(self.unroll_property(site.kind, factor));
        let texts = [SITE_PROPERTY, &site.to_string(), function].map(|text| self.builder.string(text));
        properties.push(self.builder.node(&texts));
        self.builder.attach(terminator, self.kind, self.builder.self_referencing(&properties));
    }

    /// Gives a loop without hint an ID of its own. Properties that were there stay.
    pub fn write_plain(&self, terminator: InstructionValue<'ctx>, existing: &Existing<'ctx>) {
        let mut properties: Vec<Metadata> =
            existing.properties.iter().map(|property| self.builder.existing(*property)).collect();
        properties.push(self.builder.node(&[self.builder.string(PLAIN_PROPERTY)]));
        self.builder.attach(terminator, self.kind, self.builder.self_referencing(&properties));
    }

    /// The terminator's ID.
    pub fn node(&self, terminator: InstructionValue<'ctx>) -> Option<MetadataValue<'ctx>> {
        terminator.get_metadata(self.kind)
    }

    /// Gives the terminator an ID that another has.
    pub fn set(&self, terminator: InstructionValue<'ctx>, node: MetadataValue<'ctx>) {
        terminator.set_metadata(node, self.kind).expect("an ID is a node");
    }

    /// Does the terminator's ID make LLVM print the pragma?
    pub fn forbids_unrolling(&self, terminator: InstructionValue<'ctx>) -> bool {
        let node = terminator.get_metadata(self.kind);
        node.into_iter().flat_map(ffi::node_operands).flatten().any(forbids_unrolling)
    }

    /// Takes the ID off a terminator that is no latch any more.
    pub fn remove(&self, terminator: InstructionValue<'ctx>) {
        ffi::detach(terminator, self.kind);
    }

    /// The site and the function that a latch's ID names.
    pub fn read_site(&self, terminator: InstructionValue<'ctx>) -> Option<(Site, String)> {
        let node = terminator.get_metadata(self.kind)?;
        ffi::node_operands(node).into_iter().flatten().find_map(|property| {
            let texts: Vec<String> =
                ffi::node_operands(property).into_iter().flatten().map_while(ffi::metadata_string).collect();
            match &texts[..] {
                [name, site, function] if name == SITE_PROPERTY => Some((site.parse().ok()?, function.clone())),
                _ => None,
            }
        })
    }

    fn unroll_property(&self, kind: HintKind, factor: u64) -> Metadata {
        match (kind, factor) {
            (HintKind::Nounroll, _) => self.builder.node(&[self.builder.string("llvm.loop.unroll.disable")]),
            (HintKind::Unroll, 0) => self.builder.node(&[self.builder.string("llvm.loop.unroll.full")]),
            (HintKind::Unroll, factor) => {
                let count = self.context.i32_type().const_int(factor, false);
                self.builder.node(&[self.builder.string("llvm.loop.unroll.count"), self.builder.constant(count)])
            }
        }
    }
}

fn name(property: MetadataValue<'_>) -> Option<String> {
    ffi::node_operands(property).into_iter().next().flatten().and_then(ffi::metadata_string)
}

fn is_unroll_request(property: MetadataValue<'_>) -> bool {
    name(property).is_some_and(|name| name.starts_with(UNROLL_PREFIX))
}

/// The printer takes a count of 1 for the same.
fn forbids_unrolling(property: MetadataValue<'_>) -> bool {
    match name(property).as_deref().and_then(|name| name.strip_prefix(UNROLL_PREFIX)) {
        Some("disable") => true,
        Some("count") => ffi::number_operand(property, 1) == Some(1),
        _ => false,
    }
}
