#![no_std]
#![feature(abi_ptx, stdarch_nvptx, link_llvm_intrinsics, asm_experimental_arch, f16)]
use core::arch::nvptx::*;
#[panic_handler] fn p(_:&core::panic::PanicInfo)->!{ loop{} }
unsafe extern "C" {
  #[link_name="llvm.nvvm.shfl.sync.bfly.i32"] fn shfl(m:u32,v:u32,b:u32,c:u32)->u32;
  #[link_name="llvm.nvvm.vote.ballot.sync"] fn ballot(m:u32,v:bool)->u32;
}
#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn saxpy(n:u32,a:f32,x:*const f32,y:*mut f32){
  let i=(_block_idx_x()*_block_dim_x()+_thread_idx_x()) as u32;
  if i<n { *y.add(i as usize)=a * *x.add(i as usize)+*y.add(i as usize); }
}
#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn taps(x:*const f32,y:*mut f32,n:usize){
  let t=_thread_idx_x() as usize; let mut acc=0.0f32; let mut acc2=0f64;
  for k in 0..n { acc+=*x.add(t+k)*0.5; acc2+= (*x.add(k)) as f64; if acc>100.0 {continue;} acc*=1.5; }
  *y.add(t)=acc + acc2 as f32;
}
#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn warpsum(x:*const u32,y:*mut u32){
  let t=_thread_idx_x() as usize; let mut v=*x.add(t);
  let mut m=1; while m<32 { v=v.wrapping_add(shfl(!0,v,m,0x1f)); m*=2; }
  let b=ballot(!0,v%2==0);
  *y.add(t)=v.wrapping_add(b);
}
#[inline(never)] fn helper(s:&[f32], i:usize)->f32{ s[i]+s[i+1] }
#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn slices(x:*const f32,n:usize,y:*mut f32){
  let s=core::slice::from_raw_parts(x,n); let t=_thread_idx_x() as usize;
  *y.add(t)=helper(s,t);
}
#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn sw(x:*const u32,y:*mut u32, h:*mut f16){
  let t=_thread_idx_x() as usize;
  let arr=[3u32,1,4,1,5,9,2,6];
  let mut loc=[0u32;16]; for i in 0..16 { loc[(*x.add(i) & 15) as usize]+=i as u32; }
  *y.add(t)=match *x.add(t) {0=>loc[1],1=>loc[2].rotate_left(3),2=>arr[t&7],3=>loc[4].count_ones(),4=>loc[5].leading_zeros(),5=>loc[t & 15],6=>t as u32/loc[3], _=>0};
  *h.add(t) = (*h.add(t)) * 2.0f16 + (*x.add(t)) as f16;
}
#[repr(C)] #[derive(Clone,Copy)] pub struct P{a:u64,b:u32,c:u16,d:[u8;7]}
#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn st(p:P,y:*mut u64){
  let t=_thread_idx_x() as usize;
  *y.add(t)=p.a/(p.b as u64)+p.c as u64+p.d[t&3] as u64; 
  core::sync::atomic::AtomicU64::from_ptr(y).fetch_add(3,core::sync::atomic::Ordering::Relaxed);
  core::sync::atomic::AtomicU32::from_ptr(y as *mut u32).compare_exchange(3,4,core::sync::atomic::Ordering::SeqCst,core::sync::atomic::Ordering::Acquire);
  _syncthreads();
}
