//! Thread numbers as people write them: `0-3, 7`.

use std::fmt::{self, Display, Formatter};

/// Ascending numbers, shown as ranges.
pub(crate) struct Ranges<'a>(pub &'a [u32]);

impl Display for Ranges<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|low, high| *high == low + 1);
        for (index, run) in runs.enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            match run {
                [only] => write!(f, "{comma}{only}")?,
                [low, .., high] => write!(f, "{comma}{low}-{high}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;
    use std::string::ToString;

    #[test]
    fn neighbours_are_one_range() {
        for (numbers, text) in
            [(&[][..], ""), (&[4], "4"), (&[0, 1], "0-1"), (&[0, 2, 3, 4, 7, 8, 10], "0, 2-4, 7-8, 10")]
        {
            assert_eq!(Ranges(numbers).to_string(), text);
        }
    }
}
