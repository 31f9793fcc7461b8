//! What a hint asks for.

names! {
    /// Which of the two hints.
    pub enum HintKind {
        /// Keep the loop.
        Nounroll = "nounroll",
        /// Unroll it.
        Unroll = "unroll",
    }
}

/// What a hint asks to become of its loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Request {
    /// Keep the loop.
    Nounroll,
    /// Leave no loop.
    Full,
    /// Leave one loop, of so many copies of the body.
    Copies(u64),
}

/// The number by which a marker asks for all copies. No count of copies is 0.
const ALL_COPIES: u64 = 0;
/// The number that the marker of a loop that stays carries. Its site says that it is one.
const ONE_COPY: u64 = 1;

impl Request {
    /// The hint that asks for it.
    pub fn kind(self) -> HintKind {
        match self {
            Request::Nounroll => HintKind::Nounroll,
            Request::Full | Request::Copies(_) => HintKind::Unroll,
        }
    }

    /// The number that the marker in the loop's body carries.
    pub fn marker_number(self) -> u64 {
        match self {
            Request::Nounroll => ONE_COPY,
            Request::Full => ALL_COPIES,
            Request::Copies(copies) => copies,
        }
    }

    /// What a marker asks for, by its site's hint and its number.
    pub fn of_marker(kind: HintKind, number: u64) -> Request {
        match (kind, number) {
            (HintKind::Nounroll, _) => Request::Nounroll,
            (HintKind::Unroll, ALL_COPIES) => Request::Full,
            (HintKind::Unroll, copies) => Request::Copies(copies),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_marker_carries_is_read() {
        for request in [Request::Nounroll, Request::Full, Request::Copies(2), Request::Copies(1024)] {
            assert_eq!(Request::of_marker(request.kind(), request.marker_number()), request);
        }
    }
}
