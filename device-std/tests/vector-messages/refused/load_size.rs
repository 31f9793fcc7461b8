use device_std::vector;

fn main() {
    let _ = vector::get::<f32, 3>(&[0.0; 8], 0);
}
