//! The values of an iterator that is known while expanding: a range of integer literals, or a tuple.

use super::MAX_COPIES;
use super::value::{Integer, Value, unwrapped};
use syn::{Expr, ExprMethodCall, ExprRange, RangeLimits};

const ITERATORS: &str = "`unroll!` must know the values: it takes a range of integer literals (`0..4`, `0..=3`), which \
     `.rev()` and `.step_by(2)` may follow, or a tuple (`(a, b, c)`); where only the end is known later, give a cap: \
     `unroll!(cap 16; for i in 0..n { … });`";

/// The values in their order.
pub fn read(iterator: &Expr) -> syn::Result<Vec<Value>> {
    if let Expr::Tuple(tuple) = unwrapped(iterator) {
        check_count(tuple.elems.len() as u128, iterator)?;
        return tuple.elems.iter().map(Value::of).collect();
    }
    let progression = progression(iterator)?;
    let number = |turn: u64| progression.first.wrapping_add(i128::from(turn).wrapping_mul(progression.step));
    let value = |turn| Value::Integer(Integer { number: number(turn), suffix: progression.suffix.clone() });
    Ok((0..progression.count).map(value).collect())
}

/// Numbers at equal distances; `count` is at most `MAX_COPIES`.
///
/// The last number is no further than the range's end, so that wrapping arithmetic arrives at it.
struct Progression {
    first: i128,
    step: i128,
    count: u64,
    suffix: String,
}

fn progression(iterator: &Expr) -> syn::Result<Progression> {
    match unwrapped(iterator) {
        Expr::Range(range) => whole(range, 1),
        Expr::MethodCall(call) => match Adapter::read(call)? {
            Some(Adapter::StepBy(step)) => match unwrapped(&call.receiver) {
                Expr::Range(range) => whole(range, step),
                _ if step < 0 => Err(negative_step(call)),
                _ => Ok(progression(&call.receiver)?.step_by(step)),
            },
            Some(Adapter::Rev) => Ok(progression(&call.receiver)?.rev()),
            None => Err(syn::Error::new_spanned(iterator, ITERATORS)),
        },
        _ => Err(syn::Error::new_spanned(iterator, ITERATORS)),
    }
}

impl Progression {
    fn rev(self) -> Progression {
        let turns = i128::from(self.count) - 1;
        Progression { first: self.first.wrapping_add(turns.max(0).wrapping_mul(self.step)), step: -self.step, ..self }
    }

    fn step_by(self, step: i128) -> Progression {
        let step = u64::try_from(step).unwrap_or(u64::MAX);
        let count = self.count.div_ceil(step);
        // With fewer than two values the distance between them is of no account, and might not fit.
        let distance = if count < 2 { 1 } else { self.step * i128::from(step) };
        Progression { step: distance, count, ..self }
    }
}

/// The numbers from a range's start to its end at a distance; downwards where the distance is negative.
fn whole(range: &ExprRange, step: i128) -> syn::Result<Progression> {
    let (Some(start), Some(end)) = (&range.start, &range.end) else {
        return Err(syn::Error::new_spanned(range, ITERATORS));
    };
    let (Some(first), Some(end_number)) = (Integer::read(start)?, Integer::read(end)?) else {
        let unknown = if Integer::read(start)?.is_some() { end } else { start };
        return Err(syn::Error::new_spanned(unknown, format!("this is no integer literal, and {ITERATORS}")));
    };
    let suffix = common_suffix(&first, &end_number, range)?;
    let count = count(first.number, step, end_number.number, &range.limits);
    let count = check_count(count, range)?;
    Ok(Progression { first: first.number, step, count, suffix })
}

/// How many of `first`, `first + step`, … lie before `end`, or up to it.
pub fn count(first: i128, step: i128, end: i128, limits: &RangeLimits) -> u128 {
    let (low, high) = if step > 0 { (first, end) } else { (end, first) };
    if high < low {
        return 0;
    }
    let distance = high.abs_diff(low);
    match limits {
        RangeLimits::HalfOpen(_) => distance.div_ceil(step.unsigned_abs()),
        RangeLimits::Closed(_) => distance / step.unsigned_abs() + 1,
    }
}

/// The suffix of the one or of both.
pub fn common_suffix(one: &Integer, other: &Integer, place: &ExprRange) -> syn::Result<String> {
    match (one.suffix.as_str(), other.suffix.as_str()) {
        (suffix, "") | ("", suffix) => Ok(suffix.to_owned()),
        (one, other) if one == other => Ok(one.to_owned()),
        (one, other) => {
            Err(syn::Error::new_spanned(place, format!("a range has one type, and this one has {one} and {other}")))
        }
    }
}

fn check_count(count: u128, place: &impl quote::ToTokens) -> syn::Result<u64> {
    match u64::try_from(count) {
        Ok(count @ 0..=MAX_COPIES) => Ok(count),
        _ => Err(syn::Error::new_spanned(place, format!("`unroll!` makes at most {MAX_COPIES} copies"))),
    }
}

/// What may follow a range.
pub enum Adapter {
    /// `.rev()`
    Rev,
    /// `.step_by(literal)`, the literal not 0.
    StepBy(i128),
}

impl Adapter {
    /// The adapter that a call is; none if it is another method.
    pub fn read(call: &ExprMethodCall) -> syn::Result<Option<Adapter>> {
        if call.turbofish.is_some() {
            return Ok(None);
        }
        match (call.method.to_string().as_str(), call.args.len()) {
            ("rev", 0) => Ok(Some(Adapter::Rev)),
            ("step_by", 1) => match Integer::read(&call.args[0])? {
                Some(Integer { number: 0, .. }) => Err(syn::Error::new_spanned(&call.args, "a step of 0 never ends")),
                Some(step) => Ok(Some(Adapter::StepBy(step.number))),
                None => Err(syn::Error::new_spanned(&call.args, "the step of an `unroll!` is an integer literal")),
            },
            _ => Ok(None),
        }
    }
}

/// The error for a negative step on something that is no range.
pub fn negative_step(call: &ExprMethodCall) -> syn::Error {
    let message = "a negative step counts down from a range's start to its end, as in `(6..=0).step_by(-2)`: it goes \
                   on the range itself";
    syn::Error::new_spanned(&call.args, message)
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::unroll::value::Value;
    use proptest::prelude::*;
    use quote::ToTokens;

    fn numbers(iterator: &str) -> Vec<i128> {
        let iterator = syn::parse_str(iterator).expect("an expression");
        let values = read(&iterator).expect("known values");
        let number = |value: Value| match value {
            Value::Integer(integer) => integer.number,
            Value::Expression(other) => panic!("no number: {}", other.to_token_stream()),
        };
        values.into_iter().map(number).collect()
    }

    fn refusal(iterator: &str) -> String {
        let iterator = syn::parse_str(iterator).expect("an expression");
        read(&iterator).err().map(|error| error.to_string()).unwrap_or_default()
    }

    proptest! {
        /// Every chain of adapters yields what the standard library's iterators yield.
        #[test]
        fn ranges_are_the_standard_ones(
            start in -9i128..9,
            end in -9i128..9,
            steps in prop::collection::vec(0usize..5, 0..4),
        ) {
            for (text, closed) in [("..", false), ("..=", true)] {
                let mut source = format!("({start}{text}{end})");
                let mut expected: Vec<i128> = if closed { (start..=end).collect() } else { (start..end).collect() };
                for &step in &steps {
                    if step == 0 {
                        source += ".rev()";
                        expected.reverse();
                    } else {
                        source += &format!(".step_by({step})");
                        expected = expected.into_iter().step_by(step).collect();
                    }
                }
                prop_assert_eq!(numbers(&source), expected, "{}", source);
            }
        }

        /// A negative step mirrors the range at 0.
        #[test]
        fn negative_steps_count_down(start in -9i128..9, end in -9i128..9, step in 1i128..5) {
            let up: Vec<i128> = (-start..=-end).step_by(step as usize).map(|number| -number).collect();
            prop_assert_eq!(numbers(&format!("({start}..={end}).step_by(-{step})")), up);
            let up: Vec<i128> = (-start..-end).step_by(step as usize).map(|number| -number).collect();
            prop_assert_eq!(numbers(&format!("({start}..{end}).step_by(-{step})")), up);
        }
    }

    #[test]
    fn literals_are_read_in_all_their_spellings() {
        assert_eq!(numbers("0x0_f..=0b1_0001u8"), [15, 16, 17]);
        assert_eq!(numbers("((-(1))..(2))"), [-1, 0, 1]);
        let limit = i128::MAX;
        assert_eq!(numbers(&format!("{}..={limit}", limit - 1)), [limit - 1, limit]);
        assert_eq!(numbers(&format!("({limit}..=-{limit}).step_by(-{limit})")), [limit, 0, -limit]);
        assert_eq!(numbers(&format!("(0..2).step_by({limit}).rev()")), [0]);
    }

    #[test]
    fn what_is_not_known_here_is_refused() {
        for unknown in
            ["0..n", "n..4", "..4", "0..", "n", "[1, 2]", "f(0..4)", "(0..4).map(f)", "0.0..4.0", "(1)", "0..2 * 4"]
        {
            assert!(refusal(unknown).contains("takes a range of integer literals"), "{unknown}: {}", refusal(unknown));
        }
        assert!(refusal("(0..4).step_by(0)").contains("step of 0"));
        assert!(refusal("(0..4).step_by(k)").contains("integer literal"));
        assert!(refusal("(0..4).rev().step_by(-1)").contains("on the range itself"));
        assert!(refusal("0u8..4u16").contains("u8 and u16"));
        assert!(refusal("0..340282366920938463463374607431768211455").contains("too large"));
    }

    #[test]
    fn copies_are_counted_before_they_are_made() {
        assert_eq!(numbers("0..1024").len(), 1024);
        assert!(refusal("0..1025").contains("at most 1024"));
        let most = i128::MAX;
        assert!(refusal(&format!("-{most}..={most}")).contains("at most 1024"));
    }
}
