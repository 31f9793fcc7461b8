//! Promise: a body that has been through the pass can be inlined, rewritten again and validated, and every hint still
//! has the loop that its author meant.

mod common;

use common::Session;
use common::mir::Function;

/// Lets rustc's MIR passes inline whatever can be inlined; by themselves they stop at very small functions.
fn inlining(session: Session) -> Session {
    ["-threshold", "-hint-threshold", "-forwarder-threshold"]
        .iter()
        .fold(session, |session, which| session.argument(&format!("-Zinline-mir{which}=100000")))
}

/// Three copies of one small function, so that callers inline what the pass has already rewritten.
const INLINED: &str = "
    #[inline(always)]
    fn sum(n: usize, p: *const f32) -> f32 {
        let mut sum = 0.0;
        enter!(5);
        for i in 0..n {
            body!(5);
            let x = unsafe { *p.add(i) };
            if x < 0.0 { continue; }
            if x > 7.0 { sum += 1.0; continue; }
            sum += x;
        }
        sum
    }
    #[unsafe(no_mangle)]
    pub fn three(n: usize, p: *const f32) -> f32 {
        let mut total = sum(n, p) + sum(n + 1, p);
        for k in 0..n {
            if k == 2 { continue; }
            total += sum(k, p);
        }
        total
    }";

#[test]
fn an_inlined_rewritten_body_is_not_changed_again() {
    // On the host, calls can unwind, and the compiler's validation wants to know where to.
    for session in [Session::new("inlined", 3), Session::for_host("inlined-host", 3)] {
        let compiled = inlining(session).compile("t", INLINED);
        assert_eq!(compiled.messages, "");
        assert_eq!(compiled.changed(), ["sum"], "only the function that holds the loop");
        let mir = compiled.mir();
        let three = mir.function("three");
        assert_eq!((three.enters(5).len(), three.bodies(5).len()), (3, 6));
        assert_eq!(three.marked_latches(5).len(), 3);
    }
}

#[test]
fn an_inlined_body_of_another_crate_is_not_changed_again() {
    let session = inlining(Session::new("inlined-crate", 3));
    session.mir("lib", &INLINED.replace("fn sum", "pub fn sum").replace("fn three", "fn three_there"));
    let source = "extern crate lib;
        #[unsafe(no_mangle)]
        pub fn one(n: usize, p: *const f32) -> f32 { lib::sum(n, p) }";
    let compiled = session.compile("t", source);
    assert_eq!(compiled.messages, "");
    assert_eq!(compiled.changed(), [""; 0]);
    compiled.mir().function("one").single_latch(5);
}

#[test]
fn a_site_nested_in_itself_by_inlining_keeps_both_hints() {
    let source = "
        #[inline(always)]
        fn each(n: usize, mut f: impl FnMut(usize)) {
            enter!(4);
            for i in 0..n { body!(4); f(i); }
        }
        #[unsafe(no_mangle)]
        pub unsafe fn nest(n: usize, p: *const f32, out: *mut f32) {
            each(n, #[inline(always)] |i| each(n, #[inline(always)] |j| unsafe { *out += *p.add(i * n + j) }));
        }";
    let compiled = inlining(Session::new("self-nested", 3)).compile("t", source);
    assert_eq!(compiled.messages, "", "neither hint is dropped");
    assert_eq!(compiled.changed(), ["each", "nest"]);
    let mir = compiled.mir();
    mir.function("each").single_latch(4);
    both_hints_stand(mir.function("nest"));
}

#[test]
fn a_site_nested_in_itself_by_macro_keeps_both_hints() {
    let source = "
        macro_rules! rows { ($i:ident, $n:expr, $body:expr) => {
            enter!(4); for $i in 0..$n { body!(4); if $i == 3 { continue; } $body }
        } }
        #[unsafe(no_mangle)]
        pub unsafe fn nest(n: usize, p: *const f32, out: *mut f32) {
            rows!(i, n, { rows!(j, n, unsafe { *out += *p.add(i * n + j) }); });
        }";
    for level in [0, 3] {
        let mir = Session::new("self-nested-macro", level).mir("t", source);
        both_hints_stand(mir.function("nest"));
    }
}

/// Checks two loops of one site, one in the other: the inner latch holds a copy of the marker, and no copy in the outer
/// loop is left behind the inner enter marker, where it would be taken for a hint of the inner loop.
fn both_hints_stand(nest: &Function) {
    let [(inner_latch, inner)] = nest.marked_latches(4)[..] else { panic!("one marked latch: {nest:#?}") };
    let inside = nest.loop_of(inner);
    let enters = nest.enters(4);
    let (second, first): (Vec<usize>, Vec<usize>) =
        enters.iter().partition(|&&enter| enters.iter().any(|&other| other != enter && nest.dominates(other, enter)));
    assert_eq!((first.len(), second.len()), (1, 1), "{nest:#?}");
    let outer = nest.loop_holding(second[0]).expect("the inner loop starts in the outer one");
    assert_eq!(nest.latches(outer).len(), 1, "{nest:#?}");
    let of_outer: Vec<usize> = nest.bodies(4).into_iter().filter(|body| !inside.contains(body)).collect();
    assert_eq!(of_outer.len(), 1, "only the marker that the macro wrote: {nest:#?}");
    assert!(nest.dominates(of_outer[0], second[0]) && nest.dominates(first[0], of_outer[0]), "{nest:#?}");
    assert!(inside.contains(&inner_latch));
}

#[test]
fn a_loop_of_the_same_site_that_never_repeats_takes_no_hint_from_the_one_around_it() {
    let source = "
        macro_rules! rows { ($i:ident, $n:expr, $body:expr) => {
            enter!(4); for $i in 0..$n { body!(4); if $i == 3 { continue; } $body }
        } }
        #[unsafe(no_mangle)]
        pub unsafe fn never(n: usize, p: *const f32, out: *mut f32) {
            rows!(i, n, { enter!(4); loop { body!(4); unsafe { *out += *p.add(i) }; break; } });
        }";
    for level in [0, 3] {
        let compiled = Session::new("self-nested-never", level).compile("t", source);
        assert_eq!(compiled.count("was not honoured: the loop never repeats"), 1, "{}", compiled.messages);
        assert_eq!(compiled.mir().function("never").bodies(4).len(), 2, "no copy");
    }
}
