use device_std::reduce::StridedReduce;

fn main() {
    [1, 2].strided_reduce_by::<1, 1>(u32::max);
}
