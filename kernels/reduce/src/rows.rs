//! A row of a matrix in global memory, as the threads of one block read it.
//!
//! Each thread reads the elements that it would own of a [`PerBlock`] row in tiles of four. Everything that is combined
//! goes the same way: a thread has four accumulators, one for each place in a tile; the elements after the last tile go to
//! the first of them; then the four are combined pairwise. So the order of a sum depends on the row's length and the
//! block's size alone.
//!
//! Whether tiles can be moved as vectors is asked once for a row and not for each tile: there are two loops, of which the
//! other one is for rows that do not start at a multiple of 16 bytes. Left to one loop with a question in it, LLVM loads
//! half of each tile both ways.

use device_std::memory::PerBlock;
use device_std::reduce::StridedReduce;
use device_std::{block, device, unroll, vector};

/// Elements of a tile: 16 bytes.
pub const TILE: usize = 4;

/// A row in tiles, and the elements after the last one.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    tiles: &'a [[f32; TILE]],
    rest: &'a [f32],
}

impl<'a> Row<'a> {
    /// The row of this block in a matrix with rows of `columns` elements; an empty one where the matrix ends before.
    #[inline(always)]
    pub fn of_block(matrix: &'a [f32], columns: usize) -> Row<'a> {
        let start = block::index().wrapping_mul(columns);
        Row::new(matrix.get(start..).unwrap_or(&[]), columns)
    }

    /// The first `columns` of some elements; an empty row where there are not so many. Rows that are walked together must
    /// have the same length, as their tiles and rests must begin in the same places.
    #[inline(always)]
    pub fn new(elements: &'a [f32], columns: usize) -> Row<'a> {
        let (tiles, rest) = elements.get(..columns).unwrap_or(&[]).as_chunks();
        Row { tiles, rest }
    }

    /// The thread's elements, each taken into an accumulator by `step`, which four are then joined by `join`.
    #[device]
    #[inline(always)]
    pub fn fold(self, start: f32, step: impl Fn(f32, f32) -> f32, join: impl Fn(f32, f32) -> f32) -> f32 {
        let mut sums = match self.vectors() {
            Some(vectors) => fold_tiles(vectors, start, &step),
            None => fold_tiles(self.singles(), start, &step),
        };
        let mut at = block::thread_index() as usize;
        #[nounroll]
        while at < self.rest.len() {
            sums[0] = step(sums[0], self.single(at));
            at = at.wrapping_add(block::threads() as usize);
        }
        let [sum] = sums.strided_reduce::<1>(join);
        sum
    }

    /// The tiles for those who move vectors, if the row starts where one may.
    #[inline(always)]
    fn vectors(self) -> Option<Vectors<'a>> {
        is_aligned(self.tiles.as_ptr().cast()).then_some(Vectors(self.tiles))
    }

    #[inline(always)]
    fn singles(self) -> Singles<'a> {
        Singles(self.tiles)
    }

    /// The element `at` of those after the last tile; 0 where there is none.
    #[inline(always)]
    fn single(self, at: usize) -> f32 {
        self.rest.get(at).copied().unwrap_or(0.0)
    }
}

/// Fills the thread's part of a row: `value(a, b)` of the elements in that place of `from` and of `beside`.
#[device]
#[inline(always)]
pub fn fill(mut out: PerBlock<'_, f32, TILE>, [from, beside]: [Row<'_>; 2], value: impl Fn(f32, f32) -> f32) {
    match (from.vectors(), beside.vectors()) {
        (Some(from), Some(beside)) if is_aligned(out.row_start()) => {
            // SAFETY: the row of the output starts at a multiple of 16 bytes too.
            unsafe { fill_tiles(&mut out, [from, beside], &value) };
        }
        // SAFETY: tiles that are anywhere ask for no alignment.
        _ => unsafe { fill_tiles(&mut out, [from.singles(), beside.singles()], &value) },
    }
    let mut at = out.index();
    #[nounroll]
    for place in out.rest() {
        *place = value(from.single(at), beside.single(at));
        at = at.wrapping_add(block::threads() as usize);
    }
}

/// How tiles are moved.
trait Tiles: Copy {
    /// The number of tiles.
    fn len(self) -> usize;
    /// The tile `at`; zeros where there is none.
    fn load(self, at: usize) -> [f32; TILE];
    /// Writes a tile.
    ///
    /// # Safety
    /// `place` is aligned as these tiles are.
    unsafe fn store(self, place: &mut [f32; TILE], values: [f32; TILE]);
}

/// Tiles that start at multiples of 16 bytes.
#[derive(Clone, Copy)]
struct Vectors<'a>(&'a [[f32; TILE]]);

/// Tiles anywhere.
#[derive(Clone, Copy)]
struct Singles<'a>(&'a [[f32; TILE]]);

impl Tiles for Vectors<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn load(self, at: usize) -> [f32; TILE] {
        // SAFETY: the tile is in the slice, and aligned, as the first one is and each is 16 bytes long.
        self.0.get(at).map_or([0.0; TILE], |tile| unsafe { vector::load(tile.as_ptr()) })
    }

    #[inline(always)]
    unsafe fn store(self, place: &mut [f32; TILE], values: [f32; TILE]) {
        // SAFETY: the place is valid, and aligned by the caller's promise.
        unsafe { vector::store(place.as_mut_ptr(), values) };
    }
}

impl Tiles for Singles<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn load(self, at: usize) -> [f32; TILE] {
        self.0.get(at).copied().unwrap_or([0.0; TILE])
    }

    #[inline(always)]
    unsafe fn store(self, place: &mut [f32; TILE], values: [f32; TILE]) {
        *place = values;
    }
}

/// The thread's tiles in four accumulators.
#[inline(always)]
fn fold_tiles(tiles: impl Tiles, start: f32, step: &impl Fn(f32, f32) -> f32) -> [f32; TILE] {
    let mut sums = [start; TILE];
    let mut at = block::thread_index() as usize;
    while at < tiles.len() {
        let tile = tiles.load(at);
        unroll!(for k in 0..4 {
            sums[k] = step(sums[k], tile[k]);
        });
        at = at.wrapping_add(block::threads() as usize);
    }
    sums
}

/// Writes the thread's tiles of a row.
///
/// # Safety
/// The row is aligned as the tiles are that it is filled from.
#[inline(always)]
unsafe fn fill_tiles<T: Tiles>(
    out: &mut PerBlock<'_, f32, TILE>,
    [from, beside]: [T; 2],
    value: &impl Fn(f32, f32) -> f32,
) {
    let mut at = out.index();
    for place in out.tiles() {
        let (a, b) = (from.load(at), beside.load(at));
        let mut values = [0.0; TILE];
        unroll!(for k in 0..4 {
            values[k] = value(a[k], b[k]);
        });
        // SAFETY: tiles of an aligned row are aligned, as each is 16 bytes long.
        unsafe { from.store(place, values) };
        at = at.wrapping_add(block::threads() as usize);
    }
}

/// Whether an address is one that a vector may have.
#[inline(always)]
fn is_aligned(start: *const f32) -> bool {
    start.addr().is_multiple_of(vector::BYTES)
}
