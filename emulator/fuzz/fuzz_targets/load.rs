//! Any text loads or gives an error; what loads runs to an end.
#![no_main]

use emulator::{Arg, Config, Device, Module, Shape};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(module) = Module::load(text) else { return };
    let names: Vec<String> = module.kernels().map(str::to_owned).collect();
    for name in names {
        let Ok(kernel) = module.kernel(&name) else { continue };
        let mut config = Config::default();
        config.step_limit = 1000;
        config.threads = 1;
        let mut device = Device::new(config);
        let buffer = device.buffer(&[0u32; 64]);
        let args = vec![Arg::from(buffer); kernel.parameters().len()];
        let _ = device.launch(&kernel, Shape::line(1, 33), &args);
    }
});
