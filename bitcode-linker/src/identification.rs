//! Which LLVM wrote a bitcode file.
//!
//! LLVM reads older bitcode by upgrading it and newer bitcode by luck, so the linker looks for itself. A bitcode file
//! starts with the identification block, whose string record names the producer ("LLVM22.1.8"). This module reads as
//! much of the bitstream format (llvm.org/docs/BitCodeFormat.html) as that takes: one block, its abbreviation
//! definitions, and records.

const MAGIC: u64 = 0xdec0_4342;
const WRAPPER_MAGIC: u32 = 0x0b17_c0de;
const IDENTIFICATION_BLOCK: u64 = 13;
const STRING_RECORD: u64 = 1;

/// No record of the identification block comes near it. Without a limit, a damaged count would fill the memory.
const LONGEST_RECORD: u64 = 4096;

const END_BLOCK: u64 = 0;
const ENTER_SUBBLOCK: u64 = 1;
const DEFINE_ABBREVIATION: u64 = 2;
const UNABBREVIATED_RECORD: u64 = 3;

/// The producer that a bitcode file names. None where `bitcode` does not start as bitcode does.
pub fn producer(bitcode: &[u8]) -> Option<String> {
    let mut bits = Bits { data: strip_wrapper(bitcode)?, at: 0 };
    if bits.fixed(32)? != MAGIC || bits.fixed(2)? != ENTER_SUBBLOCK || bits.vbr(8)? != IDENTIFICATION_BLOCK {
        return None;
    }
    let width = bits.vbr(4)?;
    bits.align();
    bits.fixed(32)?; // the block's length
    let mut abbreviations = Vec::new();
    loop {
        let record = match bits.fixed(width)? {
            END_BLOCK | ENTER_SUBBLOCK => return None,
            DEFINE_ABBREVIATION => {
                abbreviations.push(Abbreviation::read(&mut bits)?);
                continue;
            }
            UNABBREVIATED_RECORD => bits.unabbreviated_record()?,
            id => abbreviations.get(usize::try_from(id - 4).ok()?)?.record(&mut bits)?,
        };
        if let [STRING_RECORD, text @ ..] = &record[..] {
            return text.iter().map(|&letter| char::from_u32(u32::try_from(letter).ok()?)).collect();
        }
    }
}

/// The release series in a producer's name: 22 in "LLVM22.1.8".
pub fn major(producer: &str) -> Option<u32> {
    let version = producer.strip_prefix("LLVM")?;
    version.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// Some systems put a header before the bitcode: magic, version, then offset and size of what follows.
fn strip_wrapper(bitcode: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| Some(u32::from_le_bytes(bitcode.get(at..at + 4)?.try_into().ok()?));
    if word(0)? != WRAPPER_MAGIC {
        return Some(bitcode);
    }
    let (offset, size) = (word(8)? as usize, word(12)? as usize);
    bitcode.get(offset..offset.checked_add(size)?)
}

/// A reader of little-endian bit fields. Every read fails beyond the end.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn fixed(&mut self, width: u64) -> Option<u64> {
        let mut value = 0;
        for place in 0..(width <= 64).then_some(width)? {
            let bit = self.data.get(self.at / 8)? >> (self.at % 8) & 1;
            value |= u64::from(bit) << place;
            self.at += 1;
        }
        Some(value)
    }

    /// Chunks of `width` bits, of which the highest says that another follows.
    fn vbr(&mut self, width: u64) -> Option<u64> {
        let more = 1u64.checked_shl(u32::try_from(width).ok()?.checked_sub(1)?)?;
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let chunk = self.fixed(width)?;
            value |= (chunk & (more - 1)).checked_shl(shift)?;
            if chunk & more == 0 {
                return Some(value);
            }
            shift += width as u32 - 1;
        }
    }

    /// How many fields follow.
    fn count(&mut self, width: u64) -> Option<u64> {
        self.vbr(width).filter(|&count| count <= LONGEST_RECORD)
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }

    fn unabbreviated_record(&mut self) -> Option<Vec<u64>> {
        let code = self.vbr(6)?;
        let mut record = vec![code];
        for _ in 0..self.count(6)? {
            record.push(self.vbr(6)?);
        }
        Some(record)
    }
}

/// How one field of a record is written.
#[derive(Clone, Copy)]
enum Field {
    Literal(u64),
    Fixed(u64),
    Vbr(u64),
    Char6,
    /// A count, then that many of the next field.
    Array,
}

struct Abbreviation(Vec<Field>);

impl Abbreviation {
    fn read(bits: &mut Bits<'_>) -> Option<Abbreviation> {
        let mut fields = Vec::new();
        for _ in 0..bits.count(5)? {
            let is_literal = bits.fixed(1)? == 1;
            fields.push(if is_literal {
                Field::Literal(bits.vbr(8)?)
            } else {
                match bits.fixed(3)? {
                    1 => Field::Fixed(bits.vbr(5)?),
                    2 => Field::Vbr(bits.vbr(5)?),
                    3 => Field::Array,
                    4 => Field::Char6,
                    _ => return None,
                }
            });
        }
        Some(Abbreviation(fields))
    }

    fn record(&self, bits: &mut Bits<'_>) -> Option<Vec<u64>> {
        let mut record = Vec::new();
        let mut fields = self.0.iter();
        while let Some(&field) = fields.next() {
            if let Field::Array = field {
                let element = *fields.next()?;
                for _ in 0..bits.count(6)? {
                    record.push(element.read(bits)?);
                }
            } else {
                record.push(field.read(bits)?);
            }
        }
        Some(record)
    }
}

impl Field {
    fn read(self, bits: &mut Bits<'_>) -> Option<u64> {
        match self {
            Field::Literal(value) => Some(value),
            Field::Fixed(width) => bits.fixed(width),
            Field::Vbr(width) => bits.vbr(width),
            Field::Char6 => {
                let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
                Some(u64::from(letters[bits.fixed(6)? as usize]))
            }
            Field::Array => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use proptest::prelude::*;

    fn bitcode() -> Vec<u8> {
        Context::create().create_module("test").write_bitcode_to_memory().as_slice().to_vec()
    }

    #[test]
    fn the_producer_of_a_module_is_this_llvm() {
        let producer = producer(&bitcode()).expect("LLVM names itself");
        assert!(producer.starts_with("LLVM22."), "{producer}");
        assert_eq!(major(&producer), Some(crate::inputs::LLVM_MAJOR));
    }

    #[test]
    fn release_series_are_read_from_every_vendors_name() {
        let names =
            [("LLVM22.1.8", Some(22)), ("LLVM22.1.2-rust-1.96.0-stable", Some(22)), ("LLVM23.0.0git", Some(23))];
        let others =
            [("LLVM", None), ("LLVM.1", None), ("APPLE_1_1316.0.21.2_0", None), ("", None), ("LLVM99999999999", None)];
        for (name, expected) in names.into_iter().chain(others) {
            assert_eq!(major(name), expected, "{name}");
        }
    }

    #[test]
    fn it_is_read_with_the_rest_of_the_file_gone() {
        let whole = bitcode();
        let expected = producer(&whole);
        let shortest = (0..whole.len()).find(|&length| producer(&whole[..length]) == expected).expect("it is there");
        assert!(shortest < 100, "the identification comes first");
        for length in 0..shortest {
            assert_eq!(producer(&whole[..length]), None, "{length} bytes are not enough");
        }
    }

    /// Writes bit fields, for blocks that no LLVM writes.
    #[derive(Default)]
    struct Writer(Vec<bool>);

    impl Writer {
        fn fixed(&mut self, value: u64, width: usize) -> &mut Writer {
            self.0.extend((0..width).map(|place| value >> place & 1 == 1));
            self
        }

        fn block() -> Writer {
            let mut writer = Writer::default();
            writer.fixed(MAGIC, 32).fixed(ENTER_SUBBLOCK, 2).fixed(IDENTIFICATION_BLOCK, 8).fixed(5, 4);
            let aligned = writer.0.len().next_multiple_of(32);
            writer.0.resize(aligned, false);
            writer.fixed(0, 32);
            writer
        }

        fn bytes(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| bits.iter().enumerate().map(|(place, &bit)| u8::from(bit) << place).sum();
            self.0.chunks(8).map(byte).collect()
        }
    }

    #[test]
    fn records_without_abbreviation_are_read() {
        let mut writer = Writer::block();
        writer.fixed(UNABBREVIATED_RECORD, 5).fixed(STRING_RECORD, 6).fixed(2, 6);
        writer.fixed(32 | (u64::from(b'A') & 31), 6).fixed(u64::from(b'A') >> 5, 6);
        writer.fixed(32 | (u64::from(b'9') & 31), 6).fixed(u64::from(b'9') >> 5, 6);
        assert_eq!(producer(&writer.bytes()).as_deref(), Some("A9"));
    }

    #[test]
    fn an_array_of_nothing_does_not_fill_the_memory() {
        // An abbreviation whose array has elements of no bits, and a record of 2^60 of them.
        let mut writer = Writer::block();
        writer.fixed(DEFINE_ABBREVIATION, 5).fixed(2, 5);
        writer.fixed(0, 1).fixed(3, 3);
        writer.fixed(0, 1).fixed(1, 3).fixed(0, 5);
        writer.fixed(4, 5);
        for _ in 0..12 {
            writer.fixed(32, 6);
        }
        writer.fixed(1, 6).fixed(0, 64);
        assert_eq!(producer(&writer.bytes()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn random_bytes_are_no_trouble(data in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(producer(&data), None);
        }

        #[test]
        fn random_blocks_are_no_trouble(bits in prop::collection::vec(any::<bool>(), 0..600)) {
            let mut writer = Writer::block();
            writer.0.extend(bits);
            let _ = producer(&writer.bytes());
        }

        #[test]
        fn damage_is_no_trouble(flips in prop::collection::vec((0..600usize, 0..8u8), 1..20), length in 0..600usize) {
            let mut data = bitcode();
            data.truncate(length);
            for (at, bit) in flips {
                if let Some(byte) = data.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            let _ = producer(&data);
        }
    }
}
