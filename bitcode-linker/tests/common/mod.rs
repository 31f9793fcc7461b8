//! What the tests share: objects made from LLVM's text, archives of them, and the linker as a program and as a library.
#![allow(dead_code, reason = "every test file uses a part of it")]

use bitcode_linker::{Args, Error, link};
use hint_record::LinkReport;
use hint_record::stages::StageFile;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// rustc's data layout and triple for the target.
pub const TARGET: &str = "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
target triple = \"nvptx64-nvidia-cuda\"
";

/// The smallest kernel.
pub const KERNEL: &str = "define ptx_kernel void @k() {\n  ret void\n}\n";

/// Two hinted loops that stay: the kernel's own, and one in a function that is not inlined.
pub const HINTED: &str = r#"
@site = private unnamed_addr constant [28 x i8] c"nounroll|pkg|src/lib.rs|10|5"
@other = private unnamed_addr constant [28 x i8] c"nounroll|pkg|src/lib.rs|20|5"
declare void @__latch_loop_enter(ptr, i64)
declare void @__latch_loop_body(ptr, i64, i64)
define ptx_kernel void @own(ptr %x, ptr %y) {
entry:
  call void @__latch_loop_enter(ptr @site, i64 28)
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %odd ], [ %next, %even ]
  %sum = phi float [ 0.0, %entry ], [ %more, %odd ], [ %sum, %even ]
  %go = icmp ult i32 %i, 4
  br i1 %go, label %inside, label %exit
inside:
  call void @__latch_loop_body(ptr @site, i64 28, i64 1)
  %next = add i32 %i, 1
  %at = getelementptr float, ptr %x, i32 %i
  %value = load float, ptr %at
  %more = fadd float %sum, %value
  %big = fcmp ogt float %value, 1.0
  br i1 %big, label %odd, label %even
odd:
  br label %head
even:
  br label %head
exit:
  store float %sum, ptr %y
  ret void
}
define ptx_kernel void @by_call(ptr %x, ptr %y) {
  %sum = call float @sum4(ptr %x)
  store float %sum, ptr %y
  ret void
}
define float @sum4(ptr %x) noinline {
entry:
  call void @__latch_loop_enter(ptr @other, i64 28)
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %inside ]
  %sum = phi float [ 0.0, %entry ], [ %more, %inside ]
  %go = icmp ult i32 %i, 4
  br i1 %go, label %inside, label %exit
inside:
  call void @__latch_loop_body(ptr @other, i64 28, i64 1)
  %next = add i32 %i, 1
  %at = getelementptr float, ptr %x, i32 %i
  %value = load float, ptr %at
  %more = fadd float %sum, %value
  br label %head
exit:
  ret float %sum
}
"#;

/// The bitcode of a module for the usual target.
pub fn bitcode(functions: &str) -> Vec<u8> {
    any_bitcode(&format!("{TARGET}{functions}"))
}

/// The bitcode of a module, its target included.
pub fn any_bitcode(text: &str) -> Vec<u8> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{}\n{text}", error.to_string()));
    module.verify().unwrap_or_else(|error| panic!("{}\n{text}", error.to_string()));
    module.write_bitcode_to_memory().as_slice().to_vec()
}

/// An `ar` archive, as rustc writes rlibs: names end in a slash, members start at even offsets.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, data) in members {
        assert!(name.len() < 16, "longer names have a table of their own");
        let (name, size) = (format!("{name}/"), data.len());
        archive.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, "100644").into_bytes());
        archive.extend(*data);
        archive.extend(std::iter::repeat_n(b'\n', data.len() % 2));
    }
    archive
}

/// A folder for one link.
pub struct Scene {
    pub folder: TempDir,
    inputs: Vec<PathBuf>,
}

impl Scene {
    pub fn new() -> Scene {
        Scene { folder: TempDir::new().unwrap(), inputs: Vec::new() }
    }

    /// A scene with one object, made from functions in LLVM's text.
    pub fn with(functions: &str) -> Scene {
        Scene::new().object("a.o", functions)
    }

    pub fn object(self, name: &str, functions: &str) -> Scene {
        let data = bitcode(functions);
        self.input(name, &data)
    }

    pub fn input(mut self, name: &str, data: &[u8]) -> Scene {
        let path = self.path(name);
        fs::write(&path, data).unwrap();
        self.inputs.push(path);
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn output(&self) -> PathBuf {
        self.path("out.ptx")
    }

    /// The command line without program: inputs, output, GPU, and what is given.
    pub fn command_line(&self, more: &[&str]) -> Vec<OsString> {
        let mut line: Vec<OsString> = self.inputs.iter().map(OsString::from).collect();
        line.extend(["-o".into(), self.output().into(), "--target-cpu".into(), "sm_90".into()]);
        line.extend(more.iter().map(OsString::from));
        line
    }

    pub fn args(&self, more: &[&str]) -> Args {
        Args::read(std::iter::once("latch-link".into()).chain(self.command_line(more))).unwrap()
    }

    /// Links as a library and returns the PTX.
    pub fn link(&self, more: &[&str]) -> Result<String, Error> {
        link(&self.args(more))?;
        Ok(fs::read_to_string(self.output()).unwrap())
    }

    /// Links, and returns the report too.
    pub fn report(&self, more: &[&str]) -> (String, LinkReport) {
        let path = self.path("report.json");
        let mut more = more.to_vec();
        more.extend(["--report", path.to_str().unwrap()]);
        let ptx = self.link(&more).unwrap();
        (ptx, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
    }

    /// Links as a program.
    pub fn run(&self, more: &[&str]) -> Output {
        run(&self.command_line(more))
    }

    /// Links as a library, which fails: the message. Nothing is left but the inputs.
    #[track_caller]
    pub fn refused(&self, more: &[&str]) -> String {
        let error = link(&self.args(more)).expect_err("the link is refused");
        assert_eq!(self.files(), self.inputs_by_name(), "nothing is left behind");
        error.to_string()
    }

    /// The names of the files in the folder.
    pub fn files(&self) -> Vec<String> {
        files(self.folder.path())
    }

    fn inputs_by_name(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.inputs.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

pub fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs `latch-link`.
pub fn run(arguments: &[OsString]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_latch-link")).args(arguments).env_remove("RUST_LOG").output().unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The module as a pass has left it.
pub fn after(folder: &Path, pass: &str) -> String {
    let kept = StageFile::in_folder(folder).unwrap();
    let file = kept.iter().find(|file| file.pass == pass).unwrap_or_else(|| panic!("no `{pass}` in {kept:?}"));
    fs::read_to_string(folder.join(file.name())).unwrap()
}
