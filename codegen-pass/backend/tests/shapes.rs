//! Promise: whatever shape a hinted loop has, it leaves with one latch, and the marker in it.

mod common;

use common::Session;

const LEVELS: [u32; 2] = [0, 3];

#[test]
fn two_continues_share_one_latch() {
    let source = "
        #[unsafe(no_mangle)]
        pub unsafe fn taps(n: usize, p: *const f32) -> f32 {
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
        }";
    for level in LEVELS {
        let mir = Session::new("two-continues", level).mir("t", source);
        let taps = mir.function("taps");
        taps.single_latch(5);
        let results: Vec<&str> = taps.bodies(5).iter().filter_map(|&body| taps.end(body).split(" = ").next()).collect();
        assert!(results[0] != results[1] && !results.contains(&"_0"), "each call has a result of its own: {results:?}");
    }
}

#[test]
fn a_switch_that_continues_gets_a_latch_of_its_own() {
    let source = "
        #[unsafe(no_mangle)]
        pub unsafe fn scan(mut p: *const u32) -> u32 {
            enter!(4);
            loop {
                body!(4);
                let x = unsafe { *p };
                p = unsafe { p.add(1) };
                match x { 0 => continue, 5 => continue, 9 => return 1, 12 => continue, _ => return 0 }
            }
        }";
    for level in LEVELS {
        let mir = Session::new("switch-latch", level).mir("t", source);
        mir.function("scan").single_latch(4);
    }
}

#[test]
fn a_loop_of_one_block_is_closed_by_its_marker() {
    let source = "
        #[unsafe(no_mangle)]
        pub fn spin() { enter!(3); loop { body!(3); } }";
    for level in LEVELS {
        let mir = Session::new("self-loop", level).mir("t", source);
        let spin = mir.function("spin");
        assert_eq!(spin.latches(spin.single_latch(3)), spin.bodies(3), "no second marker");
    }
}

#[test]
fn nested_loops_keep_their_own_hints() {
    let source = "
        #[unsafe(no_mangle)]
        pub unsafe fn nest(n: usize, p: *const f32) -> f32 {
            let mut sum = 0.0;
            enter!(5);
            'rows: for i in 0..n {
                body!(5);
                enter!(8);
                for j in 0..n {
                    body!(8);
                    let x = unsafe { *p.add(i * n + j) };
                    if x < 0.0 { continue 'rows; }
                    if x > 7.0 { continue; }
                    sum += x;
                }
            }
            sum
        }";
    for level in LEVELS {
        let mir = Session::new("nested", level).mir("t", source);
        let nest = mir.function("nest");
        let (outer, inner) = (nest.single_latch(5), nest.single_latch(8));
        assert_ne!(outer, inner);
        let (outer, inner) = (nest.loop_of(outer), nest.loop_of(inner));
        assert!(outer.is_superset(&inner) && outer.len() > inner.len());
        assert!(nest.enters(8).iter().all(|enter| outer.contains(enter)));
    }
}

#[test]
fn an_unhinted_loop_is_left_as_it_is() {
    let source = "
        #[unsafe(no_mangle)]
        pub unsafe fn both(n: usize, p: *const f32) -> f32 {
            let mut sum = 0.0;
            for i in 0..n {
                let x = unsafe { *p.add(i) };
                if x < 0.0 { continue; }
                sum += x;
            }
            sum
        }
        #[unsafe(no_mangle)]
        pub fn spin() { enter!(12); loop { body!(12); } }";
    for level in LEVELS {
        let with = Session::new("unhinted", level).mir("t", source);
        let without = Session::new("unhinted-plain", level).without_plugin().mir("t", source);
        assert_eq!(with.function("both"), without.function("both"));
    }
}

#[test]
fn a_generic_function_is_rewritten_once_for_all_instances() {
    let source = "
        #[inline(never)]
        fn sum<T: Copy + core::ops::Add<Output = T>, const N: usize>(p: *const T, mut sum: T) -> T {
            enter!(4);
            for i in 0..N {
                body!(4);
                if i % 3 == 1 { continue; }
                sum = sum + unsafe { *p.add(i) };
            }
            sum
        }
        #[unsafe(no_mangle)]
        pub fn a(p: *const f32) -> f32 { sum::<f32, 9>(p, 0.0) }
        #[unsafe(no_mangle)]
        pub fn b(p: *const u32) -> u32 { sum::<u32, 7>(p, 0) }";
    for level in LEVELS {
        let compiled = Session::new("generic", level).compile("t", source);
        compiled.mir().function("sum").single_latch(4);
        let calls = compiled.text("ll").matches("call void @__latch_loop_body").count();
        assert_eq!(calls, 4, "the marker and its copy in each instance");
    }
}

#[test]
fn an_instance_that_runs_once_still_shows_its_hint() {
    let source = "
        #[inline(never)]
        fn run<const ONCE: bool>(mut p: *const f32) -> f32 {
            let mut sum = 0.0;
            enter!(5);
            loop {
                body!(5);
                sum += unsafe { *p };
                p = unsafe { p.add(1) };
                if ONCE || sum > 4.0 { return sum; }
            }
        }
        #[unsafe(no_mangle)]
        pub fn once(p: *const f32) -> f32 { run::<true>(p) }";
    for level in LEVELS {
        let compiled = Session::new("once", level).compile("t", source);
        compiled.mir().function("run").single_latch(5);
        let calls = compiled.text("ll").matches("call void @__latch_loop_body").count();
        assert_eq!(calls, 1, "the latch is gone, and the link stage must see that a hint goes with it");
    }
}

#[test]
fn a_factor_that_depends_on_parameters_is_copied_too() {
    let source = "
        trait Tile { const ROWS: usize; }
        struct Four;
        impl Tile for Four { const ROWS: usize = 4; }
        #[inline(never)]
        fn rows<T: Tile>(n: usize, p: *const f32) -> f32 {
            let mut sum = 0.0;
            __latch_loop_enter(\"unroll|t|lib.rs|8|1\");
            for i in 0..n {
                __latch_loop_body(\"unroll|t|lib.rs|8|1\", const { T::ROWS as u64 });
                let x = unsafe { *p.add(i) };
                if x < 0.0 { continue; }
                sum += x;
            }
            sum
        }
        #[unsafe(no_mangle)]
        pub fn four(n: usize, p: *const f32) -> f32 { rows::<Four>(n, p) }";
    for level in LEVELS {
        let session = Session::new("factor", level);
        let compiled = session.compile("t", source);
        assert_eq!(compiled.messages, "");
        assert_eq!(compiled.changed(), ["rows"]);
        let ir = compiled.text("ll");
        let calls: Vec<&str> = ir.lines().filter(|line| line.contains("call void @__latch_loop_body")).collect();
        assert_eq!(calls.len(), 2, "{calls:?}");
        assert!(calls.iter().all(|call| call.contains("i64 4)") || call.contains("i64 noundef 4)")), "{calls:?}");
    }
}

#[test]
fn calls_that_may_unwind_can_be_latches() {
    let source = "
        pub fn each(n: usize, f: fn(usize) -> bool, g: fn()) -> usize {
            struct Bomb(fn());
            impl Drop for Bomb { fn drop(&mut self) { (self.0)() } }
            let mut i = 0;
            enter!(6);
            while i < n {
                body!(6);
                i += 1;
                let bomb = Bomb(g);
                if f(i) { continue; }
                g();
            }
            i
        }";
    for level in LEVELS {
        Session::for_host("unwind-latch", level).mir("t", source).function("each").single_latch(6);
    }
}
