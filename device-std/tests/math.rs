//! The elementary functions against references of higher precision, their special values, and their very bits.
//!
//! Single precision is compared with the standard library's double precision, whose own error is a few billionths of an
//! ulp of the result; double precision with 192-bit numbers. The bounds are those of the functions' documentation.

#[path = "math/double.rs"]
mod double;
#[path = "math/fast.rs"]
mod fast;
#[path = "math/half.rs"]
mod half;
#[path = "math/single.rs"]
mod single;
#[path = "math/special.rs"]
mod special;
#[path = "math/ulp.rs"]
mod ulp;
