//! What the attribute macros refuse, with the message and its place, and what they accept without a warning.
//!
//! The messages are in `ui/refused/*.stderr`; `TRYBUILD=overwrite` writes them anew.

#[test]
fn the_macros_say_what_is_wrong_and_where() {
    let cases = trybuild::TestCases::new();
    // Programs that run come first: they make trybuild generate code, without which no copy count is evaluated.
    cases.pass("tests/ui/accepted/*.rs");
    cases.compile_fail("tests/ui/refused/*.rs");
}
