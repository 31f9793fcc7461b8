//! How a thread leaves its stack, so that others can run: known to the block, which keeps it, and to the thread, which
//! uses it.

use corosensei::Yielder;

/// What hands control back to the scheduler.
pub(crate) type Switch = Yielder<(), ()>;
