//! Hints change no result on a host: edition 2021.

#[cfg(test)]
#[path = "../../twins/mod.rs"]
mod twins;
