//! The parts of matrices that a lane holds in registers.
//!
//! Everything is written element by element, without a loop: a register that is indexed by a variable would be memory.

use super::Element;
use crate::subgroup;
use core::fmt::{self, Debug, Formatter};
use core::marker::PhantomData;

/// What a lane holds of a 16 x 16 matrix, the left operand: eight elements.
///
/// Element `i` of a lane, with `g = lane / 4` and `t = lane % 4`, is at row `g + 8 * (i / 2 % 2)`, column
/// `2 * t + i % 2 + 8 * (i / 4)`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct A<T> {
    registers: [u32; 4],
    element: PhantomData<T>,
}

/// What a lane holds of a 16 x 8 matrix, the right operand: four elements.
///
/// Element `i` of a lane, with `g = lane / 4` and `t = lane % 4`, is at row `2 * t + i % 2 + 8 * (i / 2)`, column `g`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct B<T> {
    registers: [u32; 2],
    element: PhantomData<T>,
}

/// What a lane holds of a 16 x 8 matrix of sums: four elements, which are public.
///
/// Element `i` of a lane, with `g = lane / 4` and `t = lane % 4`, is at row `g + 8 * (i / 2)`, column `2 * t + i % 2`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub struct Accumulator(pub [f32; 4]);

/// The formulas and sizes of a fragment, `i`, `g` and `t` as in its documentation.
macro_rules! layout {
    (
        $rows:literal x $columns:literal, $many:literal;
        |$i:ident, $g:ident, $t:ident| $row:expr, $column:expr;
        |$r:ident, $c:ident| $lane:expr, $index:expr;
    ) => {
        /// The rows of the matrix.
        pub const ROWS: usize = $rows;
        /// The columns of the matrix.
        pub const COLUMNS: usize = $columns;
        /// The elements that a lane holds.
        pub const ELEMENTS: usize = $many;

        /// The row of a lane's element `i`.
        #[inline(always)]
        pub const fn row($i: usize, lane: u32) -> usize {
            let ($g, $t) = (lane as usize / 4, lane as usize % 4);
            _ = ($g, $t);
            $row
        }

        /// The column of a lane's element `i`.
        #[inline(always)]
        pub const fn column($i: usize, lane: u32) -> usize {
            let ($g, $t) = (lane as usize / 4, lane as usize % 4);
            _ = ($g, $t, $i);
            $column
        }

        /// The lane that holds an element of the matrix, and which of its elements it is.
        #[inline(always)]
        pub const fn holder($r: usize, $c: usize) -> (u32, usize) {
            (($lane) as u32, $index)
        }
    };
}

impl<T> A<T> {
    layout! {
        16 x 16, 8;
        |i, g, t| g + 8 * (i / 2 % 2), 2 * t + i % 2 + 8 * (i / 4);
        |r, c| 4 * (r % 8) + c % 8 / 2, c % 2 + 2 * (r / 8) + 4 * (c / 8);
    }
}

impl<T> B<T> {
    layout! {
        16 x 8, 4;
        |i, g, t| 2 * t + i % 2 + 8 * (i / 2), g;
        |r, c| 4 * c + r % 8 / 2, r % 2 + 2 * (r / 8);
    }
}

impl Accumulator {
    layout! {
        16 x 8, 4;
        |i, g, t| g + 8 * (i / 2), 2 * t + i % 2;
        |r, c| 4 * (r % 8) + c / 2, c % 2 + 2 * (r / 8);
    }
}

/// The element of a register's low half, or of its high one.
#[inline(always)]
fn half<T: Element>(register: u32, high: bool) -> T {
    T::from_bits(if high { register >> 16 } else { register } as u16)
}

/// Two elements as a register.
#[inline(always)]
fn pack<T: Element>(low: T, high: T) -> u32 {
    u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16
}

/// What both operands have: registers of two elements each.
macro_rules! operand {
    ($name:ident, $registers:literal, $($low:literal $high:literal),*) => {
        impl<T: Element> $name<T> {
            /// The matrix of which `element(row, column)` makes every element; each lane makes its own.
            #[inline(always)]
            pub fn from_fn(mut element: impl FnMut(usize, usize) -> T) -> $name<T> {
                let lane = subgroup::lane();
                let mut at = |i| element(Self::row(i, lane), Self::column(i, lane));
                Self::from_elements([$(at($low), at($high)),*])
            }

            /// The fragment of a lane with these elements.
            #[inline(always)]
            pub fn from_elements(elements: [T; 2 * $registers]) -> $name<T> {
                Self::from_registers([$(pack(elements[$low], elements[$high])),*])
            }

            /// The lane's elements.
            #[inline(always)]
            pub fn elements(self) -> [T; 2 * $registers] {
                [$(half(self.registers[$low / 2], false), half(self.registers[$high / 2], true)),*]
            }

            /// The fragment as registers: element `2 * r` is the low half of register `r`, the next one its high half.
            #[inline(always)]
            pub fn registers(self) -> [u32; $registers] {
                self.registers
            }

            /// The fragment of a lane with these registers.
            #[inline(always)]
            pub fn from_registers(registers: [u32; $registers]) -> $name<T> {
                $name { registers, element: PhantomData }
            }
        }

        impl<T: Element> Debug for $name<T> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                let elements = self.elements().map(T::to_f32);
                f.debug_tuple(stringify!($name)).field(&elements).finish()
            }
        }
    };
}

operand!(A, 4, 0 1, 2 3, 4 5, 6 7);
operand!(B, 2, 0 1, 2 3);

impl<T: Element> A<T> {
    /// Sums as an operand: columns 0 to 7 are `left`, 8 to 15 `right`, each element rounded. No lane exchanges
    /// anything.
    #[inline(always)]
    pub fn from_accumulators(left: Accumulator, right: Accumulator) -> A<T> {
        let pack = |Accumulator([a, b, c, d])| [T::pack(a, b), T::pack(c, d)];
        let ([a, b], [c, d]) = (pack(left), pack(right));
        A::from_registers([a, b, c, d])
    }

    /// The transpose, as its columns 0 to 7 and 8 to 15: rows of this matrix. No lane exchanges anything.
    #[inline(always)]
    pub fn transpose(self) -> [B<T>; 2] {
        let [a, b, c, d] = self.registers;
        [B::from_registers([a, c]), B::from_registers([b, d])]
    }
}

impl Accumulator {
    /// The matrix of zeros.
    pub const ZERO: Accumulator = Accumulator([0.0; 4]);

    /// The matrix of which `element(row, column)` makes every element; each lane makes its own.
    #[inline(always)]
    pub fn from_fn(mut element: impl FnMut(usize, usize) -> f32) -> Accumulator {
        Accumulator::ZERO.map(|row, column, _| element(row, column))
    }

    /// The matrix with `element(row, column, value)` in the place of every value.
    #[inline(always)]
    pub fn map(self, mut element: impl FnMut(usize, usize, f32) -> f32) -> Accumulator {
        let lane = subgroup::lane();
        let mut at = |i: usize, value| element(Self::row(i, lane), Self::column(i, lane), value);
        let [a, b, c, d] = self.0;
        Accumulator([at(0, a), at(1, b), at(2, c), at(3, d)])
    }

    /// Calls `visit(row, column, value)` for each of the lane's elements.
    #[inline(always)]
    pub fn for_each(self, mut visit: impl FnMut(usize, usize, f32)) {
        self.map(|row, column, value| {
            visit(row, column, value);
            value
        });
    }

    /// The 16 x 8 matrix at `place`, by rows that begin `stride` elements after each other.
    ///
    /// # Safety
    /// All its elements are valid for reads, and nobody writes them at the same time.
    #[inline(always)]
    pub unsafe fn load(place: *const f32, stride: usize) -> Accumulator {
        // SAFETY: the caller's promise.
        Accumulator::from_fn(|row, column| unsafe { *place.add(row * stride + column) })
    }

    /// Writes the matrix to `place`, by rows that begin `stride` elements after each other. Each lane writes its own
    /// elements.
    ///
    /// # Safety
    /// All 16 x 8 elements are valid for writes, and nobody reads or writes them at the same time.
    #[inline(always)]
    pub unsafe fn store(self, place: *mut f32, stride: usize) {
        // SAFETY: the caller's promise.
        self.for_each(|row, column, value| unsafe { *place.add(row * stride + column) = value });
    }
}
