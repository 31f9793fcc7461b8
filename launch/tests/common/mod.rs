//! A few kernels in PTX.

/// `axpy(x, x's length, y, y's length, a)` adds `a` times `x` to `y`, a thread an element; `numbers(out, …)` stores one
/// argument of each type; `stores` works in dynamic shared memory.
pub const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64

.extern .shared .align 4 .b8 dynamic[];

.visible .entry axpy(.param .u64 .ptr x, .param .u64 n, .param .u64 .ptr y, .param .u64 m, .param .f32 a)
{
    .reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [n];
    ld.param.u64 %d3, [y];
    ld.param.f32 %f1, [a];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    cvt.u64.u32 %d4, %r4;
    setp.ge.u64 %p1, %d4, %d2;
    @%p1 bra done;
    shl.b64 %d5, %d4, 2;
    add.u64 %d6, %d1, %d5;
    add.u64 %d7, %d3, %d5;
    ld.global.f32 %f2, [%d6];
    ld.global.f32 %f3, [%d7];
    fma.rn.f32 %f3, %f1, %f2, %f3;
    st.global.f32 [%d7], %f3;
done:
    ret;
}

.visible .entry numbers(.param .u64 .ptr out, .param .u32 a, .param .u64 b, .param .s32 c, .param .b32 d, .param .f64 e)
{
    .reg .b32 %r<4>; .reg .b64 %d<5>;
    ld.param.u64 %d1, [out];
    ld.param.u32 %r1, [a];
    ld.param.u64 %d2, [b];
    ld.param.s32 %r2, [c];
    ld.param.b32 %r3, [d];
    ld.param.b64 %d3, [e];
    st.global.u64 [%d1], %d2;
    st.global.b64 [%d1+8], %d3;
    st.global.u32 [%d1+16], %r1;
    st.global.u32 [%d1+20], %r2;
    st.global.u32 [%d1+24], %r3;
    ret;
}

.visible .entry mirrored(.param .u64 .ptr out)
{
    .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, dynamic;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    mov.u32 %r5, %ntid.x;
    sub.u32 %r5, %r5, %r1;
    sub.u32 %r5, %r5, 1;
    shl.b32 %r5, %r5, 2;
    add.u32 %r4, %r2, %r5;
    ld.shared.u32 %r4, [%r4];
    cvt.u64.u32 %d2, %r3;
    add.u64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r4;
    ret;
}
";

use launch::{Error, Launcher, Shape};

/// What every launcher must do with [`PTX`].
pub fn keeps_its_promises<L: Launcher>(gpu: &L) -> Result<(), Error> {
    slices_and_a_number(gpu)?;
    numbers_of_every_type(gpu)?;
    much_shared_memory(gpu)?;
    empty_buffers(gpu)
}

fn slices_and_a_number<L: Launcher>(gpu: &L) -> Result<(), Error> {
    let axpy = gpu.kernel(&gpu.load(PTX)?, "axpy")?;
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let (x, y) = (gpu.upload(&x)?, gpu.upload(&[1.0f32; 100])?);
    let args = [&x.slice()[..], &y.slice(), &[2.0f32.into()]].concat();
    // SAFETY: threads beyond the slices' end return, and each of the others has an element of its own.
    unsafe { gpu.launch(&axpy, Shape::line(2, 64), &args) }?;
    assert_eq!(gpu.download(&y)?, (0..100).map(|i| 2.0 * i as f32 + 1.0).collect::<Vec<f32>>());
    // SAFETY: as above, and every run only adds to `y`.
    let times = unsafe { gpu.time(&axpy, Shape::line(2, 64), &args, 3) }?;
    assert!(times.as_ref().is_none_or(|times| times.len() == 3 && times.iter().all(|time| *time > 0.0)), "{times:?}");
    let launches = if times.is_some() { 1.0 + 4.0 } else { 1.0 };
    assert_eq!(gpu.download(&y)?, (0..100).map(|i| launches * 2.0 * i as f32 + 1.0).collect::<Vec<f32>>());
    Ok(())
}

fn numbers_of_every_type<L: Launcher>(gpu: &L) -> Result<(), Error> {
    let numbers = gpu.kernel(&gpu.load(PTX)?, "numbers")?;
    let out = gpu.allocate::<u32>(7)?;
    let args =
        [out.arg(), u32::MAX.into(), 0x0102_0304_0506_0708u64.into(), (-2).into(), 1.5f32.into(), (-0.5f64).into()];
    // SAFETY: the kernel writes 28 bytes, which `out` has.
    unsafe { gpu.launch(&numbers, Shape::line(1, 1), &args) }?;
    let e = (-0.5f64).to_bits();
    let wanted = [0x0506_0708, 0x0102_0304, e as u32, (e >> 32) as u32, u32::MAX, -2i32 as u32, 1.5f32.to_bits()];
    assert_eq!(gpu.download(&out)?, wanted);
    Ok(())
}

/// More than a kernel may have without asking the driver.
fn much_shared_memory<L: Launcher>(gpu: &L) -> Result<(), Error> {
    let mirrored = gpu.kernel(&gpu.load(PTX)?, "mirrored")?;
    let out = gpu.allocate::<u32>(64)?;
    let limit = gpu.device().shared_limit;
    assert!(limit > 48 << 10, "{:?}", gpu.device());
    let shape = Shape::line(1, 64).with_shared(limit);
    // SAFETY: each of 64 threads uses four bytes of shared memory and one element.
    unsafe { gpu.launch(&mirrored, shape, &[out.arg()]) }?;
    assert_eq!(gpu.download(&out)?, (0..64).rev().collect::<Vec<u32>>());
    let shape = shape.with_shared(limit + 1);
    // SAFETY: as above.
    let error = unsafe { gpu.launch(&mirrored, shape, &[out.arg()]) }.expect_err("it is too much");
    let said = error.to_string();
    assert!(said.contains(&format!("with {} bytes of dynamic", limit + 1)), "{said}");
    assert!(said.contains(&format!("on {} has {limit}", gpu.device().arch)), "{said}");
    Ok(())
}

fn empty_buffers<L: Launcher>(gpu: &L) -> Result<(), Error> {
    let axpy = gpu.kernel(&gpu.load(PTX)?, "axpy")?;
    let (x, y) = (gpu.upload::<f32>(&[])?, gpu.allocate::<f32>(0)?);
    let args = [&x.slice()[..], &y.slice(), &[2.0f32.into()]].concat();
    // SAFETY: a thread without an element returns.
    unsafe { gpu.launch(&axpy, Shape::line(1, 32), &args) }?;
    assert!(y.is_empty() && gpu.download(&y)?.is_empty());
    Ok(())
}
