//! Loops over lanes that the instructions' functions are made of. Each is generic in what it computes, so that the
//! compiler makes, and vectorizes, one loop per instruction. Lanes that are off are computed too and not written:
//! operations must be total.

use crate::exec::{Done, Exec, L32, L64, LANES};
use crate::program::Inst;

#[inline(always)]
pub(crate) fn un32(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32) -> u32) -> Done {
    let a = x.get32(i.a);
    let mut o: L32 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l]);
    }
    x.put32(i.d, &o);
    Ok(())
}

#[inline(always)]
pub(crate) fn bin32(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32) -> u32) -> Done {
    let (a, b) = (x.get32(i.a), x.get32(i.b));
    let mut o: L32 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l]);
    }
    x.put32(i.d, &o);
    Ok(())
}

#[inline(always)]
pub(crate) fn tri32(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32, u32) -> u32) -> Done {
    let (a, b, c) = (x.get32(i.a), x.get32(i.b), x.get32(i.c));
    let mut o: L32 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l], c[l]);
    }
    x.put32(i.d, &o);
    Ok(())
}

#[inline(always)]
pub(crate) fn quad32(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32, u32, u32) -> u32) -> Done {
    let (a, b, c, e) = (x.get32(i.a), x.get32(i.b), x.get32(i.c), x.get32(i.e));
    let mut o: L32 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l], c[l], e[l]);
    }
    x.put32(i.d, &o);
    Ok(())
}

#[inline(always)]
pub(crate) fn un64(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u64) -> u64) -> Done {
    let a = x.get64(i.a);
    let mut o: L64 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l]);
    }
    x.put64(i.d, &o);
    Ok(())
}

#[inline(always)]
pub(crate) fn bin64(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u64, u64) -> u64) -> Done {
    let (a, b) = (x.get64(i.a), x.get64(i.b));
    let mut o: L64 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l]);
    }
    x.put64(i.d, &o);
    Ok(())
}

#[inline(always)]
pub(crate) fn tri64(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u64, u64, u64) -> u64) -> Done {
    let (a, b, c) = (x.get64(i.a), x.get64(i.b), x.get64(i.c));
    let mut o: L64 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l], c[l]);
    }
    x.put64(i.d, &o);
    Ok(())
}

/// 64 bits by an amount of 32.
#[inline(always)]
pub(crate) fn shift64(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u64, u32) -> u64) -> Done {
    let (a, b) = (x.get64(i.a), x.get32(i.b));
    let mut o: L64 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l]);
    }
    x.put64(i.d, &o);
    Ok(())
}

/// 64 bits to 32.
#[inline(always)]
pub(crate) fn narrow(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u64) -> u32) -> Done {
    let a = x.get64(i.a);
    let mut o: L32 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l]);
    }
    x.put32(i.d, &o);
    Ok(())
}

/// 32 bits by 32 to 64.
#[inline(always)]
pub(crate) fn wide(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32) -> u64) -> Done {
    let (a, b) = (x.get32(i.a), x.get32(i.b));
    let mut o: L64 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l]);
    }
    x.put64(i.d, &o);
    Ok(())
}

/// 32 bits by 32 plus 64 to 64.
#[inline(always)]
pub(crate) fn wide_add(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32, u64) -> u64) -> Done {
    let (a, b, c) = (x.get32(i.a), x.get32(i.b), x.get64(i.c));
    let mut o: L64 = [0; LANES];
    for l in 0..LANES {
        o[l] = f(a[l], b[l], c[l]);
    }
    x.put64(i.d, &o);
    Ok(())
}

/// 16-bit forms: the value is the lower half, the upper half stays zero.
#[inline(always)]
pub(crate) fn un16(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u16) -> u16) -> Done {
    un32(x, i, |a| u32::from(f(a as u16)))
}

#[inline(always)]
pub(crate) fn bin16(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u16, u16) -> u16) -> Done {
    bin32(x, i, |a, b| u32::from(f(a as u16, b as u16)))
}

#[inline(always)]
pub(crate) fn tri16(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u16, u16, u16) -> u16) -> Done {
    tri32(x, i, |a, b, c| u32::from(f(a as u16, b as u16, c as u16)))
}

/// Two halves at once.
#[inline(always)]
pub(crate) fn bin16x2(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u16, u16) -> u16) -> Done {
    bin32(x, i, |a, b| u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16)
}

/// Predicates at once.
#[inline(always)]
pub(crate) fn bin_pred(x: &mut Exec<'_>, i: &Inst, f: impl Fn(u32, u32) -> u32) -> Done {
    let v = f(x.pred(i.a), x.pred(i.b));
    x.put_pred(i.d, v);
    Ok(())
}

/// A predicate from two lanes' values.
#[inline(always)]
pub(crate) fn test32(x: &Exec<'_>, i: &Inst, f: impl Fn(u32, u32) -> bool) -> u32 {
    let (a, b) = (x.get32(i.a), x.get32(i.b));
    let mut m = 0;
    for l in 0..LANES {
        m |= u32::from(f(a[l], b[l])) << l;
    }
    m
}

#[inline(always)]
pub(crate) fn test64(x: &Exec<'_>, i: &Inst, f: impl Fn(u64, u64) -> bool) -> u32 {
    let (a, b) = (x.get64(i.a), x.get64(i.b));
    let mut m = 0;
    for l in 0..LANES {
        m |= u32::from(f(a[l], b[l])) << l;
    }
    m
}
