//! x
use emulator::*;
fn main(){ let m=Module::load(include_str!("../benches/bench.ptx")).unwrap(); let n=128usize; let data=vec![0.5f32;n*n]; let which=std::env::args().nth(1).unwrap(); let mut c=match which.as_str(){"all"=>Config::default(),"nocount"=>{let mut c=Config::default();c.count=false;c},_=>Config::unchecked()}; c.threads=1; let kn=std::env::args().nth(2).unwrap();
let mut d=Device::new(c); let (a,b,o)=(d.buffer(&data),d.buffer(&data),d.buffer(&data)); let k=m.kernel(&kn).unwrap();
let reps=if kn=="gemm"{10}else{200};
let t=std::time::Instant::now();
for _ in 0..reps { if kn=="gemm" { d.launch(&k,Shape{grid:[4,16,1],block:[32,8,1],shared_bytes:0},&[a.into(),b.into(),o.into(),n.into()]).unwrap(); } else {d.launch(&k,Shape{grid:[4,4,1],block:[32,32,1],shared_bytes:0},&[a.into(),o.into(),n.into()]).unwrap(); }}
println!("{} {} {:?}",which,kn,t.elapsed()/reps); }
