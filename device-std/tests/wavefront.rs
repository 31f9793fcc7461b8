//! The build script reads the wavefront's width from the compiler's flags.

#[path = "../build/wavefront.rs"]
mod wavefront;

#[test]
fn the_processor_tells_the_width() {
    let cases = [
        ("gfx600", 64),
        ("gfx90a", 64),
        ("gfx942", 64),
        ("gfx9-generic", 64),
        ("gfx9-4-generic", 64),
        ("gfx1030", 32),
        ("gfx1100", 32),
        ("gfx1201", 32),
        ("gfx10-3-generic", 32),
        ("gfx12-generic", 32),
    ];
    for (processor, width) in cases {
        assert_eq!(wavefront::width(&[&format!("-Ctarget-cpu={processor}")]), Some(width), "{processor}");
    }
}

#[test]
fn flags_are_read_in_every_spelling() {
    assert_eq!(wavefront::width(&["-O", "-C", "target-cpu=gfx942"]), Some(64));
    assert_eq!(wavefront::width(&["--codegen=target-cpu=gfx1100"]), Some(32));
    assert_eq!(wavefront::width(&["--codegen", "target-cpu=gfx1100"]), Some(32));
    // The last processor counts, and a feature more than it.
    assert_eq!(wavefront::width(&["-Ctarget-cpu=gfx942", "-Ctarget-cpu=gfx1100"]), Some(32));
    let wide = "-Ctarget-feature=+cumode,+wavefrontsize64";
    assert_eq!(wavefront::width(&["-Ctarget-cpu=gfx1100", wide]), Some(64));
    assert_eq!(wavefront::width(&[wide, "-Ctarget-feature=+wavefrontsize32"]), Some(32));
    assert_eq!(wavefront::width(&["-Ctarget-cpu=gfx1100", "-Ctarget-feature=-wavefrontsize64"]), Some(32));
}

#[test]
fn what_is_not_known_is_not_guessed() {
    for flags in [&[][..], &["-Ctarget-cpu=fiji"], &["-Ctarget-cpu=gfx"], &["-Ctarget-cpu=gfx1"], &["-Copt-level=3"]] {
        assert_eq!(wavefront::width(flags), None, "{flags:?}");
    }
}
