//! x
fn main(){ for f in std::env::args().skip(1){ let s=std::fs::read_to_string(&f).unwrap(); match emulator::Module::load(&s){Ok(m)=>println!("{f} ok {:?}",m.kernels().collect::<Vec<_>>()),Err(e)=>println!("{f} {e}")}}}
