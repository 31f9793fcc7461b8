use device_std::{device, unroll};

#[device]
fn hinted() {
    unroll! {
        #[nounroll]
        for i in 0..4 {}
    }
}

fn main() {
    unroll! {}
    unroll! { loop {} }
    unroll! { for i in 0..4 {} for i in 0..4 {} }
    unroll! { #[allow(unused)] for i in 0..4 {} }
    unroll! { for i in 0..4 { break i; } }
    unroll! { for i in 0..4 { let ph~i = 0; if ph~i == i { continue; } } }
    unroll! { for i in 0..4 { outside!(if => continue); } }
    unroll! { for i in 0..4 { let x = ; } }
    unroll! { for i in 0..4 { i } }
}
