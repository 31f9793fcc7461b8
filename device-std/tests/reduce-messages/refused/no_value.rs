use device_std::reduce::StridedReduce;

fn main() {
    [0u32; 0].strided_reduce::<1>(u32::max);
}
