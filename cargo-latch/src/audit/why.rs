//! Why a hint was not honoured, as the report says it: the sentence in `reason`, the kind's keyword in `reason_kind`.
//!
//! Both are made from the typed [`Reason`], which is no part of the report: one that is read back knows its kind, and
//! what was said, and that is all that a comparison with it needs.

use hint_record::{Reason, ReasonKind};
use serde::{Deserialize, Serialize};

use crate::diagnose::reasons;

/// A reason, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// In a sentence.
    #[serde(rename = "reason")]
    sentence: Option<String>,
    /// Reports from before it was written have none.
    #[serde(rename = "reason_kind", default)]
    kind: Option<ReasonKind>,
    #[serde(skip)]
    reason: Option<Reason>,
}

impl Why {
    /// The reason. None where there is none, and of a report that was read.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// The reason's kind.
    pub fn kind(&self) -> Option<ReasonKind> {
        self.kind
    }

    /// The reason in a sentence, for people.
    pub fn sentence(&self) -> Option<&str> {
        self.sentence.as_deref()
    }

    /// Is there no reason?
    pub fn is_none(&self) -> bool {
        self.sentence.is_none()
    }
}

impl From<Option<Reason>> for Why {
    fn from(reason: Option<Reason>) -> Why {
        Why { sentence: reason.map(reasons::sentence), kind: reason.map(Reason::kind), reason }
    }
}

impl From<Reason> for Why {
    fn from(reason: Reason) -> Why {
        Why::from(Some(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_report_has_the_sentence_and_the_kind() {
        let why = serde_json::to_value(Why::from(Reason::Lost)).expect("JSON");
        assert_eq!(why, json!({"reason": reasons::sentence(Reason::Lost), "reason_kind": "lost"}));
        let none = serde_json::to_value(Why::default()).expect("JSON");
        assert_eq!(none, json!({"reason": null, "reason_kind": null}));
    }

    #[test]
    fn another_sentence_is_no_other_kind() {
        for reason in Reason::samples() {
            let mut report = serde_json::to_value(Why::from(reason)).expect("JSON");
            report["reason"] = Value::from("the moon is full");
            let read: Why = serde_json::from_value(report).expect("a reason");
            assert_eq!((read.kind(), read.sentence()), (Some(reason.kind()), Some("the moon is full")));
        }
    }

    #[test]
    fn a_report_without_kinds_can_be_read() {
        let read: Why = serde_json::from_str(r#"{"reason": "the moon is full"}"#).expect("a reason");
        assert_eq!((read.kind(), read.is_none()), (None, false));
    }
}
