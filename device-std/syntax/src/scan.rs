//! The hinted loops of a source file, in the order of the source, whether or not they are ever compiled.
//!
//! The audit takes its list of hints from here, so that a hint in an unused function, in a constant or under `if false`
//! has a record too. What a `#[cfg]` removes is listed nevertheless; only `#[cfg(test)]` items are left out. Of the
//! loops in macro calls and macro definitions, those that `walk` can see are listed, and one in a macro that makes the
//! whole device function is listed as if it stood outside of one.

use crate::walk;
use hint_record::{HintKind, Request};
use proc_macro2::Span;

/// One hinted loop of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which hint.
    pub kind: HintKind,
    /// What it asks for; `None` where an expression says it, which has its value only in an instance.
    pub request: Option<Request>,
    /// Line of the loop keyword, from 1.
    pub line: u32,
    /// Column of the loop keyword in characters, from 1.
    pub column: u32,
    /// Modules, types and functions around the loop, as in `tiles::Tile::load`.
    pub function: String,
    /// Whether the loop is in a `#[kernel]` or `#[device]` item; a hint elsewhere does not compile.
    pub in_device_fn: bool,
    /// Whether the loop is evaluated while compiling, where a hint has no meaning.
    pub in_const: bool,
}

/// Lists the hinted loops of a file, sorted by place.
///
/// Hints that the macros refuse (on no loop, or malformed) are left out: the compiler reports them.
pub fn hinted_loops(file: &syn::File) -> Vec<Found> {
    let mut found = Vec::new();
    let mut copy = file.clone();
    let _refused_elsewhere = walk::walk(&mut copy, &mut |hinted, _| {
        if !hinted.surroundings.in_test {
            found.push(Found::of(&hinted));
        }
    });
    found.sort_by_key(|found| (found.line, found.column));
    found
}

/// Line and column of a span's start as sites count them: both from 1, columns in characters.
pub fn place(span: Span) -> (u32, u32) {
    let start = span.start();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    (number(start.line), number(start.column + 1))
}

impl Found {
    fn of(hinted: &walk::Hinted) -> Found {
        let (line, column) = place(hinted.keyword);
        Found {
            kind: hinted.hint.request.kind(),
            request: hinted.hint.request.known(),
            line,
            column,
            function: hinted.path.join("::"),
            in_device_fn: hinted.surroundings.in_device,
            in_const: hinted.surroundings.in_const,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(source: &str) -> Vec<Found> {
        hinted_loops(&syn::parse_file(source).expect("Rust source"))
    }

    /// `line column function` of each loop found.
    fn places(source: &str) -> Vec<String> {
        scan(source).iter().map(|found| format!("{} {} {}", found.line, found.column, found.function)).collect()
    }

    #[test]
    fn a_loop_is_found_with_all_that_is_known_of_it() {
        let source = "#[kernel]\npub fn k(xs: &[f32]) {\n    #[unroll({ N * 2 })]\n    'a: for x in xs {}\n}\n";
        let expected = Found {
            kind: HintKind::Unroll,
            request: None,
            line: 4,
            column: 9,
            function: "k".to_owned(),
            in_device_fn: true,
            in_const: false,
        };
        assert_eq!(scan(source), [expected]);
    }

    #[test]
    fn every_spelling_has_its_request() {
        let source = "#[device] fn f() {
            #[nounroll] loop {}
            #[unroll(never)] loop {}
            #[unroll] loop {}
            #[unroll(full)] loop {}
            #[device_std::unroll(0x10)] loop {}
        }";
        let found: Vec<_> = scan(source).into_iter().map(|found| found.request).collect();
        let expected = [Request::Nounroll, Request::Nounroll, Request::Full, Request::Full, Request::Copies(16)];
        assert_eq!(found, expected.map(Some));
    }

    #[test]
    fn loops_come_in_the_order_of_the_source() {
        let source = "#[device]
fn f() {
    #[unroll] for i in 0..4 {
        #[nounroll] while { #[unroll(2)] loop { break } i > 3 } {}
    }
    let x = || #[nounroll] loop {};
}";
        assert_eq!(places(source), ["3 15 f", "4 21 f", "4 42 f", "6 28 f"]);
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(places("#[device] fn f() { /* äöü */ #[nounroll] loop {} }"), ["1 42 f"]);
    }

    #[test]
    fn the_path_names_modules_types_and_nested_functions() {
        let source = "mod tiles {
            impl<T> super::Tile<T> { #[device] fn load() { #[unroll] for i in 0..2 {} } }
            #[device] trait Load { fn load() { fn inner() { #[unroll] for i in 0..2 {} } } }
            #[device] impl Load for [f32; 4] { fn load() { #[unroll] for i in 0..2 {} } }
        }";
        let functions: Vec<_> = scan(source).into_iter().map(|found| found.function).collect();
        assert_eq!(functions, ["tiles::Tile::load", "tiles::Load::load::inner", "tiles::[f32 ; 4]::load"]);
    }

    #[test]
    fn what_is_no_device_code_is_marked() {
        let source = "fn host() { #[nounroll] loop {} }
            #[cfg_attr(gpu, device)] fn maybe() { #[nounroll] loop {} }
            #[device_std::kernel] fn k() { #[nounroll] loop {} }";
        assert_eq!(scan(source).iter().map(|found| found.in_device_fn).collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn const_contexts_are_marked() {
        let source = "#[device] const fn f() { #[nounroll] while a {} }
            #[device] fn g() {
                #[nounroll] while a {}
                const N: usize = { #[nounroll] while a {} 3 };
                static S: fn() = || { #[nounroll] while a {} };
                let x = [0; { #[nounroll] while a {} 3 }];
                let y: [u8; { #[nounroll] while a {} 3 }];
                const { #[nounroll] while a {} }
                const fn h() { #[nounroll] while a {} fn i() { #[nounroll] while a {} } }
            }";
        let found: Vec<_> = scan(source).into_iter().map(|found| found.in_const).collect();
        assert_eq!(found, [true, false, true, false, true, true, true, true, false]);
    }

    #[test]
    fn tests_are_left_out() {
        let source = "#[cfg(test)] mod tests { #[device] fn f() { #[nounroll] loop {} } }
            #[cfg(not(test))] mod other { #[device] fn f() { #[nounroll] loop {} } }";
        assert_eq!(places(source), ["2 74 other::f"]);
    }

    #[test]
    fn mistakes_hide_no_other_loop() {
        let source = "#[device] fn f() {
            #[nounroll(3)] loop { #[unroll] loop {} }
            #[nounroll] if x { #[nounroll] loop {} }
        }";
        assert_eq!(places(source), ["2 45 f", "3 44 f"]);
    }

    #[test]
    fn loops_in_macro_calls_are_found_where_they_can_be() {
        let source = "#[device] fn f() {
            statements! { for i in 0..4 { #[nounroll] for j in 0..i {} } }
            list!(a, { #[nounroll] loop {} }, b);
            own!(cap 16; for i in 0..n { #[nounroll] loop {} });
            ignored!(#[nounroll] for);
            let v = vec![{ #[unroll] loop { break 1 } }; 4];
            unroll! { for i in 0..4 { let mut ph~i = 0; #[nounroll] while ph~i < 9 { ph~i += 1; } } }
        }";
        assert_eq!(places(source), ["2 55 f", "3 36 f", "4 54 f", "6 38 f", "7 69 f"]);
    }
}
