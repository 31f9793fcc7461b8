use device_std::vector;

fn main() {
    let _ = vector::set(&mut [0.0f32; 8], 0, [0.0; 8]);
}
