//! Operands in shared memory.
//!
//! The tensor cores read **cores**, 8 x 8 elements that follow each other: 128 bytes. Where the cores of a matrix lie
//! is free, as long as all neighbours have the same distance. (The instruction knows other layouts, which swap parts of
//! the address. They save nothing that a good choice of who writes what does not save as well, and need memory aligned
//! to 1024 bytes.)

use super::Descriptor;
use crate::matrix::Element;
use crate::shared::Shared;

/// A 64 x 16 matrix in shared memory: 64 **lines** (the rows of the left operand, the columns of the right one) of
/// depth 16.
///
/// Element (line, depth) is at
///
/// ```text
/// line / 8 * line_distance + depth / 8 * depth_distance + line % 8 * 8 + depth % 8      TRANSPOSED = false
/// line / 8 * line_distance + depth / 8 * depth_distance + depth % 8 * 8 + line % 8      TRANSPOSED = true
/// ```
///
/// So with `false` eight elements of a line follow each other (a left operand by rows, a right one by columns), with
/// `true` eight elements of the same depth. Both are equally fast.
#[derive(Debug)]
pub struct Tile<T, const TRANSPOSED: bool = false> {
    memory: Shared<[T]>,
    depth_distance: usize,
    line_distance: usize,
}

impl<T, const TRANSPOSED: bool> Clone for Tile<T, TRANSPOSED> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const TRANSPOSED: bool> Copy for Tile<T, TRANSPOSED> {}

impl<T: Element, const TRANSPOSED: bool> Tile<T, TRANSPOSED> {
    /// The lines of a tile.
    pub const LINES: usize = 64;
    /// The depth of a tile.
    pub const DEPTH: usize = 16;
    /// The elements of a core.
    pub const CORE: usize = 64;
    /// The elements of a tile.
    pub const ELEMENTS: usize = Self::LINES * Self::DEPTH;

    /// The tile whose first element is the memory's, with cores at these distances, in elements.
    ///
    /// The memory begins at a multiple of 16 bytes, and distances are multiples of 8 elements, below 131072.
    #[inline(always)]
    pub fn new(memory: Shared<[T]>, depth_distance: usize, line_distance: usize) -> Self {
        Tile { memory, depth_distance, line_distance }
    }

    /// The tile of 1024 elements without gaps, the two cores of the same lines side by side.
    #[inline(always)]
    pub fn packed(memory: Shared<[T]>) -> Self {
        Tile::new(memory, Self::CORE, 2 * Self::CORE)
    }

    /// The place of an element in the memory. The formula goes on beyond the tile, to the neighbours of a larger
    /// matrix.
    #[inline(always)]
    pub const fn index(&self, line: usize, depth: usize) -> usize {
        let core = line / 8 * self.line_distance + depth / 8 * self.depth_distance;
        core + if TRANSPOSED { depth % 8 * 8 + line % 8 } else { line % 8 * 8 + depth % 8 }
    }

    /// The tile that begins at another line and depth of the same larger matrix, both multiples of 8.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub fn at(self, line: usize, depth: usize) -> Self {
        Tile { memory: self.memory.split_at(self.index(line, depth)).1, ..self }
    }

    /// # Panics
    /// On the host, where the memory is too small or not aligned, or a distance is not one that the instruction takes.
    #[inline(always)]
    #[cfg_attr(on_host, track_caller)]
    pub(super) fn descriptor(self) -> Descriptor {
        if cfg!(on_host) {
            let last = self.index(Self::LINES - 1, Self::DEPTH - 1);
            assert!(last < self.memory.len(), "a tile of a warpgroup's product ends beyond its memory");
            let distances = [self.depth_distance, self.line_distance];
            let is_good = |distance: &usize| distance.is_multiple_of(8) && *distance < 1 << 17;
            assert!(
                distances.iter().all(is_good),
                "the cores of a tile are {distances:?} elements apart: multiples of 8 below 131072 are wanted"
            );
        }
        let bytes = |elements: usize| elements.wrapping_mul(size_of::<T>()) as u32;
        Descriptor::new(self.memory.as_ptr().cast(), bytes(self.depth_distance), bytes(self.line_distance))
    }
}
