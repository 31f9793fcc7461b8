//! The figures of every kernel of a PTX file:
//! `cargo run -p sass --example figures -- kernel.ptx sm_90` with ptxas and nvdisasm in `PATH`.
//! A third word, `sass`, `cfg` or `dot`, prints the kernels in that form instead.

use std::path::PathBuf;

use sass::{AssembleOptions, Nvdisasm, Program, Ptxas, Report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(ptx), Some(arch)) = (arguments.next().map(PathBuf::from), arguments.next()) else {
        return Err("usage: figures FILE.ptx ARCH [sass|cfg|dot]".into());
    };
    let options = AssembleOptions { line_info: true, ..AssembleOptions::default() };
    let cubin = Ptxas::new("ptxas").assemble(&ptx, &arch, &options)?;
    let module = Nvdisasm::new("nvdisasm").disassemble(&cubin)?;
    let program = Program::of(&module);
    match arguments.next().as_deref() {
        None => println!("{:#?}", Report::of(&cubin, &program)?),
        Some("sass") => program.kernels().for_each(|kernel| println!("{}", kernel.sass())),
        Some("cfg") => program.kernels().for_each(|kernel| println!("{}", kernel.cfg())),
        Some("dot") => program.kernels().for_each(|kernel| println!("{}", kernel.dot())),
        Some(other) => return Err(format!("`{other}` is none of sass, cfg and dot").into()),
    }
    Ok(())
}
