use device_std::atomic::{Atomic, Block, Relaxed, Release, fence};

fn main() {
    Atomic::new(1u32).load(Release, Block);
    fence(Relaxed, Block);
    Atomic::new(1.0f32).fetch_min(1.0, Relaxed, Block);
}
