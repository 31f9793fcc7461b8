//! What an `unroll` asks for, as the number that the report has: 0 for all copies, else how many, and null where there
//! is no one number.

use hint_record::Request;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a request as its number.
pub fn serialize<S: Serializer>(request: &Option<Request>, serializer: S) -> Result<S::Ok, S::Error> {
    let number = match request {
        Some(Request::Full) => Some(0),
        Some(Request::Copies(copies)) => Some(*copies),
        Some(Request::Nounroll) | None => None,
    };
    number.serialize(serializer)
}

/// Reads a number as the request that it stands for.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Request>, D::Error> {
    let number: Option<u64> = Option::deserialize(deserializer)?;
    Ok(number.map(|number| match number {
        0 => Request::Full,
        copies => Request::Copies(copies),
    }))
}
