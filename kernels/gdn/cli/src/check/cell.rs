//! What became of one thing that was to be done.

use gated_delta::Error;

/// A result, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<T> {
    /// It was done.
    Done(T),
    /// The device has not the shared memory for it, or the kernel is not for these sizes.
    NotFor,
    /// There was no time for it.
    LeftOut,
    /// It went wrong.
    Wrong(String),
}

impl<T> Cell<T> {
    /// The result, where there is one.
    pub fn done(&self) -> Option<&T> {
        if let Cell::Done(value) = self { Some(value) } else { None }
    }

    /// What went wrong.
    pub fn wrong(&self) -> Option<&str> {
        if let Cell::Wrong(why) = self { Some(why) } else { None }
    }
}

impl<T> From<Result<T, Error>> for Cell<T> {
    fn from(result: Result<T, Error>) -> Cell<T> {
        match result {
            Ok(value) => Cell::Done(value),
            Err(Error::Launch(launch::Error::SharedMemory { .. }) | Error::Mma { .. }) => Cell::NotFor,
            Err(error) => Cell::Wrong(error.to_string()),
        }
    }
}
