//! What must hold of any text: it loads or gives an error, and what loads runs to an end. The fuzz target feeds it what
//! it finds, the tests feed it texts that they garble.

use emulator::{Arg, Buffer, Config, Device, Module, Shape};

/// Loads the text and runs each of its kernels with small limits. That it comes back matters; it says whether the text
/// loaded.
pub fn any_text(text: &str) -> bool {
    let Ok(module) = Module::load(text) else { return false };
    let names: Vec<String> = module.kernels().map(str::to_owned).collect();
    for name in names {
        let Ok(kernel) = module.kernel(&name) else { continue };
        let mut config = Config::default();
        config.step_limit = 20_000;
        config.threads = 1;
        let mut device = Device::new(config);
        let buffer = device.buffer(&[1u32; 256]);
        let args: Vec<Arg> = kernel.parameters().iter().map(|p| argument(p, &buffer)).collect();
        let _ = device.launch(&kernel, Shape::line(1, 40), &args);
    }
    true
}

/// An argument that fits a parameter, as the module describes it.
fn argument(parameter: &str, buffer: &Buffer<u32>) -> Arg {
    match parameter {
        ".f32" => 1f32.into(),
        ".u32" | ".b32" => 3u32.into(),
        ".u64" | ".b64" => Arg::pointer(buffer.address()),
        p if p.contains("pointer") => (*buffer).into(),
        p => {
            let size = p.trim_start_matches(".b8[").trim_end_matches(']').parse().unwrap_or(8);
            Arg::bytes(vec![1; usize::min(size, 4096)])
        }
    }
}
