//! Runs one instruction on many operands.

use emulator::{Arg, Config, Device, Module, Shape};

/// Result and operand types as PTX spells them, `pred` included.
pub fn eval(inst: &str, types: &[&str], operands: &[Vec<u64>]) -> Vec<u64> {
    let n = operands.first().map_or(32, Vec::len);
    let mut body = String::new();
    for (k, ty) in types.iter().enumerate() {
        body += &format!(".reg .{ty} %v{k};\n");
        if k == 0 {
            continue;
        }
        match *ty {
            "pred" => body += &format!("ld.global.b32 %r, [%a+{}]; setp.ne.b32 %v{k}, %r, 0;\n", k * 8),
            _ => body += &format!("ld.global.{ty} %v{k}, [%a+{}];\n", k * 8),
        }
    }
    body += inst;
    body += match types[0] {
        "pred" => "\nselp.b32 %r, 1, 0, %v0; cvt.u64.u32 %q, %r; st.global.b64 [%a], %q;",
        "b16" => "\ncvt.u64.u16 %q, %v0; st.global.b64 [%a], %q;",
        "b32" => "\ncvt.u64.u32 %q, %v0; st.global.b64 [%a], %q;",
        _ => "\nst.global.b64 [%a], %v0;",
    };
    let stride = types.len() * 8;
    let text = format!(
        ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .b64 %a, %q; .reg .b32 %t, %r, %s;\n\
         ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %s, %ctaid.x; mad.lo.u32 %t, %s, 32, %t;\n\
         mad.wide.u32 %a, %t, {stride}, %a;\n{body}\nret;\n}}"
    );
    let m = Module::load(&text).unwrap_or_else(|e| panic!("{inst}: {e}\n{text}"));
    let blocks = n.div_ceil(32);
    let mut data = vec![0u64; blocks * 32 * types.len()];
    for (k, column) in operands.iter().enumerate() {
        for (row, v) in column.iter().enumerate() {
            data[row * types.len() + k + 1] = *v;
        }
    }
    let mut c = Config::default();
    c.threads = 1;
    let mut d = Device::new(c);
    let b = d.buffer(&data);
    let k = m.kernel("k").expect("it is there");
    d.launch(&k, Shape::line(blocks as u32, 32), &[Arg::from(b)]).unwrap_or_else(|e| panic!("{inst}: {e}"));
    let out = d.read(&b).expect("it is ours");
    out.chunks(types.len()).take(n).map(|row| row[0]).collect()
}
