fn main(){ for f in std::env::args().skip(1){ let s=std::fs::read_to_string(&f).unwrap(); match emulator::parse(&s){Ok(m)=>println!("{f} ok {}",m.functions.len()),Err(e)=>println!("{f} {e}")}}}
