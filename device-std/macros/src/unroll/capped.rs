//! The iterator of the capped form: a literal start and step, and a stop that may be known later.

use super::input::Cap;
use super::value::{Integer, unwrapped};
use super::values::{Adapter, common_suffix, negative_step};
use syn::{Expr, ExprRange, RangeLimits};

/// The range of a capped loop.
#[derive(Debug)]
pub struct CappedRange {
    /// The values of the copies, as many as the cap allows and the type of the literals can hold.
    pub values: Vec<Integer>,
    /// Where the range ends.
    pub stop: Expr,
    /// Whether the stop is the range's last value.
    pub inclusive: bool,
    /// Whether the values descend.
    pub descending: bool,
    /// The first value that there is no copy for.
    pub beyond: i128,
}

/// Reads a capped loop's iterator.
pub fn read(iterator: &Expr, cap: &Cap) -> syn::Result<CappedRange> {
    match unwrapped(iterator) {
        Expr::Range(range) => stepped(range, 1, cap),
        Expr::MethodCall(call) => match (Adapter::read(call)?, unwrapped(&call.receiver)) {
            (Some(Adapter::StepBy(step)), Expr::Range(range)) => stepped(range, step, cap),
            (Some(Adapter::StepBy(step)), _) if step < 0 => Err(negative_step(call)),
            (Some(Adapter::Rev), Expr::Range(_)) => {
                let message = "the start of a capped loop is an integer literal, and that of a reversed range is its \
                               end: write `(7..=n).step_by(-1)` to count down from 7 to n";
                Err(syn::Error::new_spanned(iterator, message))
            }
            _ => Err(syn::Error::new_spanned(iterator, RANGES)),
        },
        Expr::Tuple(_) => {
            let message =
                "the length of a tuple is known, so a loop over one takes no cap: `unroll! { for x in (a, b) { … } }`";
            Err(syn::Error::new_spanned(iterator, message))
        }
        _ => Err(syn::Error::new_spanned(iterator, RANGES)),
    }
}

const RANGES: &str = "a capped `unroll!` takes a range whose start is an integer literal and whose stop may be any \
     expression (`0..n`, `1..=n`), which one `.step_by(2)` with a literal step may follow";

fn stepped(range: &ExprRange, step: i128, cap: &Cap) -> syn::Result<CappedRange> {
    let (Some(start), Some(stop)) = (&range.start, &range.end) else {
        return Err(syn::Error::new_spanned(range, RANGES));
    };
    let Some(first) = Integer::read(start)? else {
        return Err(syn::Error::new_spanned(start, "the start of a capped `unroll!` is an integer literal"));
    };
    let suffix = match Integer::read(stop)? {
        Some(stop) => common_suffix(&first, &stop, range)?,
        None => first.suffix.clone(),
    };
    let Some(beyond) = step.checked_mul(i128::from(cap.copies)).and_then(|distance| distance.checked_add(first.number))
    else {
        return Err(syn::Error::new_spanned(
            range,
            "the values of this loop overflow 128 bits before its cap is reached",
        ));
    };
    let number = |turn: u64| first.number + i128::from(turn) * step;
    let values = (0..cap.copies).map(number).filter(|&number| fits(number, &suffix));
    Ok(CappedRange {
        values: values.map(|number| Integer { number, suffix: suffix.clone() }).collect(),
        stop: (**stop).clone(),
        inclusive: matches!(range.limits, RangeLimits::Closed(_)),
        descending: step < 0,
        beyond,
    })
}

/// Whether a type can hold a number; a value that it cannot hold lies beyond every stop of that type.
fn fits(number: i128, suffix: &str) -> bool {
    let holds = |bits: u32| number >= 0 && (bits == 128 || number >> bits == 0);
    let holds_signed = |bits: u32| bits == 128 || number >> (bits - 1) == 0 || number >> (bits - 1) == -1;
    match suffix {
        "u8" => holds(8),
        "u16" => holds(16),
        "u32" => holds(32),
        "u64" | "usize" => holds(64),
        "u128" => holds(128),
        "i8" => holds_signed(8),
        "i16" => holds_signed(16),
        "i32" => holds_signed(32),
        "i64" | "isize" => holds_signed(64),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{CappedRange, fits, read};
    use crate::unroll::input::Cap;

    fn capped(copies: u64, iterator: &str) -> Result<CappedRange, String> {
        let iterator = syn::parse_str(iterator).expect("an expression");
        read(&iterator, &Cap { copies, checked: false }).map_err(|error| error.to_string())
    }

    fn numbers(range: &CappedRange) -> Vec<i128> {
        range.values.iter().map(|value| value.number).collect()
    }

    #[test]
    fn start_step_and_cap_give_the_values() {
        let range = capped(3, "1..=n").expect("a range");
        assert_eq!((numbers(&range), range.inclusive, range.descending, range.beyond), (vec![1, 2, 3], true, false, 4));
        let range = capped(3, "(5..n - 1).step_by(-2)").expect("a range");
        assert_eq!(
            (numbers(&range), range.inclusive, range.descending, range.beyond),
            (vec![5, 3, 1], false, true, -1)
        );
        let range = capped(2, "(-1..f(x)).step_by(4)").expect("a range");
        assert_eq!(numbers(&range), [-1, 3]);
    }

    #[test]
    fn a_suffix_bounds_the_values() {
        assert_eq!(numbers(&capped(6, "(3u8..=n).step_by(-1)").expect("a range")), [3, 2, 1, 0]);
        assert_eq!(numbers(&capped(9, "(250u8..n).step_by(3)").expect("a range")), [250, 253]);
        assert_eq!(numbers(&capped(3, "(127i8..n).step_by(-127)").expect("a range")), [127, 0, -127]);
        assert_eq!(numbers(&capped(4, "(0..9u8).step_by(100)").expect("a range")), [0, 100, 200]);
    }

    #[test]
    fn types_hold_what_they_hold() {
        for (suffix, low, high) in [
            ("u8", 0, i128::from(u8::MAX)),
            ("i8", i128::from(i8::MIN), i128::from(i8::MAX)),
            ("u16", 0, i128::from(u16::MAX)),
            ("i16", i128::from(i16::MIN), i128::from(i16::MAX)),
            ("u32", 0, i128::from(u32::MAX)),
            ("i32", i128::from(i32::MIN), i128::from(i32::MAX)),
            ("u64", 0, i128::from(u64::MAX)),
            ("usize", 0, i128::from(u64::MAX)),
            ("i64", i128::from(i64::MIN), i128::from(i64::MAX)),
            ("isize", i128::from(i64::MIN), i128::from(i64::MAX)),
        ] {
            assert!(fits(low, suffix) && fits(high, suffix), "{suffix}");
            assert!(!fits(low - 1, suffix) && !fits(high + 1, suffix), "{suffix}");
        }
        assert!(fits(0, "u128") && !fits(-1, "u128") && fits(i128::MAX, "u128") && fits(i128::MIN, "i128"));
    }

    #[test]
    fn what_must_be_literal_is_refused_otherwise() {
        let refusal = |iterator| capped(4, iterator).expect_err("refused");
        assert!(refusal("a..n").contains("start of a capped"));
        assert!(refusal("(0..n).step_by(k)").contains("integer literal"));
        assert!(refusal("(0..n).step_by(0)").contains("step of 0"));
        assert!(refusal("(0..n).rev()").contains("count down"));
        assert!(refusal("(0..n).step_by(2).step_by(-2)").contains("on the range itself"));
        assert!(refusal("(a, b)").contains("takes no cap"));
        for other in ["0..", "..n", "n", "(0..n).map(f)", "(0..n).step_by(2).step_by(2)", "[0]"] {
            assert!(refusal(other).contains("takes a range whose start"), "{other}");
        }
        assert!(refusal("(0..n).step_by(85070591730234615865843651857942052864)").contains("overflow"));
        assert!(refusal("1u8..2u16").contains("u8 and u16"));
    }
}
