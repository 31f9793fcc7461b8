//! Tells the crate two things that `cfg` does not: whether it is compiled for a host, and how wide an AMD wavefront is.
//!
//! The compiler knows the wavefront's width from `-Ctarget-cpu` but shows it to no `cfg`, and the library needs it as a
//! constant. So the processor is read from the flags that cargo passes to the compiler, as it passes them on to here.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(on_host)");
    println!("cargo::rustc-check-cfg=cfg(wave64)");
    match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("amdgpu") => amdgpu(),
        Ok("nvptx64") => {}
        _ => println!("cargo::rustc-cfg=on_host"),
    }
}

fn amdgpu() {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags: Vec<&str> = flags.split('\x1f').collect();
    match wavefront(&flags) {
        Some(64) => println!("cargo::rustc-cfg=wave64"),
        Some(_) => {}
        None => println!(
            "cargo::error=the width of a wavefront is not known: name the processor in the flags of all crates, as \
             RUSTFLAGS=-Ctarget-cpu=gfx1100"
        ),
    }
}

/// The width that the compiler will assume: a feature, or else what the processor starts with.
fn wavefront(flags: &[&str]) -> Option<u32> {
    let values = |key: &str| -> Vec<String> {
        let joined = flags.iter().filter_map(|flag| flag.strip_prefix("-C").map(str::trim_start));
        let apart = flags.windows(2).filter(|pair| pair[0] == "-C").map(|pair| pair[1]);
        let long = flags.iter().filter_map(|flag| flag.strip_prefix("--codegen="));
        joined.chain(apart).chain(long).filter_map(|option| option.strip_prefix(key)).map(str::to_owned).collect()
    };
    let feature = values("target-feature=").iter().flat_map(|list| list.split(',')).find_map(|feature| match feature {
        "+wavefrontsize64" => Some(64),
        "+wavefrontsize32" => Some(32),
        _ => None,
    });
    feature.or_else(|| default_wavefront(values("target-cpu=").last()?))
}

/// Generations 6 to 9 have 64 lanes; later ones start with 32. `gfx90a`, `gfx1100` and `gfx10-3-generic` are names: the
/// last two digits of the first form are model and stepping.
fn default_wavefront(processor: &str) -> Option<u32> {
    let name = processor.strip_prefix("gfx")?;
    let major = match name.split_once('-') {
        Some((major, _)) => major,
        None => name.get(..name.len().checked_sub(2)?)?,
    };
    let major: u32 = major.parse().ok()?;
    Some(if major < 10 { 64 } else { 32 })
}
