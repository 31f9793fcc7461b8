fn main() {
    #[nounroll]
    for _ in 0..3 {}
    #[device_std::nounroll]
    for _ in 0..3 {}
}
