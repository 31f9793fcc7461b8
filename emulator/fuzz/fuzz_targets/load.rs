//! Any text loads or gives an error; what loads runs to an end.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../any_text.rs"]
mod any_text;

fuzz_target!(|text: &str| {
    any_text::any_text(text);
});
