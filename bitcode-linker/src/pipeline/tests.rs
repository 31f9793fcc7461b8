use super::*;
use crate::passes::list;
use crate::session::Session;
use crate::target::Gpu;
use hint_record::Route;
use hint_record::stages::{OPTIMIZED, RESOLVED, StageFile};
use inkwell::attributes::{Attribute, AttributeLoc};
use std::ffi::OsString;
use std::path::Path;

/// The lists, as the columns of the table in their documentation.
const LISTS: [(Family, Route); 3] =
    [(Family::Nvptx, Route::Llc), (Family::Nvptx, Route::Nvvm), (Family::Amdgcn, Route::Llc)];

fn names(family: Family, route: Route) -> Vec<&'static str> {
    list(family, route).iter().map(|pass| pass.name).collect()
}

#[test]
fn passes_run_in_this_order() {
    let front = "merge internalize adopt-gpu delete-unused resolve-hints place-shared place-scopes check-defined mark-convergent";
    let rest = [
        "contract optimize write-out-tables drop-compiler-fences find-loops explain keep-pragmas place-latches print find-printed-loops report",
        "optimize write-out-tables drop-compiler-fences adapt-for-libnvvm compile-by-libnvvm find-loops-in-ptx explain report",
        "contract optimize write-out-tables find-loops explain place-latches write-object print report",
    ];
    for ((family, route), rest) in LISTS.into_iter().zip(rest) {
        assert_eq!(names(family, route).join(" "), format!("{front} {rest}"));
    }
}

#[test]
fn every_pass_has_what_it_needs_and_a_name_of_its_own() {
    for (family, route) in LISTS {
        let passes = list(family, route);
        for (at, pass) in passes.iter().enumerate() {
            assert!(pass.fits(family, route, &passes[..at]), "{}", pass.name);
            assert!(!pass.does.is_empty() && passes[..at].iter().all(|other| other.name != pass.name), "{}", pass.name);
            let file = StageFile { number: at + 1, pass: pass.name.to_owned() };
            assert_eq!(StageFile::parse(&file.name()), Some(file));
        }
    }
}

#[test]
fn the_stages_that_others_read_are_those_before_and_after_optimization() {
    for (family, route) in LISTS {
        let names = names(family, route);
        let place = |name| names.iter().position(|other| *other == name).unwrap();
        let between = &names[place(RESOLVED) + 1..place(OPTIMIZED)];
        assert!(between.is_empty() || between == ["contract"], "{between:?}");
    }
}

#[test]
fn the_documentation_has_every_pass_in_its_lists() {
    let table: Vec<Vec<&str>> = include_str!("../passes/lists.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `"))
        .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect();
    for (at, (family, route)) in LISTS.into_iter().enumerate() {
        let told: Vec<&str> = table.iter().filter(|row| row[at + 1] == "✓").map(|row| row[0]).collect();
        assert_eq!(told, names(family, route));
    }
    let architecture = include_str!("../../../ARCHITECTURE.md");
    for row in table {
        assert!(architecture.contains(&format!("`{}`", row[0])), "ARCHITECTURE.md has no pass `{}`", row[0]);
    }
}

fn args(more: &[&str]) -> Args {
    let line = ["latch-link", "-", "-o", "-", "--target-cpu", "sm_90"].into_iter().chain(more.iter().copied());
    Args::read(line.map(OsString::from)).unwrap()
}

/// Runs passes on a module with one empty function.
fn run(passes: &[Pass], args: &Args) -> Result<(), Error> {
    let (session, gpu) = (Session::new(), Gpu::new(args)?);
    let mut link = Link::new(args, &session, &gpu, None, Vec::new());
    Pipeline::with(passes, args)?.run(&mut link)
}

const SOUND: Pass = Pass::new("sound", |link| {
    let context = link.module.get_context();
    let function = link.module.add_function("f", context.void_type().fn_type(&[], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    builder.build_return(None).unwrap();
    Ok(())
});
const BREAKING: Pass = Pass::new("breaking", |link| {
    let function = link.module.get_first_function().unwrap();
    function.get_first_basic_block().unwrap().get_terminator().unwrap().erase_from_basic_block();
    Ok(())
});
const NEVER: Pass = Pass::new("never", |_| panic!("the pass before was refused"));

#[test]
fn a_pass_that_breaks_the_module_is_named() {
    let folder = tempfile::TempDir::new().unwrap();
    let args = args(&["--verify-each", "--keep-intermediates", folder.path().to_str().unwrap()]);
    let error = run(&[SOUND, BREAKING, NEVER], &args).unwrap_err().to_string();
    assert!(error.starts_with("LLVM's verifier refuses the module after the pass `breaking`; this is a"), "{error}");
    assert!(error.contains("does not have terminator"), "{error}");
    let kept: Vec<String> = kept(folder.path());
    assert_eq!(kept, ["01-sound.ll", "02-breaking.ll"], "what the verifier has seen is there to be read");
}

#[test]
fn without_verification_it_is_not() {
    let args = args(&[]);
    let (session, gpu) = (Session::new(), Gpu::new(&args).unwrap());
    let mut link = Link::new(&args, &session, &gpu, None, Vec::new());
    let passes = [SOUND, BREAKING];
    let mut pipeline = Pipeline::with(&passes, &args).unwrap();
    pipeline.verifies_each = false;
    assert!(pipeline.run(&mut link).is_ok());
}

#[test]
fn a_pass_that_is_skipped_or_not_wanted_leaves_its_number_free() {
    let skippable = Pass { skip: Skip::Allowed, ..BREAKING };
    let unwanted = Pass { wanted: |_| false, ..NEVER };
    let last = Pass::new("last", |link| {
        let cold = Attribute::get_named_enum_kind_id("cold");
        let function = link.module.get_first_function().unwrap();
        function.add_attribute(AttributeLoc::Function, link.module.get_context().create_enum_attribute(cold, 0));
        Ok(())
    });
    let folder = tempfile::TempDir::new().unwrap();
    let keep = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("05-of-before.ll"), "").unwrap();
    std::fs::write(folder.path().join("of-the-user.ll"), "").unwrap();
    run(&[SOUND, skippable, unwanted, last], &args(&["--keep-intermediates", keep, "--skip-pass", "breaking"]))
        .unwrap();
    assert_eq!(kept(folder.path()), ["01-sound.ll", "04-last.ll", "of-the-user.ll"]);
}

fn kept(folder: &Path) -> Vec<String> {
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
