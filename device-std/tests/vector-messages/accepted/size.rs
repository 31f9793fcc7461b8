use device_std::vector;

fn main() {
    assert_eq!(vector::get::<f64, 2>(&[1.0], 0), None);
}
