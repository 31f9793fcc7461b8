//! Views of arrays with their shape.

use crate::Error;

/// An array of `N` dimensions in a slice.
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'a, T, const N: usize> {
    data: &'a [T],
    shape: [usize; N],
    strides: [usize; N],
}

impl<'a, T, const N: usize> Tensor<'a, T, N> {
    /// A dense array, the last index the fastest.
    pub fn dense(data: &'a [T], shape: [usize; N]) -> Tensor<'a, T, N> {
        Tensor { data, shape, strides: dense_strides(shape) }
    }

    /// An array whose strides, counted in elements, come from elsewhere: numpy's, for example, divided by the size of an
    /// element.
    pub fn with_strides(data: &'a [T], shape: [usize; N], strides: [usize; N]) -> Tensor<'a, T, N> {
        Tensor { data, shape, strides }
    }

    /// The shape.
    pub fn shape(&self) -> [usize; N] {
        self.shape
    }

    /// The elements, where they are as many as the shape says, and dense.
    pub(crate) fn elements(&self, name: &'static str) -> Result<&'a [T], Error> {
        let wanted = dense_strides(self.shape);
        // A stride along which there is nothing to step over may be anything.
        let differs = |axis: &usize| self.shape[*axis] > 1 && self.strides[*axis] != wanted[*axis];
        if !self.shape.contains(&0) && (0..N).any(|axis| differs(&axis)) {
            return Err(Error::Strides { name, found: self.strides.to_vec(), wanted: wanted.to_vec() });
        }
        let wanted = self.shape.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        match wanted {
            Some(wanted) if wanted == self.data.len() => Ok(self.data),
            _ => Err(Error::Length { name, found: self.data.len(), shape: self.shape.to_vec() }),
        }
    }
}

fn dense_strides<const N: usize>(shape: [usize; N]) -> [usize; N] {
    let mut strides = [1usize; N];
    for axis in (1..N).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}
