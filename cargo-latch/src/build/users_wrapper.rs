//! The program that a user has set to stand before the compiler, such as sccache.
//!
//! cargo knows one such place, and `latch-rustc` stands there; so the user's is looked for as cargo would, and called
//! from it. The environment goes before configuration files, and of these the nearest before those above it and the
//! user's own.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

const VARIABLES: [&str; 2] = ["RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"];

/// The wrapper that cargo would use in a folder; none also where it is set to nothing.
pub fn users_wrapper(folder: &Path) -> Option<OsString> {
    let set = VARIABLES.into_iter().find_map(env::var_os);
    let found = set.or_else(|| configuration_files(folder).iter().find_map(|file| configured(file)));
    found.filter(|wrapper| !wrapper.is_empty())
}

/// The files in which cargo would look for its configuration in a folder, the nearest first.
pub(crate) fn configuration_files(folder: &Path) -> Vec<PathBuf> {
    let own = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(own);
    folders.flat_map(|folder| [folder.join("config"), folder.join("config.toml")]).collect()
}

/// `build.rustc-wrapper` of a file. A path with a slash starts where the file's folder `.cargo` lies.
fn configured(file: &Path) -> Option<OsString> {
    let table: toml::Table = fs::read_to_string(file).ok()?.parse().ok()?;
    let wrapper = table.get("build")?.get("rustc-wrapper")?.as_str()?;
    let above = file.parent()?.parent()?;
    Some(if wrapper.contains('/') { above.join(wrapper).into_os_string() } else { wrapper.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_file_names_the_wrapper() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join(".cargo/config.toml");
        fs::create_dir(folder.path().join(".cargo")).expect("a folder can be made");
        let wrapper = |text: &str| {
            fs::write(&file, text).expect("written");
            configured(&file)
        };
        assert_eq!(wrapper("[build]\nrustc-wrapper = \"sccache\"\n"), Some("sccache".into()));
        assert_eq!(wrapper("[build]\nrustc-wrapper = \"bin/w\"\n"), Some(folder.path().join("bin/w").into()));
        assert_eq!(wrapper("[build]\njobs = 1\n"), None);
        assert_eq!(wrapper("no toml"), None);
        assert!(configuration_files(&folder.path().join("a/b")).contains(&file), "also from folders below");
    }
}
