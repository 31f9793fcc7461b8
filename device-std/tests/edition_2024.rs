//! Hints change no result on a host: edition 2024.

mod twins;
