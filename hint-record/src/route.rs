//! Who turns the resolved module into PTX or assembly: asked of the command, and by the command of the linker.

names! {
    /// A way from the resolved module to PTX or assembly.
    pub enum Route {
        /// LLVM's own optimizer and code generation.
        Llc = "llc",
        /// NVIDIA's libNVVM.
        Nvvm = "nvvm",
    }
}
