//! Lets the binary and the tests find the libLLVM that `nounroll-metadata` links, and tells the crate its version and
//! the compiler's.

fn main() {
    let folder = std::env::var("DEP_LATCH_LLVM_DIR").expect("nounroll-metadata names LLVM's folder");
    let major = std::env::var("DEP_LATCH_LLVM_MAJOR").expect("nounroll-metadata names LLVM's version");
    let release = std::env::var("DEP_LATCH_LLVM_RELEASE").expect("nounroll-metadata names the compiler's release");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    println!("cargo:rustc-env=LATCH_LLVM_MAJOR={major}");
    println!("cargo:rustc-env=LATCH_RUST_RELEASE={release}");
}
