//! Promise: a hint that will be dropped is told of once, at its loop, at the level asked for; and nothing else is.

mod common;

use common::Session;
use hint_record::{NoLoop, Note};

const NEVER_REPEATS: &str = "
    #[unsafe(no_mangle)]
    pub unsafe fn walk(n: usize, p: *const f32) -> f32 {
        let mut sum = 0.0;
        while sum < 8.0 {
            __latch_loop_enter(\"nounroll|t|lib.rs|6|1\");
            loop {
                __latch_loop_body(\"nounroll|t|lib.rs|6|1\", 1);
                sum += unsafe { *p.add(n) };
                break;
            }
        }
        sum
    }";

#[test]
fn a_hint_never_slips_to_the_loop_around_its_own() {
    for level in [0, 3] {
        let compiled = Session::new("never-repeats", level).compile("t", NEVER_REPEATS);
        assert!(compiled.success);
        let message = "warning: `#[nounroll]` was not honoured: the loop never repeats\n --> t.rs:9:17\n";
        assert_eq!(compiled.count(message), 1, "{}", compiled.messages);
        assert_eq!(compiled.count("= note: in the function `walk`"), 1, "{}", compiled.messages);
        assert_eq!(compiled.count("= help: every path through its body leaves it"), 1, "{}", compiled.messages);
        assert_eq!(compiled.count("warning:"), 2, "rustc's count of warnings is the other: {}", compiled.messages);
        assert_eq!(compiled.mir().function("walk").marked_latches(6), []);
    }
}

#[test]
fn a_hint_outside_any_loop_is_dropped() {
    let source = "
        #[unsafe(no_mangle)]
        pub unsafe fn one(p: *const f32) -> f32 {
            __latch_loop_enter(\"unroll|t|lib.rs|4|1\");
            loop { __latch_loop_body(\"unroll|t|lib.rs|4|1\", 0); return unsafe { *p }; }
        }";
    for level in [0, 3] {
        let compiled = Session::new("outside", level).compile("t", source);
        assert_eq!(compiled.count("`#[unroll]` was not honoured: the loop never repeats"), 1, "{}", compiled.messages);
        assert_eq!(compiled.changed(), [""; 0]);
    }
}

/// An attribute that marks loops the way `device_std`'s do: the marker's tokens have the place of the loop's keyword,
/// and the hygiene of the attribute.
const ATTRIBUTE: &str = r#"
extern crate proc_macro;
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

#[proc_macro_attribute]
pub fn hinted(_: TokenStream, item: TokenStream) -> TokenStream {
    mark(item)
}

fn mark(tokens: TokenStream) -> TokenStream {
    let mut keyword = None;
    let mut marked = TokenStream::new();
    for token in tokens {
        match (keyword.take(), token) {
            (Some(place), TokenTree::Group(body)) => {
                let body_marker = call("::device_std::__latch_loop_body(\"nounroll|t|lib.rs|4|1\", 1);", place);
                let body = body_marker.into_iter().chain(mark(body.stream())).collect();
                marked.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
            }
            (_, TokenTree::Ident(word)) if word.to_string() == "loop" => {
                keyword = Some(word.span());
                marked.extend(call("::device_std::__latch_loop_enter(\"nounroll|t|lib.rs|4|1\");", word.span()));
                marked.extend([TokenTree::Ident(word)]);
            }
            (_, TokenTree::Group(group)) => {
                let mut inside = Group::new(group.delimiter(), mark(group.stream()));
                inside.set_span(group.span());
                marked.extend([TokenTree::Group(inside)]);
            }
            (_, other) => marked.extend([other]),
        }
    }
    marked
}

fn call(text: &str, place: Span) -> TokenStream {
    let span = Span::mixed_site().located_at(place);
    respan(text.parse().unwrap(), span)
}

fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|token| {
        let mut token = match token {
            TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), respan(group.stream(), span))),
            other => other,
        };
        token.set_span(span);
        token
    });
    respanned.collect()
}
"#;

#[test]
fn a_message_shows_the_loop_and_not_the_attribute() {
    let host = Session::for_host("attribute", 3);
    let attribute = host.compile_as_is("attribute", ATTRIBUTE, &["--crate-type=proc-macro"]);
    assert!(attribute.success, "{}", attribute.messages);
    let session = Session::new("attribute-used", 3).argument(&format!("-L{}", host.folder().display()));
    let source = "extern crate attribute;
        #[attribute::hinted]
        #[unsafe(no_mangle)]
        pub unsafe fn one(p: *const f32) -> f32 {
            let x = 1.0;
            loop { return x + unsafe { *p }; }
        }";
    let compiled = session.compile("t", source);
    let message = "was not honoured: the loop never repeats\n --> t.rs:7:13\n  |\n7 |             loop { return x + unsafe { *p }; }\n  |             ^^^^\n";
    assert_eq!(compiled.count(message), 1, "{}", compiled.messages);
    assert_eq!(compiled.count("attribute macro"), 0, "{}", compiled.messages);
}

#[test]
fn the_level_is_chosen_by_a_cfg() {
    let at = |name: &str, level: &str| {
        Session::new(name, 3).argument("--cfg").argument(&format!("latch_hints{level}")).compile("t", NEVER_REPEATS)
    };
    let allowed = at("allow", "=\"allow\"");
    assert!(allowed.success && allowed.messages.is_empty(), "{}", allowed.messages);
    let warned = at("warn", "=\"warn\"");
    assert!(warned.success);
    assert_eq!(warned.count("warning: `#[nounroll]` was not honoured"), 1, "{}", warned.messages);
    let denied = at("deny", "=\"deny\"");
    assert!(!denied.success);
    assert_eq!(denied.count("error: `#[nounroll]` was not honoured"), 1, "{}", denied.messages);
    assert_eq!(denied.count("= note: in the function `walk`"), 1, "{}", denied.messages);
}

#[test]
fn a_reason_can_have_a_level_of_its_own() {
    let with = |name: &str, values: [&str; 2]| {
        let session = values.iter().fold(Session::new(name, 3), |session, value| {
            session.argument("--cfg").argument(&format!("latch_hints=\"{value}\""))
        });
        session.compile("t", NEVER_REPEATS)
    };
    let allowed = with("own-allow", ["never-repeats=allow", "deny"]);
    assert!(allowed.success && allowed.messages.is_empty(), "{}", allowed.messages);
    assert!(!with("own-deny", ["allow", "never-repeats=deny"]).success);
    assert!(!with("others", ["conflict=allow", "deny"]).success, "that reason is another");
    let misspelt = with("own-misspelt", ["never-repeat=allow", "warn"]);
    assert_eq!(misspelt.count("error: `latch_hints=\"never-repeat=allow\"` is no level"), 1, "{}", misspelt.messages);
}

#[test]
fn every_hinted_loop_gets_a_note_where_that_is_asked_for() {
    let source = "
        #[unsafe(no_mangle)]
        pub unsafe fn two(n: usize, p: *const f32, sum: *mut f32) {
            enter!(4);
            for i in 0..n { body!(4); if i == 3 { continue; } unsafe { *sum += *p.add(i) }; }
        }";
    let compiled = Session::new("trace", 3).argument("--cfg").argument("latch_trace");
    let compiled = compiled.argument("--error-format=json").compile("t", source);
    let [Note::Loop(found)] = &notes(&compiled.messages)[..] else { panic!("{}", compiled.messages) };
    assert_eq!((found.site.to_string().as_str(), found.function.as_str()), ("nounroll|t|lib.rs|4|1", "two"));
    assert_eq!(found.back_edges.len(), 2, "the continue, and the end of the body");
    assert_eq!(compiled.mir().function("two").marked_latches(4), [(found.latch, found.header)]);
    assert_eq!(Session::new("no-trace", 3).compile("t", source).messages, "");
}

#[test]
fn a_dropped_hint_has_its_site_and_reason_as_the_code_of_its_message() {
    let compiled = Session::new("code", 3).argument("--error-format=json").compile("t", NEVER_REPEATS);
    let site = "nounroll|t|lib.rs|6|1".parse().expect("a site");
    assert_eq!(notes(&compiled.messages), [Note::Dropped { site, reason: NoLoop::NeverRepeats }]);
}

#[test]
fn what_people_read_has_no_code() {
    let compiled = Session::new("no-code", 3).compile("t", NEVER_REPEATS);
    assert_eq!(compiled.count("latch::"), 0, "{}", compiled.messages);
}

/// What the codes of rustc's JSON messages say.
fn notes(messages: &str) -> Vec<Note> {
    let code = |line: &str| Some(line.split_once("\"code\":{\"code\":\"")?.1.split_once('"')?.0.replace("\\t", "\t"));
    messages.lines().filter_map(|line| code(line)?.parse().ok()).collect()
}

#[test]
fn the_strictest_of_several_levels_holds() {
    let session = ["allow", "deny", "warn"].iter().fold(Session::new("strictest", 3), |session, level| {
        session.argument("--cfg").argument(&format!("latch_hints=\"{level}\""))
    });
    assert!(!session.compile("t", NEVER_REPEATS).success);
}

#[test]
fn a_level_that_does_not_exist_is_an_error_even_without_hints() {
    for (name, cfg, shown) in [("misspelt", "latch_hints=\"denny\"", "denny"), ("empty", "latch_hints", "")] {
        let session = Session::new(name, 3).argument("--cfg").argument(cfg);
        let compiled = session.compile("t", "pub fn nothing() {}");
        assert!(!compiled.success);
        let message =
            format!("error: `latch_hints=\"{shown}\"` is no level for loop hints: use `allow`, `warn` or `deny`");
        assert_eq!(compiled.count(&message), 1, "{}", compiled.messages);
    }
}

/// A function whose loop never repeats, and a hint in it that the compiler inlines everywhere.
const INLINED: &str = "
    #[inline(always)]
    pub fn first(p: *const f32) -> f32 {
        __latch_loop_enter(\"nounroll|lib|lib.rs|4|1\");
        loop { __latch_loop_body(\"nounroll|lib|lib.rs|4|1\", 1); return unsafe { *p }; }
    }";

#[test]
fn a_drop_is_told_once_however_many_callers_inline_it() {
    let callers = "
        pub fn a(p: *const f32) -> f32 { first(p) }
        pub fn b(p: *const f32) -> f32 { let mut s = 0.0; while s < 4.0 { s += first(p) + first(p); } s }
        pub fn c(p: *const f32) -> f32 { a(p) + b(p) + first(p) }";
    let compiled = Session::new("told-once", 3).compile("t", &format!("{INLINED}{callers}"));
    assert_eq!(compiled.count("was not honoured: the loop never repeats"), 1, "{}", compiled.messages);
    assert_eq!(compiled.count("= note: in the function `first`"), 1, "{}", compiled.messages);
    assert!(compiled.text("mir").matches("__latch_loop_body(").count() > 4, "and yet it was inlined");
}

#[test]
fn a_drop_in_a_dependency_is_told_there_and_not_again() {
    let session = Session::new("told-elsewhere", 3);
    let lib = session.compile("lib", INLINED);
    assert_eq!(lib.count("was not honoured: the loop never repeats"), 1, "{}", lib.messages);
    let compiled = session.compile(
        "t",
        "extern crate lib; #[unsafe(no_mangle)] pub fn a(p: *const f32) -> f32 { lib::first(p) + lib::first(p) }",
    );
    assert_eq!(compiled.messages, "");
    assert_eq!(compiled.text("mir").matches("__latch_loop_body(").count(), 2, "and yet it was inlined here");
}

#[test]
fn a_drop_that_only_the_caller_brings_about_is_told_there() {
    let session = Session::new("told-by-caller", 3);
    let lib = "
        #[inline(always)]
        pub fn run<const ONCE: bool>(mut p: *const f32) -> f32 {
            __latch_loop_enter(\"nounroll|lib|lib.rs|4|1\");
            loop {
                __latch_loop_body(\"nounroll|lib|lib.rs|4|1\", 1);
                let x = unsafe { *p };
                p = unsafe { p.add(1) };
                if ONCE || x > 4.0 { return x; }
            }
        }";
    let lib = session.compile("lib", lib);
    assert_eq!(lib.messages, "");
    let source = "extern crate lib; #[unsafe(no_mangle)] pub fn a(p: *const f32) -> f32 { lib::run::<true>(p) }";
    let compiled = session.compile("t", source);
    assert_eq!(
        compiled.count("was not honoured: the loop never repeats\n --> lib.rs:7:17"),
        1,
        "{}",
        compiled.messages
    );
    assert_eq!(compiled.count("= note: in the function `lib::run`"), 1, "{}", compiled.messages);
}

#[test]
fn of_two_hints_on_one_loop_the_second_is_dropped() {
    let source = "
        #[unsafe(no_mangle)]
        pub fn both(n: usize, f: extern \"C\" fn(usize)) {
            enter!(4); enter!(5);
            for i in 0..n { body!(4); body!(5); if i == 3 { continue; } f(i); }
        }";
    for level in [0, 3] {
        let compiled = Session::new("conflict", level).compile("t", source);
        let message = "`#[nounroll]` was not honoured: the loop carries another hint already";
        assert_eq!(compiled.count(message), 1, "{}", compiled.messages);
        let mir = compiled.mir();
        assert_eq!((mir.function("both").bodies(4).len(), mir.function("both").bodies(5).len()), (1, 1), "no copies");
    }
}

#[test]
fn a_marker_whose_site_is_no_constant_is_told_of() {
    let source = "
        #[unsafe(no_mangle)]
        pub fn odd(n: usize, site: &'static str) {
            for _ in 0..n { __latch_loop_body(site, 1); }
        }";
    for level in [0, 3] {
        let compiled = Session::new("no-constant", level).compile("t", source);
        let message =
            "error: a loop hint's marker does not name its site by a constant: only the attributes may call markers";
        assert_eq!(compiled.count(message), 1, "{}", compiled.messages);
        assert_eq!(compiled.count("t.rs:5:29"), 1, "{}", compiled.messages);
        assert!(!compiled.success, "the link stage could not read it either");
        assert_eq!(compiled.changed(), [""; 0]);
    }
}

#[test]
fn a_site_in_another_format_is_told_of() {
    let source = "#[unsafe(no_mangle)] pub fn odd(n: usize) { for _ in 0..n { __latch_loop_body(\"line 3\", 1); } }";
    let session = Session::new("other-format", 3).argument("--cfg").argument("latch_hints=\"allow\"");
    let compiled = session.compile("t", source);
    assert_eq!(compiled.count("`line 3` is no hint site (kind|package|file|line|column)"), 1, "{}", compiled.messages);
}

#[test]
fn a_site_behind_temporaries_is_read() {
    let source = "
        const SITE: &str = \"nounroll|t|lib.rs|6|1\";
        #[unsafe(no_mangle)]
        pub unsafe fn far(n: usize, p: *const f32, sum: *mut f32) {
            let site = SITE; let copies = 1; let again = &*site;
            __latch_loop_enter(again);
            for i in 0..n { __latch_loop_body(again, copies); if i == 3 { continue; } unsafe { *sum += *p.add(i) }; }
        }";
    for (name, level, mir_level) in [("temporaries", 0, 0), ("temporaries-mir", 0, 1), ("temporaries", 3, 2)] {
        let session = Session::new(name, level).argument(&format!("-Zmir-opt-level={mir_level}"));
        let compiled = session.compile("t", source);
        assert_eq!(compiled.messages, "");
        assert_eq!(compiled.changed(), ["far"]);
    }
}

#[test]
fn a_variable_that_changes_is_no_constant() {
    let source = "
        #[unsafe(no_mangle)]
        pub fn odd(n: usize, f: extern \"C\" fn(&mut &'static str)) {
            let mut site = \"nounroll|t|lib.rs|5|1\";
            f(&mut site);
            for _ in 0..n { __latch_loop_body(site, 1); }
        }
        #[unsafe(no_mangle)]
        pub fn argument(n: usize, mut site: &'static str) {
            if n > 3 { site = \"nounroll|t|lib.rs|5|1\"; }
            for _ in 0..n { __latch_loop_body(site, 1); }
        }";
    for level in [0, 3] {
        let compiled = Session::new("changes", level).compile("t", source);
        assert_eq!(compiled.count("does not name its site by a constant"), 2, "{}", compiled.messages);
    }
}

#[test]
fn functions_of_the_same_name_elsewhere_are_no_markers() {
    let source = "
        mod mine {
            pub fn __latch_loop_enter(site: &'static str) { core::hint::black_box(site); }
            #[inline(never)]
            pub fn __latch_loop_body(site: &'static str, factor: u64) { core::hint::black_box((site, factor)); }
        }
        #[unsafe(no_mangle)]
        pub fn plain(n: usize) {
            for i in 0..n { mine::__latch_loop_body(\"not a site\", 1); if i == 3 { continue; } mine::__latch_loop_enter(\"\"); }
        }
        mod foreign { unsafe extern \"Rust\" { pub safe fn __latch_loop_body(site: &'static str, factor: u64); } }
        #[unsafe(no_mangle)]
        pub fn declared(n: usize) {
            for i in 0..n { foreign::__latch_loop_body(\"not a site\", 1); if i == 3 { continue; } }
        }";
    for level in [0, 3] {
        let compiled = Session::new("same-name", level).argument("-Aclashing_extern_declarations").compile("t", source);
        assert_eq!(compiled.messages, "");
        assert_eq!(compiled.changed(), [""; 0]);
    }
}

#[test]
fn code_that_cannot_run_is_not_told_of() {
    let source = "
        #[unsafe(no_mangle)]
        pub fn dead(n: usize) -> usize {
            if false { enter!(4); loop { body!(4); break; } }
            return n;
            enter!(6);
            loop { body!(6); break 0; }
        }";
    for level in [0, 3] {
        let compiled = Session::new("dead", level).compile("t", source);
        assert_eq!(compiled.messages, "");
        assert!(!compiled.text("ll").contains("call void @__latch_loop"), "the link stage sees none of it either");
    }
}
