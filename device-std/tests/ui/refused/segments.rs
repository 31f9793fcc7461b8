use device_std::subgroup::{HostGroup, Native, Segments, segments};

const _: Segments<Native> = segments::<7>();
const _: Segments<Native> = segments::<64>();
const _: Segments<HostGroup<64>> = Segments::of::<64>();

fn main() {}
