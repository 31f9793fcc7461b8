//! What the macro expands to, token for token, and what it refuses.

use super::expand;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

fn tokens(source: &str) -> TokenStream {
    source.parse().expect("tokens")
}

#[track_caller]
fn assert_expands(source: &str, expected: &str) {
    assert_eq!(flat(expand(tokens(source))), flat(tokens(expected)));
}

/// The tokens as text, whatever the spacing between them.
fn flat(tokens: TokenStream) -> String {
    let one = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            format!("{open} {} {close}", flat(group.stream()))
        }
        other => other.to_string(),
    };
    tokens.into_iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The message of the first error, or the expansion where there is none.
fn outcome(source: &str) -> String {
    let expanded = expand(tokens(source)).to_string();
    match expanded.split_once("compile_error ! { \"") {
        Some((_, message)) => message.rsplit_once('"').map_or(message, |(message, _)| message).to_owned(),
        None => format!("accepted: {expanded}"),
    }
}

#[track_caller]
fn assert_refused(source: &str, message: &str) {
    let outcome = outcome(source);
    assert!(!outcome.starts_with("accepted") && outcome.contains(message), "{source}\n=> {outcome}");
}

#[test]
fn copies_are_spliced_one_after_the_other() {
    assert_expands("for i in 0..2 { let mut ph~i = i + x; }", "let mut ph0 = 0 + x; let mut ph1 = 1 + x;");
    assert_expands("for _ in 0..2 { f(); }", "f(); f();");
    assert_expands("for i in 2..2 { f(i); }", "");
    assert_expands("for x in () { f(x); }", "");
}

#[test]
fn the_value_stands_wherever_a_name_can() {
    assert_expands(
        "for i in 1..=1 { t.i += Foo::<i>::new::<{ i + 1 }>(&[0; i], x << i, [i; 2] as [u8; i], i.max(2)); }",
        "t.1 += Foo::<1>::new::<{ 1 + 1 }>(&[0; 1], x << 1, [1; 2] as [u8; 1], 1.max(2));",
    );
    assert_expands("for i in 1..=1 { a.b.i.c[i](i..i) }", "let () : () = a.b.1.c[1](1..1);");
    assert_expands(
        "for i in 1..=1 { if let i..=9 = x { f(S { i, j: i }) } }",
        "if let 1..=9 = x { f(S { i: 1, j: 1 }) }",
    );
    assert_expands("for i in 1..=1 { let x: impl Tr<N = i> = y; }", "let x: impl Tr<N = 1> = y;");
}

#[test]
fn fields_methods_and_labels_keep_their_names() {
    assert_expands(
        "for i in 1..=1 { 'i: loop { S { i: x.i() } = f::i(i::<u8>, i::g); break 'i; } }",
        "'i: loop { S { i: x.i() } = f::i(i::<u8>, i::g); break 'i; }",
    );
    assert_expands("for x in (a, 2) { f(s.x); }", "f(s.x); f(s.2);");
}

#[test]
fn negative_numbers_stay_together() {
    assert_expands("for i in -1..0 { i.abs() - i; f::<i>(i) }", "(-1).abs() - (-1); let (): () = f::<{ -1 }>((-1));");
}

#[test]
fn suffixes_stay_in_values_and_leave_names() {
    assert_expands("for i in 0xAu8..=10 { let r~i = i; t.i; }", "let r10 = 10u8; t.10;");
}

#[test]
fn elements_are_spliced_as_written() {
    assert_expands("for x in (a, b + 1, f(c)) { x * x; }", "a * a; (b + 1) * (b + 1); f(c) * f(c);");
    assert_expands("for (s, t) in ((0, lo), (1, hi.k)) { let ph~s = t[s]; }", "let ph0 = lo[0]; let ph1 = hi.k[1];");
    assert_expands(
        "for T in (f32, m::Half) { g::<T, [T; 2]>(z as T); }",
        "g::<f32, [f32; 2]>(z as f32); g::<m::Half, [m::Half; 2]>(z as m::Half);",
    );
    assert_expands("for c in (true, N + 1) { g::<c>(); }", "g::<true>(); g::<{ N + 1 }>();");
    assert_expands("for x in (a,) { x += 1; let k~x = x; }", "a += 1; let ka = a;");
    assert_expands("for i in (i, j) { f(i); }", "f(i); f(j);");
}

#[test]
fn a_binding_of_the_same_name_stops_the_replacement() {
    assert_expands("for i in 1..=1 { f(i); let i = i + 1; f(i); }", "f(1); let i = 1 + 1; f(i);");
    assert_expands("for i in 1..=1 { { let i = 2; f(i); } f(i); }", "{ let i = 2; f(i); } f(1);");
    assert_expands("for i in 1..=1 { for i in 0..i { f(i); } f(i); }", "for i in 0..1 { f(i); } f(1);");
    assert_expands("for i in 1..=1 { (|i, x| f(i + x))(i); (|x| f(i))(i); }", "(|i, x| f(i + x))(1); (|x| f(1))(1);");
    assert_expands(
        "for i in 1..=1 { match i { Some(i) if i > 2 => i, None => i } }",
        "match 1 { Some(i) if i > 2 => i, None => 1 }",
    );
    assert_expands(
        "for i in 1..=1 { if let Some(i) = i && i > 2 { f(i) } else { g(i) } while let Some(i) = i { f(i); } }",
        "if let Some(i) = 1 && i > 2 { f(i) } else { g(1) } while let Some(i) = 1 { f(i); }",
    );
    assert_expands(
        "for i in 1..=1 { { fn f(i: u8) { g(i); } fn h() { g(i); } fn k<const i: usize>() { g(i) } } }",
        "{ fn f(i: u8) { g(i); } fn h() { g(1); } fn k<const i: usize>() { g(i) } }",
    );
    assert_expands("for i in 1..=1 { { f(i); const i: u8 = 3; } f(i); }", "{ f(i); const i: u8 = 3; } f(1);");
    assert_expands(
        "for i in 1..=1 { let Some(i) = f(i) else { return i; }; f(i); }",
        "let Some(i) = f(1) else { return 1; }; f(i);",
    );
    assert_expands("for i in 1..=1 { let S { i, j: [a, i2] } = s; f(i); }", "let S { i, j: [a, i2] } = s; f(i);");
}

#[test]
fn only_the_loops_own_names_are_pasted() {
    assert_expands(
        "for i in 3..4 { let a~i~_tail = b~i~_~i; 'l~i: loop { break 'l~i; } s.f~i.m~i(); }",
        "let a3_tail = b3_3; 'l3: loop { break 'l3; } s.f3.m3();",
    );
    assert_expands("for i in 3..4 { let r#type~i = x~7; }", "let type3 = x7;");
    assert_expands("for (i, x) in ((0, lo),) { f~i~x(i~i, x); }", "f0lo(i0, lo);");
    assert_refused("for i in 0..4 { let a~j = 0; }", "pastes a name of the loop");
    assert_refused("for i in -1..4 { let a~i = 0; }", "negative");
    assert_refused("for i in (f(x), 1) { let a~i = 0; }", "only a whole number or a single identifier");
    assert_refused("for i in 0..4 { let i = 3; let a~i = 0; }", "bound anew");
    assert_refused("for i in 0..4 { let a~i~2.5 = 0; }", "only a whole number or an identifier");
    assert_refused("for i in -1..4 { t.i; }", "no index of a tuple");
    assert_refused("for x in (n, m) { let f~x = 0; }", "`fn`, which this pastes together, is no name");
    assert_expands("for x in (r#type, m) { let r#in~x = 0; }", "let intype = 0; let inm = 0;");
}

#[test]
fn tokens_of_other_macros_are_read_where_they_can_be() {
    assert_expands(
        "for i in 1..=1 { println!(\"{i} {}\", i, i = i); assert!({ let i = 2; i == 2 } && i == 1); vec![i; 3]; }",
        "println!(\"{i} {}\", 1, i = 1); assert!({ let i = 2; i == 2 } && 1 == 1); vec![1; 3];",
    );
    assert_expands(
        "for i in -1..0 { m!(@ i => 'i, $i, i: i, i = i, [i + i], i::i) }",
        "m!(@ (-1) => 'i, $i, i: (-1), i = (-1), [(-1) + (-1)], i::i);",
    );
    assert_expands(
        "for i in 1..=1 { m!(@ t.i x~i); macro_rules! k { ($i:expr) => { $i + i } } }",
        "m!(@ t.1 x1); macro_rules! k { ($i:expr) => { $i + i } }",
    );
    // Where nothing in them is the loop's, not one token changes: `0.1` would be printed as three.
    assert_expands("for i in 1..=1 { m!(t.0.1); }", "m!(t.0.1);");
}

#[test]
fn the_outer_macro_expands_first() {
    assert_expands(
        "for i in 0..2 { unroll! { for j in 0..i { let x~i~j = t.i + j; let y~j~i = 0; z~j; } } }",
        "unroll! { for j in 0..0 { let x~0~j = t.0 + j; let y~j~0 = 0; z~j; } }
         unroll! { for j in 0..1 { let x~1~j = t.1 + j; let y~j~1 = 0; z~j; } }",
    );
    assert_expands(
        "for i in 3..4 { device_std::unroll!(cap 4; for i in 0..n + i { f(i, ph~i); }); }",
        "device_std::unroll!(cap 4; for i in 0..n + 3 { f(i, ph~i); });",
    );
}

#[test]
fn jumps_go_to_blocks() {
    assert_expands(
        "for i in 0..2 { if a { continue } if b { break; } f(i) }",
        "'unroll_end: {
             { 'unroll_next: { if a { break 'unroll_next } if b { break 'unroll_end; } f(0) } }
             { 'unroll_next: { if a { break 'unroll_next } if b { break 'unroll_end; } f(1) } }
         }",
    );
    assert_expands("for i in 0..1 { if a { continue; } }", "{ { 'unroll_next: { if a { break 'unroll_next; } } } }");
    assert_expands(
        "for i in 0..1 { let Some(x) = y else { break }; }",
        "'unroll_end: { { let Some(x) = y else { break 'unroll_end }; } }",
    );
    assert_expands("for i in 0..1 { m!(a, { break }); }", "'unroll_end: { { m!(a, { break 'unroll_end }); } }");
}

#[test]
fn inner_loops_closures_and_items_keep_their_jumps() {
    for body in [
        "loop { break; }",
        "while a { continue; }",
        "for k in x { if a { break } else { continue } }",
        "unroll! { for k in 0..2 { break; } }",
        "let f = || { for _ in x { break; } };",
        "{ fn f() { loop { break } } }",
        "'other: loop { break 'other; }",
        "async { loop { break } };",
        // No program, but the compiler's to refuse.
        "let f = || break;",
        "fn f~i() { continue }",
        "const { break };",
    ] {
        assert_expands(&format!("for i in 0..1 {{ {body} }}"), &body.replace("~i", "0"));
    }
    assert_expands("for i in 0..1 { for k in { break } {} }", "'unroll_end: { { for k in { break 'unroll_end } {} } }");
}

#[test]
fn a_label_reaches_into_inner_loops() {
    assert_expands(
        "'a: for i in 0..1 { loop { break 'a; } unroll! { for k in 0..2 { continue 'a; } } 'a: loop { break 'a; } }",
        "'unroll_end: { { 'unroll_next: {
             loop { break 'unroll_end; }
             unroll! { for k in 0..2 { break 'unroll_next; } }
             'a: loop { break 'a; }
         } } }",
    );
    assert_expands("'a: for i in 0..1 { loop { break 'b; } }", "loop { break 'b; }");
}

#[test]
fn jumps_that_cannot_be_kept_are_refused() {
    assert_refused("for i in 0..4 { break 3; }", "takes none");
    assert_refused("for i in 0..4 { m!(if => break); }", "may jump out");
    assert_refused("for i in 0..4 { let mut ph~i = 0; if a { continue } }", "without jumps before");
    assert_refused(
        "for i in 0..4 { unroll! { for j in 0..2 { let (ph~i~j, k) = x; } } if a { break } }",
        "without jumps before",
    );
    assert_expands(
        "for i in 0..1 { ph~i += 1; { let q~i = 0; } if a { continue } }",
        "{ { 'unroll_next: { ph0 += 1; { let q0 = 0; } if a { break 'unroll_next } } } }",
    );
}

#[test]
fn capped_copies_stand_behind_guards() {
    assert_expands("cap 2; for i in 0..n { f(i); }", "{ let stop = n; if 0 < stop { f(0); } if 1 < stop { f(1); } }");
    assert_expands(
        "cap 2; for i in 1..=n - 1 { f(i); }",
        "{ let stop = n - 1; if 1 <= stop { f(1); } if 2 <= stop { f(2); } }",
    );
    assert_expands(
        "cap 2; for i in (1..n).step_by(-2) { f(i); }",
        "{ let stop = n; if 1 > stop { f(1); } if -1 > stop { f((-1)); } }",
    );
    assert_expands(
        "cap 9; for i in (1u8..=n).step_by(-1) { f(i); }",
        "{ let stop = n; if 1u8 >= stop { f(1u8); } if 0u8 >= stop { f(0u8); } }",
    );
    assert_expands(
        "cap 1; 'a: for i in 0..n { loop { continue 'a } }",
        "{ let stop = n; if 0 < stop { 'unroll_next: { loop { break 'unroll_next } } } }",
    );
    assert_expands(
        "cap 1; for _ in 0..n { break; }",
        "'unroll_end: { let stop = n; if 0 < stop { break 'unroll_end; } }",
    );
}

#[test]
fn a_checked_cap_says_when_it_is_passed() {
    let message = "\"`unroll!`: the range has more values than its cap of 2\"";
    for (range, condition) in [
        ("0..n", "2i128 >= stop as i128"),
        ("0..=n", "2i128 > stop as i128"),
        ("(1..n).step_by(-1)", "-1i128 <= stop as i128"),
        ("(1..=n).step_by(-1)", "-1i128 < stop as i128"),
    ] {
        let expanded = flat(expand(tokens(&format!("cap 2 checked; for i in {range} {{}}"))));
        let check = flat(tokens(&format!("let stop = n; ::core::assert!({condition}, {message});")));
        assert!(expanded.contains(&check), "{expanded}\n{check}");
    }
}

#[test]
fn declarations_that_would_be_lost_or_clash_are_refused() {
    assert_refused("cap 4; for i in 0..n { let ph~i = 0; }", "declare it before");
    assert_refused("cap 4; for i in 0..n { const K~i: u8 = 0; }", "declare it before");
    assert_refused("for i in 0..4 { const K: u8 = i; }", "`K` would be declared by each");
    assert_refused("for i in 0..4 { use a::{b~i, c::{self, d as _}}; }", "`c` would be declared by each");
    assert_refused("for i in 0..4 { fn f() {} }", "paste its name (`f~i`)");
    assert_expands(
        "for i in 0..2 { const K~i: u8 = i; fn f~i() {} }",
        "const K0: u8 = 0; fn f0() {} const K1: u8 = 1; fn f1() {}",
    );
    assert_expands(
        "for i in 0..1 { { const K: u8 = i; } use a::*; const _: () = (); }",
        "{ const K: u8 = 0; } use a::*; const _: () = ();",
    );
    assert_expands("cap 1; for i in 0..n { const K: u8 = i; }", "{ let stop = n; if 0 < stop { const K: u8 = 0; } }");
}

#[test]
fn what_is_no_loop_to_write_out_is_refused() {
    assert_refused("", "takes one `for` loop");
    assert_refused("while a {}", "takes one `for` loop");
    assert_refused("loop {}", "takes one `for` loop");
    assert_refused("16; for i in 0..n {}", "takes one `for` loop");
    assert_refused("for i in 0..4 {} for i in 0..4 {}", "nothing may follow");
    assert_refused("for i in 0..4 {};", "nothing may follow");
    assert_refused("#[nounroll] for i in 0..4 {}", "no loop hint");
    assert_refused("{ for i in 0..4 {} }", "no loop hint");
    assert_refused("for i in 0..n {}", "no integer literal");
    assert_refused("for mut i in 0..4 {}", "neither `mut` nor `ref`");
    assert_refused("for (a, b) in (1, 2) {}", "take apart");
    assert_refused("for i in 0..4 { let = ; }", "expected");
}

#[test]
fn the_words_of_the_capped_form_are_checked() {
    for cap in [
        "cap N;",
        "cap 0;",
        "cap -1;",
        "cap 1025;",
        "cap \"4\";",
        "cap;",
        "cap 340282366920938463463374607431768211456;",
    ] {
        assert_refused(&format!("{cap} for i in 0..n {{}}"), "a literal from 1 to 1024");
    }
    assert_refused("cap 4 for i in 0..n {}", "a semicolon stands between");
    assert_refused("cap 4, for i in 0..n {}", "a semicolon stands between");
    assert_refused("cap 4 check; for i in 0..n {}", "a semicolon stands between");
    assert_refused("cap 4; for i in a..n {}", "start of a capped");
    assert_refused("cap 4; for i in (0..n).step_by(0) {}", "step of 0");
    assert_refused("cap 4; for x in (a, b) {}", "takes no cap");
    assert_expands(
        "cap 1024usize; for i in 0..0 {}",
        &format!("{{ let stop = 0; {} }}", (0..1024).map(|i| format!("if {i} < stop {{}}")).collect::<String>()),
    );
}

#[test]
fn a_bodys_last_expression_is_of_no_value() {
    assert_expands("for i in 0..1 { f(i) }", "let (): () = f(0);");
    assert_expands("for i in 0..1 { m!(i) }", "m!(0);");
    assert_expands("for i in 0..1 { m! { i } }", "m! { 0 }");
    assert_expands("for i in 0..1 { if a { f(i) } }", "if a { f(0) }");
}
