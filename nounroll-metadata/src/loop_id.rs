//! Loop IDs: the metadata that LLVM reads from a latch.
//!
//! An ID is a distinct node whose first operand is itself; the others are properties. Ours are the hint
//! (`llvm.loop.unroll.disable`, `.full` or `.count`) and [`SITE_PROPERTY`], which names the source site and the
//! function that the loop stood in when hints were resolved. LLVM keeps properties that it does not know, so after
//! optimization the site still tells which loops are left of a hint. A loop that must have an ID and has no hint gets
//! [`PLAIN_PROPERTY`]: an ID without properties, or with places in the source only, counts for LLVM as none.
//!
//! A loop that LLVM has unrolled gets the properties that `llvm.loop.unroll.followup_unrolled` lists, and no others:
//! not to be unrolled again, its site, and [`UNROLLED_PROPERTY`]. Left to itself, LLVM would keep the site only where
//! the new latch is a copy of the old one, which it is not where the number of turns leaves a remainder. A loop for the
//! remainder gets no site.

use crate::ffi::{self, Metadata, MetadataBuilder};
use hint_record::{HintKind, Request, Site};
use inkwell::context::ContextRef;
use inkwell::values::{InstructionValue, MetadataValue};

/// The name of our own property: `!{!"latch.site", !"<site>", !"<function's symbol>"}`.
pub const SITE_PROPERTY: &str = "latch.site";
/// The property of a loop whose ID only has to be there.
pub const PLAIN_PROPERTY: &str = "latch.plain";
/// The property of a loop that LLVM has unrolled as its hint asks: by some number of copies.
pub const UNROLLED_PROPERTY: &str = "latch.unrolled";
const LOOP_KIND: &str = "llvm.loop";
const UNROLL_PREFIX: &str = "llvm.loop.unroll.";
const DISABLE: &str = "llvm.loop.unroll.disable";
const AFTERWARDS: &str = "llvm.loop.unroll.followup_unrolled";

/// Reads and writes loop IDs in one context.
pub struct LoopIds<'ctx> {
    context: ContextRef<'ctx>,
    builder: MetadataBuilder<'ctx>,
    kind: u32,
}

/// What an ID says of a hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The hint's site.
    pub site: Site,
    /// The symbol of the function that the loop stood in when hints were resolved.
    pub function: String,
    /// Has LLVM made copies of the loop's body?
    pub is_unrolled: bool,
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
        request: Request,
        function: &str,
    ) {
        let kept = existing.properties.iter().filter(|property| !is_unroll_request(**property));
        let mut properties: Vec<Metadata> = kept.map(|property| self.builder.existing(*property)).collect();
        properties.extend(self.unroll_properties(request));
        let texts = [SITE_PROPERTY, &site.to_string(), function].map(|text| self.builder.string(text));
        let named = self.builder.node(&texts);
        properties.push(named);
        if request.kind() == HintKind::Unroll {
            let afterwards = [self.builder.string(AFTERWARDS), self.flag(DISABLE), named, self.flag(UNROLLED_PROPERTY)];
            properties.push(self.builder.node(&afterwards));
        }
        self.builder.attach(terminator, self.kind, self.builder.self_referencing(&properties));
    }

    /// Gives a loop without hint an ID of its own. Properties that were there stay.
    pub fn write_plain(&self, terminator: InstructionValue<'ctx>, existing: &Existing<'ctx>) {
        let mut properties: Vec<Metadata> =
            existing.properties.iter().map(|property| self.builder.existing(*property)).collect();
        properties.push(self.flag(PLAIN_PROPERTY));
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

    /// The hint that a latch's ID names.
    pub fn read(&self, terminator: InstructionValue<'ctx>) -> Option<Named> {
        let node = terminator.get_metadata(self.kind)?;
        let properties: Vec<Vec<String>> = ffi::node_operands(node).into_iter().flatten().map(texts).collect();
        let named = properties.iter().find_map(|texts| match &texts[..] {
            [name, site, function] if name == SITE_PROPERTY => Some((site.parse().ok()?, function.clone())),
            _ => None,
        });
        let is_unrolled = properties.iter().any(|texts| texts.first().is_some_and(|name| name == UNROLLED_PROPERTY));
        named.map(|(site, function)| Named { site, function, is_unrolled })
    }

    /// Has the terminator an ID that is ours, with or without a hint?
    pub fn is_marked(&self, terminator: InstructionValue<'ctx>) -> bool {
        let node = terminator.get_metadata(self.kind);
        let names = node.into_iter().flat_map(ffi::node_operands).flatten().filter_map(name);
        names.into_iter().any(|name| name == PLAIN_PROPERTY || name == SITE_PROPERTY)
    }

    fn flag(&self, name: &str) -> Metadata {
        self.builder.node(&[self.builder.string(name)])
    }

    /// A loop of which only the most turns are known LLVM unrolls by `enable`, and not by `full`; it does what either
    /// says.
    fn unroll_properties(&self, request: Request) -> Vec<Metadata> {
        match request {
            Request::Nounroll => vec![self.flag(DISABLE)],
            Request::Full => vec![self.flag("llvm.loop.unroll.full"), self.flag("llvm.loop.unroll.enable")],
            Request::Copies(copies) => {
                let count = self.context.i32_type().const_int(copies, false);
                vec![self.builder.node(&[self.builder.string("llvm.loop.unroll.count"), self.builder.constant(count)])]
            }
        }
    }
}

/// The texts that a property starts with: its name, and what follows.
fn texts(property: MetadataValue<'_>) -> Vec<String> {
    ffi::node_operands(property).into_iter().flatten().map_while(ffi::metadata_string).collect()
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
