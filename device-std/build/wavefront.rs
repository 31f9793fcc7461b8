//! The width of AMD's wavefronts, from the flags of the compiler.

/// The width that the compiler will assume: a feature, or else what the processor starts with.
pub fn width(flags: &[&str]) -> Option<u32> {
    let values = |key: &str| -> Vec<String> {
        let joined = flags.iter().filter_map(|flag| flag.strip_prefix("-C").or(flag.strip_prefix("--codegen=")));
        let apart = flags.windows(2).filter(|pair| ["-C", "--codegen"].contains(&pair[0])).map(|pair| pair[1]);
        joined.chain(apart).filter_map(|option| option.trim_start().strip_prefix(key)).map(str::to_owned).collect()
    };
    let features = values("target-feature=");
    let feature = features.iter().flat_map(|list| list.split(',')).rev().find_map(|feature| match feature {
        "+wavefrontsize64" => Some(64),
        "+wavefrontsize32" => Some(32),
        _ => None,
    });
    feature.or_else(|| default_wavefront(values("target-cpu=").last()?))
}

/// Generations 6 to 9 have 64 lanes; later ones start with 32. `gfx90a`, `gfx1100` and `gfx10-3-generic` are names: the
/// last two digits of the first form are model and stepping.
fn default_wavefront(processor: &str) -> Option<u32> {
    let name = processor.strip_prefix("gfx")?;
    let major = match name.split_once('-') {
        Some((major, _)) => major,
        None => name.get(..name.len().checked_sub(2)?)?,
    };
    let major: u32 = major.parse().ok()?;
    Some(if major < 10 { 64 } else { 32 })
}
