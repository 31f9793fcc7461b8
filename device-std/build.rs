//! Tells the crate two things that `cfg` does not: whether it is compiled for a host, and how wide an AMD wavefront is.
//!
//! The compiler knows the wavefront's width from `-Ctarget-cpu` but shows it to no `cfg`, and the library needs it as a
//! constant. So the processor is read from the flags that cargo passes to the compiler, as it passes them on to here.

#[path = "build/wavefront.rs"]
mod wavefront;

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/wavefront.rs");
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
    match wavefront::width(&flags) {
        Some(64) => println!("cargo::rustc-cfg=wave64"),
        Some(_) => {}
        None => println!(
            "cargo::error=the width of a wavefront is not known: name the processor in the flags of all crates, as \
             RUSTFLAGS=-Ctarget-cpu=gfx1100"
        ),
    }
}
