//! Asynchronous copies.
use crate::table::Family;
pub(crate) const FAMILIES: &[Family] = &[];
