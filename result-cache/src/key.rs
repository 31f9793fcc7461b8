//! The hash of all that a result depends on.

use sha2::{Digest, Sha256};
use std::fmt;

/// Names a result: SHA-256 over the step's name, its version and everything that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

/// Collects what a result depends on.
#[derive(Clone, Debug)]
pub struct KeyBuilder(Sha256);

impl Key {
    /// Starts the key of a step's result. `step` changes whenever the step would make something else of the same input.
    pub fn of(step: &str) -> KeyBuilder {
        KeyBuilder(Sha256::new()).with(step)
    }
}

impl KeyBuilder {
    /// Adds something that the result depends on. Each part is hashed with its length, so that no two lists of parts
    /// are the same bytes.
    pub fn with(mut self, part: impl AsRef<[u8]>) -> KeyBuilder {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// The key.
    pub fn finish(self) -> Key {
        Key(self.0.finalize().into())
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let key = |parts: &[&str]| parts.iter().fold(Key::of("step"), |key, part| key.with(part)).finish();
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab"]), key(&["ab", ""]));
        assert_ne!(Key::of("one").finish(), Key::of("two").finish());
    }
}
