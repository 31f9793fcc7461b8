//! The markers of a body: calls of the two functions that `device_std` declares and nobody defines.
//!
//! A call ends a block, so a block holds one marker at most. Markers are listed in reverse postorder, which is how
//! rustc generates code for blocks, so that the link stage meets them in much the same order. Blocks that cannot be
//! reached are left out: no code is generated for them, so the link stage never sees their hints.

use crate::constants::{self, Assignments};
use codegen_pass::{Block, Marker, Role, SiteId, number_sites};
use hint_record::{Site, marker};
use rustc_middle::mir::{BasicBlock, Body, CallSource, ConstOperand, Operand, SourceInfo, TerminatorKind, traversal};
use rustc_middle::ty::TyCtxt;
use rustc_span::Spanned;
use rustc_span::def_id::DefId;

/// The call source of a marker that the pass has copied into a latch. No call from source text has it.
pub const COPY: CallSource = CallSource::Misc;

/// The markers of one body.
pub struct Markers<'a, 'tcx> {
    /// What `codegen_pass` wants to know of each marker.
    pub list: Vec<Marker>,
    /// The constant arguments of each marker, in the order of `list`; none for enter markers, and where one is no
    /// constant.
    arguments: Vec<Option<Arguments<'a, 'tcx>>>,
    /// Whether each marker is a copy that an earlier run of the pass put into a latch.
    copies: Vec<bool>,
    /// The source sites; the position is the [`SiteId`].
    sites: Vec<Site>,
    /// Markers whose site cannot be read, and why.
    pub unreadable: Vec<(SourceInfo, String)>,
}

/// A body marker's arguments as constants, so that the call can be made anywhere in the body.
#[derive(Clone, Copy)]
pub struct Arguments<'a, 'tcx> {
    /// The source site.
    pub site: &'a ConstOperand<'tcx>,
    /// How many copies of the loop's body were asked for.
    pub factor: &'a ConstOperand<'tcx>,
}

impl<'a, 'tcx> Markers<'a, 'tcx> {
    /// Finds them. Costs one look at each block's end where there are none.
    pub fn of(tcx: TyCtxt<'tcx>, body: &'a Body<'tcx>) -> Markers<'a, 'tcx> {
        let mut markers = Markers {
            list: Vec::new(),
            arguments: Vec::new(),
            copies: Vec::new(),
            sites: Vec::new(),
            unreadable: Vec::new(),
        };
        if body.basic_blocks.iter().all(|block| Call::of(tcx, &block.terminator().kind).is_none()) {
            return markers;
        }
        let assignments = Assignments::of(body);
        for (block, data) in traversal::reverse_postorder(body) {
            if let Some(call) = Call::of(tcx, &data.terminator().kind) {
                markers.add(tcx, body, &assignments, block, call);
            }
        }
        markers.number();
        markers
    }

    /// The sites in their own order, like the link stage, instead of that of the blocks.
    fn number(&mut self) {
        let ids = number_sites(self.sites.iter().cloned());
        self.list.iter_mut().for_each(|marker| marker.site = ids[&self.sites[marker.site.0 as usize]]);
        self.sites = ids.into_keys().collect();
    }

    fn add(
        &mut self,
        tcx: TyCtxt<'tcx>,
        body: &'a Body<'tcx>,
        assignments: &Assignments,
        block: BasicBlock,
        call: Call<'a, 'tcx>,
    ) {
        let constant = |at: usize| assignments.constant(body, &call.arguments.get(at)?.node);
        match read_site(tcx, constant(0)) {
            Ok((site, named)) => {
                // One site for each marker, until all are known.
                let id = SiteId(u32::try_from(self.sites.len()).expect("fewer markers than blocks"));
                self.sites.push(named);
                self.list.push(Marker { block: Block::new(block.index()), role: call.role, site: id });
                self.arguments.push(constant(1).map(|factor| Arguments { site, factor }));
                self.copies.push(call.is_copy);
            }
            Err(reason) => self.unreadable.push((body.basic_blocks[block].terminator().source_info, reason)),
        }
    }

    /// The constant arguments of the marker at a position of [`Markers::list`].
    pub fn arguments(&self, at: usize) -> Option<Arguments<'a, 'tcx>> {
        self.arguments[at]
    }

    /// Is the marker at a position of [`Markers::list`] a copy that an earlier run of the pass put into a latch?
    pub fn is_copy(&self, at: usize) -> bool {
        self.copies[at]
    }

    /// The source site of the marker at a position of [`Markers::list`].
    pub fn site(&self, at: usize) -> &Site {
        &self.sites[self.list[at].site.0 as usize]
    }
}

/// A marker's call.
struct Call<'a, 'tcx> {
    role: Role,
    arguments: &'a [Spanned<Operand<'tcx>>],
    is_copy: bool,
}

impl<'a, 'tcx> Call<'a, 'tcx> {
    /// The call that ends a block, if it is a marker's.
    fn of(tcx: TyCtxt<'tcx>, end: &'a TerminatorKind<'tcx>) -> Option<Call<'a, 'tcx>> {
        let TerminatorKind::Call { func, args, target: Some(_), call_source, .. } = end else { return None };
        let (function, _) = func.const_fn_def()?;
        Some(Call { role: role(tcx, function)?, arguments: args, is_copy: *call_source == COPY })
    }
}

/// Which marker `function` is.
fn role(tcx: TyCtxt<'_>, function: DefId) -> Option<Role> {
    // The cheapest question first, and the one that says no for nearly every function.
    if tcx.crate_name(function.krate).as_str() != marker::CRATE || !tcx.is_foreign_item(function) {
        return None;
    }
    match tcx.item_name(function).as_str() {
        marker::ENTER => Some(Role::Enter),
        marker::BODY => Some(Role::Body),
        _ => None,
    }
}

fn read_site<'a, 'tcx>(
    tcx: TyCtxt<'tcx>,
    argument: Option<&'a ConstOperand<'tcx>>,
) -> Result<(&'a ConstOperand<'tcx>, Site), String> {
    let read = argument.and_then(|constant| Some((constant, constants::text(tcx, constant)?)));
    let (constant, text) =
        read.ok_or("a loop hint's marker does not name its site by a constant: only the attributes may call markers")?;
    let site = text.parse().map_err(|error| format!("{error}"))?;
    Ok((constant, site))
}
