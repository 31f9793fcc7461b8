//! The promise: every site survives its text.

use hint_record::{HintKind, Site};
use proptest::prelude::*;

proptest! {
    #[test]
    fn sites_survive_their_text(package in "[a-z-]{1,12}", file in "[a-z/|. é]{1,20}", line: u32, column: u32, nounroll: bool) {
        let kind = if nounroll { HintKind::Nounroll } else { HintKind::Unroll };
        let site = Site { kind, package, file, line, column };
        prop_assert_eq!(site.to_string().parse(), Ok(site));
    }
}
