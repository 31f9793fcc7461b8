//! The GPU that code is made for, and what LLVM does with it: run passes, print text, and on AMD's write machine code.

use crate::Error;
use crate::args::{Args, OptLevel};
use crate::family::Family;
use crate::session::Session;
use hint_record::Route;
use inkwell::OptimizationLevel;
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, RelocMode, TargetMachine, TargetTriple};

/// The version of PTX that LLVM 22 takes where nothing asks for a newer one, and the GPUs for which nothing does.
const OLDEST_PTX: &str = "3.2";
const OLDEST_GPUS: [&str; 4] = ["sm_20", "sm_21", "sm_30", "sm_35"];

/// The version of PTX that has minima and maxima of three numbers, for GPUs from this one on. For some of them LLVM
/// takes an older one unless told otherwise. Needs ptxas 12.9.
const THREE_INPUTS: (u32, &str, &str) = (100, "8.8", "+ptx88");

/// Which loops LLVM unrolls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unrolling {
    /// Those with a hint, and others where it finds it worth the while.
    Any,
    /// Those with a hint.
    Hinted,
}

/// One GPU at one optimization level.
pub struct Gpu {
    /// Whose it is.
    pub family: Family,
    machine: TargetMachine,
    cpu: String,
    pipeline: String,
}

impl Gpu {
    /// The GPU that the command line names.
    pub fn new(args: &Args) -> Result<Gpu, Error> {
        let unknown = || Error::UnknownTarget { triple: args.target.clone() };
        let triple = TargetTriple::create(&args.target);
        let (family, target) = Family::of(&triple).ok_or_else(unknown)?;
        if family == Family::Amdgcn && args.route == Route::Nvvm {
            return Err(Error::NvvmForAmd { cpu: args.target_cpu.clone() });
        }
        let level = match args.optimize {
            OptLevel::None => OptimizationLevel::None,
            OptLevel::Less => OptimizationLevel::Less,
            OptLevel::More | OptLevel::Size | OptLevel::SizeMin => OptimizationLevel::Default,
            OptLevel::Aggressive => OptimizationLevel::Aggressive,
        };
        let machine = |features: &str| {
            target.create_target_machine(
                &triple,
                &args.target_cpu,
                features,
                level,
                RelocMode::Default,
                CodeModel::Default,
            )
        };
        let gpu = |features: &str| {
            let machine = machine(features).ok_or_else(unknown)?;
            let (cpu, pipeline) = (args.target_cpu.clone(), pipeline(args.optimize));
            Ok::<Gpu, Error>(Gpu { family, machine, cpu, pipeline })
        };
        let default_ptx = gpu("")?.check_cpu()?;
        gpu(&features(args, &default_ptx))
    }

    /// LLVM itself only warns of a GPU that it does not know, and goes on with its oldest one. What it makes of an
    /// empty module shows it: NVIDIA's unknown ones get the first version of PTX, under their own name, which but for
    /// them only the oldest get; AMD's get no name. The result is the version of PTX; empty for AMD.
    fn check_cpu(&self) -> Result<String, Error> {
        let session = Session::new();
        let empty = session.context().create_module("empty");
        self.claim(&empty);
        let text = self.text(&session, &empty)?;
        let says = |start: &str| text.lines().find_map(|line| line.trim().strip_prefix(start)).map(str::trim);
        let (is_known, version) = match self.family {
            Family::Nvptx => {
                let version = says(".version ").unwrap_or(OLDEST_PTX);
                let is_newer = version != OLDEST_PTX || OLDEST_GPUS.contains(&&*self.cpu);
                (is_newer && says(".target ") == Some(&self.cpu), version)
            }
            Family::Amdgcn => {
                let name = says(".amdgcn_target ").map(|name| name.trim_matches('"'));
                (name.is_some_and(|name| name.ends_with(&format!("--{}", self.cpu))), "")
            }
        };
        let unknown = || Error::UnknownCpu { cpu: self.cpu.clone(), triple: self.family.triple() };
        is_known.then(|| version.to_owned()).ok_or_else(unknown)
    }

    /// Makes an empty module one for this GPU.
    pub fn claim(&self, module: &Module<'_>) {
        module.set_triple(&self.machine.get_triple());
        module.set_data_layout(&self.machine.get_target_data().get_data_layout());
    }

    /// LLVM links objects of different targets with a warning; what comes out is of no use.
    pub fn check_made_for(&self, module: &Module<'_>, input: &str) -> Result<(), Error> {
        let fits = |found: &str, own: &str| found.is_empty() || found == own;
        let check = |found: &str, own: &str| {
            let unfit = || Error::OtherTarget { input: input.to_owned(), found: found.to_owned(), own: own.to_owned() };
            if fits(found, own) { Ok(()) } else { Err(unfit()) }
        };
        let (triple, own_triple) = (module.get_triple(), self.machine.get_triple());
        check(&triple.as_str().to_string_lossy(), &own_triple.as_str().to_string_lossy())?;
        let (layout, own_layout) = (module.get_data_layout(), self.machine.get_target_data().get_data_layout());
        check(&layout.as_str().to_string_lossy(), &own_layout.as_str().to_string_lossy())
    }

    /// Makes every function follow this GPU. Objects carry the GPU that they were compiled for (the core library
    /// another than the kernels), and LLVM would go by that.
    pub fn adopt(&self, module: &Module<'_>) {
        for function in module.get_functions() {
            for attribute in ["target-cpu", "target-features"] {
                function.remove_string_attribute(AttributeLoc::Function, attribute);
            }
        }
    }

    /// Deletes what no kernel needs, without optimizing anything.
    pub fn delete_unused(&self, session: &Session, module: &Module<'_>) -> Result<(), Error> {
        self.run(session, module, "globaldce")
    }

    /// The one time that the module is optimized, with all that LLVM finds worth doing, or with none of what one
    /// optimizer should not do before another: a loop without hint is not unrolled, and nothing is made a vector.
    pub fn optimize(&self, session: &Session, module: &Module<'_>, unrolling: Unrolling) -> Result<(), Error> {
        let options = PassBuilderOptions::create();
        if unrolling == Unrolling::Hinted {
            options.set_loop_unrolling(false);
            options.set_loop_interleaving(false);
            options.set_loop_vectorization(false);
            options.set_loop_slp_vectorization(false);
        }
        self.run_with(session, module, &self.pipeline, options)
    }

    fn run(&self, session: &Session, module: &Module<'_>, pipeline: &str) -> Result<(), Error> {
        self.run_with(session, module, pipeline, PassBuilderOptions::create())
    }

    fn run_with(
        &self,
        session: &Session,
        module: &Module<'_>,
        pipeline: &str,
        options: PassBuilderOptions,
    ) -> Result<(), Error> {
        let result = module.run_passes(pipeline, &self.machine, options);
        session
            .check(result.map_err(|message| message.to_string()))
            .map_err(|message| Error::Optimize { pipeline: pipeline.to_owned(), message })
    }

    /// The module's text: PTX, or AMD's assembly. The module is of no use afterwards: making code changes it.
    pub fn text(&self, session: &Session, module: &Module<'_>) -> Result<String, Error> {
        let mut text = self.code(session, module, FileType::Assembly)?;
        text.pop_if(|last| *last == 0);
        String::from_utf8(text).map_err(|error| self.failed(error.to_string()))
    }

    /// The module's machine code as an ELF object, which AMD's GPUs have. The module is of no use afterwards.
    pub fn object(&self, session: &Session, module: &Module<'_>) -> Result<Vec<u8>, Error> {
        self.code(session, module, FileType::Object)
    }

    fn code(&self, session: &Session, module: &Module<'_>, kind: FileType) -> Result<Vec<u8>, Error> {
        let result = self.machine.write_to_memory_buffer(module, kind);
        let buffer = session.check(result.map_err(|message| message.to_string()));
        Ok(buffer.map_err(|message| self.failed(message))?.as_slice().to_vec())
    }

    fn failed(&self, message: String) -> Error {
        Error::Codegen { cpu: self.cpu.clone(), message }
    }
}

/// The features asked for, and a newer version of PTX where the GPU has instructions that `default` lacks and none was
/// asked for.
fn features(args: &Args, default: &str) -> String {
    let (first_gpu, version, feature) = THREE_INPUTS;
    let number = args.target_cpu.trim_start_matches("sm_").trim_end_matches(['a', 'f']).parse::<u32>();
    let is_older = |default: &str| parts(default) < parts(version);
    let asks = args.target_feature.split(',').any(|asked| asked.starts_with("+ptx"));
    if asks || !is_older(default) || !number.is_ok_and(|number| number >= first_gpu) {
        return args.target_feature.clone();
    }
    if args.target_feature.is_empty() { feature.to_owned() } else { format!("{},{feature}", args.target_feature) }
}

/// The numbers of a version.
fn parts(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn pipeline(level: OptLevel) -> String {
    let level = match level {
        OptLevel::None => "0",
        OptLevel::Less => "1",
        OptLevel::More => "2",
        OptLevel::Aggressive => "3",
        OptLevel::Size => "s",
        OptLevel::SizeMin => "z",
    };
    format!("default<O{level}>")
}
