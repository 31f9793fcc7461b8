use device_std::reduce::StridedReduce;

fn main() {
    [1, 2].strided_reduce::<4>(u32::max);
}
