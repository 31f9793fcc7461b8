//! Which loop a hint belongs to: its own, or none.
//!
//! The macro marks a hinted loop twice: before it ([`Role::Enter`]) and first in its body ([`Role::Body`]).
//!
//! 1. A body marker is paired with the nearest enter marker of the same site that dominates it, order inside a block
//!    included. One walk over the dominator tree does this, with a stack per site.
//! 2. Its loop is the innermost natural loop around it.
//! 3. If the enter marker lies in that loop, then that loop is one *around* the hinted one, which itself never repeats:
//!    the hint is dropped, not moved outwards.
//!
//! Nearest, rather than any: where a site nests in itself (a macro used inside itself, a closure passed to the function
//! that is running), an enter marker of the same site does lie in the outer loop, and both hints are right.
//!
//! Where hints of several sites claim one loop, the site with the lowest number has it. Hosts number sites by
//! [`number_sites`], so that all of them agree on the winner, in whatever order they met the markers.
//!
//! Resolving twice gives the same answer, also after a copy of the body marker has been put into the latch: the latch
//! has the same innermost loop, and the same dominating enter marker unless a site nests in itself. There an inner
//! enter marker can dominate the latch and be nearer, so a host puts no copy there.

use crate::{Block, Dominators, Flow, IrreducibleCycles, LoopForest, LoopId};
use hint_record::{NoLoop, Site};
use std::collections::{BTreeMap, BTreeSet};

/// A source site, by the number that [`number_sites`] gave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteId(pub u32);

/// Numbers the sites of one function in their own order.
pub fn number_sites(sites: impl IntoIterator<Item = Site>) -> BTreeMap<Site, SiteId> {
    let sorted: BTreeSet<Site> = sites.into_iter().collect();
    sorted.into_iter().zip((0..).map(SiteId)).collect()
}

/// Which of the two markers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The marker before the loop.
    Enter,
    /// The marker first in the loop's body.
    Body,
}

/// A marker, where the host found it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marker {
    /// The block that holds it.
    pub block: Block,
    /// Which of the two it is.
    pub role: Role,
    /// The site that it names.
    pub site: SiteId,
}

/// Why a hint has no loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DropReason {
    /// The entry cannot reach the body marker.
    Unreachable,
    /// No loop is around the body marker: the hinted one never repeats.
    OutsideLoop,
    /// The loop around the body marker is not the hinted one, which never repeats.
    NeverRepeats,
    /// The body repeats in a cycle that is entered at two places.
    Irreducible,
    /// No enter marker dominates the body marker: something jumps into the loop, or a pass has torn the pair apart.
    NoEnter,
    /// The loop carries another hint already.
    Conflict,
    /// A back edge ends in an instruction that cannot be given another target.
    FixedBackEdge,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [DropReason; 7] = [
        DropReason::Unreachable,
        DropReason::OutsideLoop,
        DropReason::NeverRepeats,
        DropReason::Irreducible,
        DropReason::NoEnter,
        DropReason::Conflict,
        DropReason::FixedBackEdge,
    ];
}

/// What goes into a hint's record. Whether there is a loop around one that never repeats is no matter there.
impl From<DropReason> for NoLoop {
    fn from(reason: DropReason) -> NoLoop {
        match reason {
            DropReason::Unreachable => NoLoop::Unreachable,
            DropReason::OutsideLoop | DropReason::NeverRepeats => NoLoop::NeverRepeats,
            DropReason::Irreducible => NoLoop::Irreducible,
            DropReason::NoEnter => NoLoop::NoEnter,
            DropReason::Conflict => NoLoop::Conflict,
            DropReason::FixedBackEdge => NoLoop::FixedBackEdge,
        }
    }
}

/// What became of one body marker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hint {
    /// The position of the body marker in the list given to [`resolve`].
    pub marker: usize,
    /// Its loop, or why it has none.
    pub verdict: Result<LoopId, DropReason>,
}

/// A loop that carries a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HintedLoop {
    /// The loop.
    pub id: LoopId,
    /// The position, in the list given to [`resolve`], of the body marker that it got the hint from.
    pub marker: usize,
}

/// Every hint of a function, settled.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// One entry per body marker, in the order given.
    pub hints: Vec<Hint>,
    /// The loops that carry a hint, outer loops first.
    pub hinted: Vec<HintedLoop>,
    /// The loops without a hint that lie inside a loop with one, outer loops first. A compiler may move the metadata of
    /// a hinted loop onto one of these unless it has its own.
    pub unhinted_inside: Vec<LoopId>,
}

/// Settles every hint of a function. `markers` is in the order of execution within each block.
pub fn resolve(flow: &Flow, dominators: &Dominators, forest: &LoopForest, markers: &[Marker]) -> Resolution {
    let irreducible = IrreducibleCycles::of(flow, dominators);
    let enters = nearest_enters(flow, dominators, markers);
    let mut owner: Vec<Option<usize>> = vec![None; forest.loops().len()];
    let mut hints = Vec::new();
    for (at, marker) in markers.iter().enumerate().filter(|(_, marker)| marker.role == Role::Body) {
        let verdict = if dominators.is_reachable(marker.block) {
            own_loop(forest, &irreducible, marker.block, enters[at])
        } else {
            Err(DropReason::Unreachable)
        };
        if let Ok(id) = verdict {
            claim(&mut owner[id.index()], at, markers);
        }
        hints.push(Hint { marker: at, verdict });
    }
    for hint in &mut hints {
        hint.verdict = hint.verdict.and_then(|id| has_claimed(&owner, id, hint.marker, markers));
    }
    let hinted = forest.ids().filter_map(|id| Some(HintedLoop { id, marker: owner[id.index()]? })).collect();
    Resolution { hints, hinted, unhinted_inside: unhinted_inside(forest, &owner) }
}

/// Step 2 and 3 for a reachable body marker.
fn own_loop(
    forest: &LoopForest,
    irreducible: &IrreducibleCycles,
    body: Block,
    enter: Option<Block>,
) -> Result<LoopId, DropReason> {
    if irreducible.is_tightest_around(body, forest) {
        return Err(DropReason::Irreducible);
    }
    let id = forest.innermost(body).ok_or(DropReason::OutsideLoop)?;
    match enter {
        None => Err(DropReason::NoEnter),
        Some(enter) if forest.contains(id, enter) => Err(DropReason::NeverRepeats),
        Some(_) => Ok(id),
    }
}

/// Gives a loop to the marker, unless one of its own site, or of one before it, has the loop.
fn claim(owner: &mut Option<usize>, at: usize, markers: &[Marker]) {
    if owner.is_none_or(|first| markers[at].site < markers[first].site) {
        *owner = Some(at);
    }
}

/// Is the loop the marker's? Copies of one marker share it.
fn has_claimed(owner: &[Option<usize>], id: LoopId, at: usize, markers: &[Marker]) -> Result<LoopId, DropReason> {
    let is_owner = owner[id.index()].is_some_and(|owner| markers[owner].site == markers[at].site);
    if is_owner { Ok(id) } else { Err(DropReason::Conflict) }
}

/// For every body marker, the block of the nearest enter marker of its site that dominates it.
fn nearest_enters(flow: &Flow, dominators: &Dominators, markers: &[Marker]) -> Vec<Option<Block>> {
    let by_block = group_by_block(flow, markers);
    let sites = markers.iter().map(|marker| marker.site.0 as usize + 1).max().unwrap_or(0);
    // Per site, the enter markers on the path from the root of the dominator tree to the block at hand. One that does
    // not dominate it is left over from another branch, and is taken off when it is met.
    let mut open: Vec<Vec<Block>> = vec![Vec::new(); sites];
    let mut nearest = vec![None; markers.len()];
    for &block in dominators.preorder() {
        for &at in &by_block[block.index()] {
            let open = &mut open[markers[at].site.0 as usize];
            while open.pop_if(|enter| !dominators.dominates(*enter, block)).is_some() {}
            match markers[at].role {
                Role::Enter => open.push(block),
                Role::Body => nearest[at] = open.last().copied(),
            }
        }
    }
    nearest
}

fn group_by_block(flow: &Flow, markers: &[Marker]) -> Vec<Vec<usize>> {
    let mut by_block = vec![Vec::new(); flow.block_count()];
    for (at, marker) in markers.iter().enumerate() {
        by_block[marker.block.index()].push(at);
    }
    by_block
}

fn unhinted_inside(forest: &LoopForest, owner: &[Option<usize>]) -> Vec<LoopId> {
    let mut inside_hinted = vec![false; owner.len()];
    let mut found = Vec::new();
    for id in forest.ids() {
        let parent = forest.get(id).parent.map(LoopId::index);
        inside_hinted[id.index()] = parent.is_some_and(|parent| inside_hinted[parent] || owner[parent].is_some());
        if inside_hinted[id.index()] && owner[id.index()].is_none() {
            found.push(id);
        }
    }
    found
}
