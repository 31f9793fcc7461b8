//! A matrix in shared memory.

use device_std::math;
use device_std::vector;

use super::WIDTH;

/// Rows of f32, each at a multiple of 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Matrix {
    start: *mut f32,
    stride: usize,
}

impl Matrix {
    /// The matrix from `start` on, with so many elements from row to row, a multiple of 4.
    #[inline(always)]
    pub fn new(start: *mut f32, stride: usize) -> Matrix {
        Matrix { start, stride }
    }

    #[inline(always)]
    fn place(self, row: usize, column: usize) -> *mut f32 {
        self.start.wrapping_add(row * self.stride + column)
    }

    /// One element.
    ///
    /// # Safety
    /// It is there and was written, and no other thread writes it without a barrier in between.
    #[inline(always)]
    pub unsafe fn get(self, row: usize, column: usize) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { *self.place(row, column) }
    }

    /// Writes one element.
    ///
    /// # Safety
    /// It is there, and no other thread reads or writes it without a barrier in between.
    #[inline(always)]
    pub unsafe fn set(self, row: usize, column: usize, value: f32) {
        // SAFETY: the caller's promise.
        unsafe { *self.place(row, column) = value };
    }

    /// Two neighbours, from an even column on.
    ///
    /// # Safety
    /// As for [`get`](Self::get), for each.
    #[inline(always)]
    pub unsafe fn two(self, row: usize, column: usize) -> [f32; 2] {
        // SAFETY: the caller's promise; rows and such columns are multiples of 8 bytes.
        let both: u64 = unsafe { *self.place(row, column).cast() };
        [f32::from_bits(both as u32), f32::from_bits((both >> 32) as u32)]
    }

    /// Writes two neighbours, from an even column on.
    ///
    /// # Safety
    /// As for [`set`](Self::set), for each.
    #[inline(always)]
    pub unsafe fn set_two(self, row: usize, column: usize, [low, high]: [f32; 2]) {
        // SAFETY: as for loads.
        unsafe { *self.place(row, column).cast() = u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32 };
    }

    /// Four neighbours, from a column that is a multiple of 4 on.
    ///
    /// # Safety
    /// As for [`get`](Self::get), for each.
    #[inline(always)]
    pub unsafe fn four(self, row: usize, column: usize) -> [f32; WIDTH] {
        // SAFETY: the caller's promise; rows and such columns are multiples of 16 bytes.
        unsafe { vector::load(self.place(row, column)) }
    }

    /// Writes four neighbours, from a column that is a multiple of 4 on.
    ///
    /// # Safety
    /// As for [`set`](Self::set), for each.
    #[inline(always)]
    pub unsafe fn set_four(self, row: usize, column: usize, values: [f32; WIDTH]) {
        // SAFETY: as for loads.
        unsafe { vector::store(self.place(row, column), values) };
    }

    /// Writes eight neighbours, from a column that is a multiple of 4 on.
    ///
    /// # Safety
    /// As for [`set`](Self::set), for each.
    #[inline(always)]
    pub unsafe fn set_eight(self, row: usize, column: usize, [a, b, c, d, e, f, g, h]: [f32; 8]) {
        // SAFETY: as for loads.
        unsafe {
            self.set_four(row, column, [a, b, c, d]);
            self.set_four(row, column + 4, [e, f, g, h]);
        }
    }
}

/// `sum + a . b`, from the first product on.
#[inline(always)]
pub fn dot(a: [f32; WIDTH], b: [f32; WIDTH], sum: f32) -> f32 {
    math::fma(a[3], b[3], math::fma(a[2], b[2], math::fma(a[1], b[1], math::fma(a[0], b[0], sum))))
}

/// `sums + factor * row`.
#[inline(always)]
pub fn add_scaled(factor: f32, row: [f32; WIDTH], sums: [f32; WIDTH]) -> [f32; WIDTH] {
    [
        math::fma(factor, row[0], sums[0]),
        math::fma(factor, row[1], sums[1]),
        math::fma(factor, row[2], sums[2]),
        math::fma(factor, row[3], sums[3]),
    ]
}
