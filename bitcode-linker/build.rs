//! Lets the binary and the tests find the libLLVM that `nounroll-metadata` links, and tells the crate its version.

fn main() {
    let folder = std::env::var("DEP_LATCH_LLVM_DIR").expect("nounroll-metadata names LLVM's folder");
    let major = std::env::var("DEP_LATCH_LLVM_MAJOR").expect("nounroll-metadata names LLVM's version");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    println!("cargo:rustc-env=LATCH_LLVM_MAJOR={major}");
}
