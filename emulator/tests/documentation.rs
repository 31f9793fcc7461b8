//! The page of supported instructions is what the table says. To write it anew: `BLESS=1 cargo test -p emulator`.

#[test]
fn the_table_of_instructions_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/INSTRUCTIONS.md");
    let head = "# PTX instructions that the emulator runs\n\nGenerated from its table; anything else is an error when a module is loaded. \
                In forms, braces are optional or a choice.\n\n";
    let want = format!("{head}{}", emulator::supported());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &want).expect("the page can be written");
    }
    let have = std::fs::read_to_string(path).unwrap_or_default();
    assert!(have == want, "INSTRUCTIONS.md is not what the table says; run the test with BLESS=1");
}
