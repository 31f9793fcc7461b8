use device_std::kernel;

#[kernel]
unsafe extern "C" fn variadic(_: u32, ...) {}

fn main() {}
