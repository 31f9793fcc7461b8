//! What became of the loops of a PTX file: `cargo run -p sass --example tie -- FILE.ptx ARCH`, with ptxas and nvdisasm
//! in `PATH`.

use std::fs;

use sass::{AssembleOptions, Nvdisasm, Program, PtxModule, Ptxas, Witness, one_statement_a_line, split, tie};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(arch)) = (arguments.next(), arguments.next()) else {
        return Err("usage: tie FILE.ptx ARCH".into());
    };
    let code = split(&fs::read_to_string(file)?).code;
    let text = one_statement_a_line(&code);
    let ptx = PtxModule::parse(&text)?;
    let options = AssembleOptions::default();
    let witness = Witness::of(&Ptxas::new("ptxas"), &Nvdisasm::new("nvdisasm"), &text, &arch, &options)?;
    for kernel in tie(&ptx, &Program::of(&witness.module)) {
        for tied in &kernel.loops {
            let function = tied.ptx_function(&ptx);
            let found = function.get(tied.id);
            let label = found.labels().first().map(String::as_str).unwrap_or("(no label)");
            let pragma = if found.nounroll() { ", nounroll" } else { "" };
            let (copies, instances) = (tied.copies(), tied.instances.len());
            let name = &kernel.name;
            println!(
                "{name} {} {label}{pragma}: {:?}, {copies} copies, {instances} instances",
                function.name, tied.verdict
            );
        }
    }
    Ok(())
}
