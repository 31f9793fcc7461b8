//! Floating-point arithmetic in integers, for what the host's own does not give: directed rounding, and f16 and bf16 in
//! one rounding. One function rounds; each operation hands it the exact result and a sticky bit.
//!
//! Results that are not numbers are the format's canonical NaN. Subnormals are kept; flushing them is the caller's.

/// A binary format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    pub exponent: u32,
    /// Fraction bits stored.
    pub fraction: u32,
    /// The NaN that operations give.
    pub nan: u64,
}

pub(crate) const F16: Format = Format { exponent: 5, fraction: 10, nan: 0x7fff };
pub(crate) const BF16: Format = Format { exponent: 8, fraction: 7, nan: 0x7fff };
pub(crate) const TF32: Format = Format { exponent: 8, fraction: 10, nan: 0x3ffff };
pub(crate) const F32: Format = Format { exponent: 8, fraction: 23, nan: 0x7fff_ffff };
pub(crate) const F64: Format = Format { exponent: 11, fraction: 52, nan: 0xfff8_0000_0000_0000 };

/// A rounding direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// To nearest, ties to even.
    Nearest,
    Zero,
    Down,
    Up,
    /// To nearest, ties away from zero.
    Away,
}

/// A value taken apart: `(-1)^sign * significand * 2^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Nan,
    Infinite(bool),
    Finite { sign: bool, significand: u128, exponent: i32 },
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn infinity(self, sign: bool) -> u64 {
        u64::from(sign) << (self.width() - 1) | ((1 << self.exponent) - 1) << self.fraction
    }

    fn largest(self, sign: bool) -> u64 {
        self.infinity(sign) - 1
    }

    fn zero(self, sign: bool) -> u64 {
        u64::from(sign) << (self.width() - 1)
    }

    fn take(self, bits: u64) -> Value {
        let sign = bits >> (self.width() - 1) & 1 != 0;
        let e = (bits >> self.fraction) as i32 & ((1 << self.exponent) - 1);
        let f = bits & ((1 << self.fraction) - 1);
        if e == (1 << self.exponent) - 1 {
            return if f == 0 { Value::Infinite(sign) } else { Value::Nan };
        }
        let (significand, e) = if e == 0 { (f, 1) } else { (f | 1 << self.fraction, e) };
        Value::Finite { sign, significand: u128::from(significand), exponent: e - self.bias() - self.fraction as i32 }
    }

    /// Whether the bits are a NaN.
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        self.take(bits) == Value::Nan
    }

    /// Rounds `significand * 2^exponent`, more than it by less than one unit of it if `sticky`.
    fn round(self, sign: bool, significand: u128, exponent: i32, sticky: bool, mode: Round) -> u64 {
        if significand == 0 {
            // Only an exact zero, or something below every unit.
            return if sticky && rounds_up(mode, sign, false, false, true) {
                self.zero(sign) + 1
            } else {
                self.zero(sign)
            };
        }
        let length = 128 - significand.leading_zeros() as i32;
        // The place of the last bit kept: fraction bits below the first, not below the subnormals'.
        let lowest = 1 - self.bias() - self.fraction as i32;
        let last = (exponent + length - 1 - self.fraction as i32).max(lowest);
        let shift = last - exponent;
        let (mut kept, half, rest) = match shift {
            ..=0 => (significand << -shift, false, sticky),
            1..=127 => {
                let kept = significand >> shift;
                let half = significand >> (shift - 1) & 1 != 0;
                let below = significand & ((1 << (shift - 1)) - 1) != 0;
                (kept, half, below || sticky)
            }
            128 => (0, significand >> 127 & 1 != 0, significand << 1 != 0 || sticky),
            _ => (0, false, true),
        };
        if rounds_up(mode, sign, kept & 1 != 0, half, rest) {
            kept += 1;
        }
        let mut place = last;
        if kept >> (self.fraction + 1) != 0 {
            kept >>= 1;
            place += 1;
        }
        let biased = if kept >> self.fraction == 0 { 0 } else { place + self.bias() + self.fraction as i32 };
        if biased >= (1 << self.exponent) - 1 {
            let to_infinity = match mode {
                Round::Nearest | Round::Away => true,
                Round::Zero => false,
                Round::Down => sign,
                Round::Up => !sign,
            };
            return if to_infinity { self.infinity(sign) } else { self.largest(sign) };
        }
        let fraction = kept as u64 & ((1 << self.fraction) - 1);
        self.zero(sign) | (biased as u64) << self.fraction | fraction
    }

    /// The sum.
    pub(crate) fn add(self, a: u64, b: u64, mode: Round) -> u64 {
        let one = u64::from(self.bias() as u32) << self.fraction;
        self.fma(a, one, b, mode)
    }

    /// The product.
    pub(crate) fn mul(self, a: u64, b: u64, mode: Round) -> u64 {
        match (self.take(a), self.take(b)) {
            (Value::Nan, _) | (_, Value::Nan) => self.nan,
            (Value::Infinite(s), Value::Finite { sign, significand, .. })
            | (Value::Finite { sign, significand, .. }, Value::Infinite(s)) => {
                if significand == 0 {
                    self.nan
                } else {
                    self.infinity(s ^ sign)
                }
            }
            (Value::Infinite(s), Value::Infinite(t)) => self.infinity(s ^ t),
            (
                Value::Finite { sign: s, significand: m, exponent: e },
                Value::Finite { sign: t, significand: n, exponent: f },
            ) => self.round(s ^ t, m * n, e + f, false, mode),
        }
    }

    /// `a * b + c` with one rounding.
    pub(crate) fn fma(self, a: u64, b: u64, c: u64, mode: Round) -> u64 {
        let (va, vb, vc) = (self.take(a), self.take(b), self.take(c));
        let product = match (va, vb) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(s), Value::Finite { sign, significand, .. })
            | (Value::Finite { sign, significand, .. }, Value::Infinite(s)) => {
                if significand == 0 {
                    Value::Nan
                } else {
                    Value::Infinite(s ^ sign)
                }
            }
            (Value::Infinite(s), Value::Infinite(t)) => Value::Infinite(s ^ t),
            (
                Value::Finite { sign: s, significand: m, exponent: e },
                Value::Finite { sign: t, significand: n, exponent: f },
            ) => Value::Finite { sign: s ^ t, significand: m * n, exponent: e + f },
        };
        match (product, vc) {
            (Value::Nan, _) | (_, Value::Nan) => self.nan,
            (Value::Infinite(s), Value::Infinite(t)) => {
                if s == t {
                    self.infinity(s)
                } else {
                    self.nan
                }
            }
            (Value::Infinite(s), _) | (_, Value::Infinite(s)) => self.infinity(s),
            (
                Value::Finite { sign: s, significand: m, exponent: e },
                Value::Finite { sign: t, significand: n, exponent: f },
            ) => self.sum((s, m, e), (t, n, f), mode),
        }
    }

    /// The sum of two finite values of up to 106 bits.
    fn sum(self, a: (bool, u128, i32), b: (bool, u128, i32), mode: Round) -> u64 {
        if a.1 == 0 && b.1 == 0 {
            let negative = if a.0 == b.0 { a.0 } else { mode == Round::Down };
            return self.zero(negative);
        }
        // An exact zero has no place of its own.
        let (a, b) = match (a.1, b.1) {
            (0, _) => ((b.0, 0, b.2), b),
            (_, 0) => (a, (a.0, 0, a.2)),
            _ => (a, b),
        };
        // Shift the one whose top is higher up as far as it goes, the other one to it.
        let top = |v: (bool, u128, i32)| if v.1 == 0 { i32::MIN / 2 } else { v.2 + 128 - v.1.leading_zeros() as i32 };
        let (big, small) = if top(a) >= top(b) { (a, b) } else { (b, a) };
        // Three bits of room at the top for the carry.
        let up = (big.1.leading_zeros() as i32 - 2).max(0);
        let (m, e) = (big.1 << up, big.2 - up);
        let shift = e - small.2;
        let (n, lost) = match shift {
            ..=0 => (small.1 << -shift.max(-127), false),
            1..=127 => (small.1 >> shift, small.1 & ((1 << shift) - 1) != 0),
            _ => (0, small.1 != 0),
        };
        if big.0 == small.0 {
            return self.round(big.0, m + n, e, lost, mode);
        }
        if m == n && !lost {
            return self.zero(mode == Round::Down);
        }
        if n > m {
            return self.round(small.0, n - m, e, false, mode);
        }
        // What was lost makes the difference smaller: one unit less and a sticky rest.
        self.round(big.0, m - n - u128::from(lost), e, lost, mode)
    }

    /// The quotient.
    pub(crate) fn div(self, a: u64, b: u64, mode: Round) -> u64 {
        match (self.take(a), self.take(b)) {
            (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite(_), Value::Infinite(_)) => self.nan,
            (Value::Infinite(s), Value::Finite { sign, .. }) => self.infinity(s ^ sign),
            (Value::Finite { sign, .. }, Value::Infinite(s)) => self.zero(s ^ sign),
            (
                Value::Finite { sign: s, significand: m, exponent: e },
                Value::Finite { sign: t, significand: n, exponent: f },
            ) => match (m, n) {
                (0, 0) => self.nan,
                (_, 0) => self.infinity(s ^ t),
                (0, _) => self.zero(s ^ t),
                _ => {
                    let up = m.leading_zeros();
                    let m = m << up;
                    self.round(s ^ t, m / n, e - up as i32 - f, m % n != 0, mode)
                }
            },
        }
    }

    /// The square root.
    pub(crate) fn sqrt(self, a: u64, mode: Round) -> u64 {
        match self.take(a) {
            Value::Nan | Value::Infinite(true) => self.nan,
            Value::Infinite(false) => a,
            Value::Finite { significand: 0, .. } => a,
            Value::Finite { sign: true, .. } => self.nan,
            Value::Finite { significand, exponent, .. } => {
                // An even exponent, and as many bits as fit.
                let mut up = significand.leading_zeros() as i32 - 1;
                if (exponent - up) % 2 != 0 {
                    up -= 1;
                }
                let m = significand << up;
                let r = m.isqrt();
                self.round(false, r, (exponent - up) / 2, r * r != m, mode)
            }
        }
    }

    /// The value in another format.
    pub(crate) fn to(self, to: Format, bits: u64, mode: Round) -> u64 {
        match self.take(bits) {
            Value::Nan => to.nan,
            Value::Infinite(s) => to.infinity(s),
            Value::Finite { sign, significand, exponent } => to.round(sign, significand, exponent, false, mode),
        }
    }

    /// An integer's value in this format.
    pub(crate) fn of_int(self, v: i128, mode: Round) -> u64 {
        self.round(v < 0, v.unsigned_abs(), 0, false, mode)
    }

    /// The value as an integer between `min` and `max`, saturating; NaN gives zero or, for 64-bit targets, the top bit.
    pub(crate) fn to_int(self, bits: u64, mode: Round, min: i128, max: i128) -> Option<i128> {
        match self.take(bits) {
            Value::Nan => None,
            Value::Infinite(s) => Some(if s { min } else { max }),
            Value::Finite { sign, significand, exponent } => {
                Some(to_integer(sign, significand, exponent, mode).clamp(min, max))
            }
        }
    }

    /// The value rounded to an integer, in the same format.
    pub(crate) fn round_int(self, bits: u64, mode: Round) -> u64 {
        match self.take(bits) {
            Value::Nan => self.nan,
            Value::Infinite(_) => bits,
            Value::Finite { sign, significand, exponent } => {
                if exponent >= 0 {
                    return bits;
                }
                let v = to_integer(sign, significand, exponent, mode).unsigned_abs();
                self.round(sign, v, 0, false, mode)
            }
        }
    }
}

/// A finite value as an integer; values beyond 2^126 are given as that.
fn to_integer(sign: bool, significand: u128, exponent: i32, mode: Round) -> i128 {
    let magnitude = match exponent {
        0.. => {
            let room = significand.leading_zeros() as i32 - 2;
            if exponent > room { if significand == 0 { 0 } else { 1 << 126 } } else { significand << exponent }
        }
        -127..=-1 => {
            let s = -exponent;
            let kept = significand >> s;
            let half = significand >> (s - 1) & 1 != 0;
            let rest = significand & ((1 << (s - 1)) - 1) != 0;
            kept + u128::from(rounds_up(mode, sign, kept & 1 != 0, half, rest))
        }
        _ => u128::from(significand != 0 && rounds_up(mode, sign, false, false, true)),
    };
    if sign { -(magnitude as i128) } else { magnitude as i128 }
}

/// Whether to add one unit: `odd` the last bit kept, `half` the first one dropped, `rest` any other.
fn rounds_up(mode: Round, sign: bool, odd: bool, half: bool, rest: bool) -> bool {
    match mode {
        Round::Nearest => half && (rest || odd),
        Round::Away => half,
        Round::Zero => false,
        Round::Down => sign && (half || rest),
        Round::Up => !sign && (half || rest),
    }
}
