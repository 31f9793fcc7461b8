use device_std::reduce::StridedReduce;

fn main() {
    [1, 2, 3].strided_reduce::<2>(u32::max);
}
