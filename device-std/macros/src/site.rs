//! The site of a hinted loop: its kind, package, file, line and column.
//!
//! The file is relative to the package, with forward slashes, so that the same source gives the same site on every
//! machine. A file outside the package (by `#[path]`) keeps the path under which the compiler knows it.

use hint_record::{HintKind, Site};
use proc_macro2::Span;
use std::path::{Path, PathBuf};

/// The site of the loop whose keyword is at `keyword`.
pub fn of(kind: HintKind, keyword: Span) -> Site {
    let of_cargo = |name| std::env::var(name).unwrap_or_default();
    // Two versions of a package may be in one build.
    let package = Site::package_id(&of_cargo("CARGO_PKG_NAME"), &of_cargo("CARGO_PKG_VERSION"));
    let (line, column) = hint_syntax::place(keyword);
    Site { kind, package, file: file(keyword), line, column }
}

fn file(keyword: Span) -> String {
    let within_package = keyword.local_file().and_then(|path| {
        let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
        let path = std::env::current_dir().ok()?.join(path);
        relative(&path, &root).or_else(|| relative(&path.canonicalize().ok()?, &root.canonicalize().ok()?))
    });
    within_package.unwrap_or_else(|| keyword.file().replace('\\', "/"))
}

fn relative(path: &Path, root: &Path) -> Option<String> {
    let steps = path.strip_prefix(root).ok()?.components();
    Some(steps.map(|step| step.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::{of, relative};
    use hint_record::HintKind;
    use std::path::Path;

    #[test]
    fn a_site_is_where_the_keyword_is() {
        let parsed: syn::ExprLoop = syn::parse_str("\n /* ä */ 'a: loop {}").expect("a loop");
        let site = of(HintKind::Nounroll, parsed.loop_token.span);
        assert_eq!(
            (site.kind, site.package.as_str()),
            (HintKind::Nounroll, concat!("device-std-macros@", env!("CARGO_PKG_VERSION")))
        );
        assert_eq!((site.line, site.column), (2, 14));
    }

    #[test]
    fn a_file_is_named_from_its_package() {
        assert_eq!(
            relative(Path::new("/a/kernels/src/lib.rs"), Path::new("/a/kernels")).as_deref(),
            Some("src/lib.rs")
        );
        assert_eq!(relative(Path::new("/a/kernels-2/src/lib.rs"), Path::new("/a/kernels")), None);
    }
}
