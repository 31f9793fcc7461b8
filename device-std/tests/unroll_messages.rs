//! What `unroll!` refuses, with the message and its place, and what it accepts without a warning.
//!
//! The messages are in `unroll-messages/refused/*.stderr`; `TRYBUILD=overwrite` writes them anew.

#[test]
fn unroll_says_what_is_wrong_and_where() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/unroll-messages/accepted/*.rs");
    cases.compile_fail("tests/unroll-messages/refused/*.rs");
}
