use device_std::reduce::StridedReduce;

fn main() {
    assert_eq!([1, 2, 3, 4].strided_reduce(|a, b| a + b), [4, 6]);
}
