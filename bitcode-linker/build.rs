//! Lets the binary and the tests find the libLLVM that `nounroll-metadata` links.

fn main() {
    let folder = std::env::var("DEP_LATCH_LLVM_DIR").expect("nounroll-metadata names LLVM's folder");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
}
