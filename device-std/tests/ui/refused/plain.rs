use device_std::Plain;

#[derive(Clone, Copy, Plain)]
#[repr(C)]
struct Padded {
    tag: u8,
    value: u32,
}

#[derive(Clone, Copy, Plain)]
struct Unordered {
    value: u32,
}

#[derive(Plain)]
#[repr(C)]
struct Unique {
    value: u32,
}

#[derive(Clone, Copy, Plain)]
#[repr(C)]
struct Generic<T> {
    value: T,
}

#[derive(Clone, Copy, Plain)]
#[repr(u8)]
enum Choice {
    A,
}

fn main() {}
