//! What others measured, and what the machine allows: both for an H200, 16 heads of keys and 32 of values, 128 elements,
//! bfloat16.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Sequences, Shape};

/// Milliseconds that are published for an H200. None of them was measured here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// For these sequences.
    pub sequences: Sequences,
    /// FlashQLA.
    pub flash_qla: f32,
    /// FlashInfer.
    pub flash_infer: f32,
    /// FLA, in Triton.
    pub fla: f32,
}

const fn figures(count: u32, tokens: u32, [flash_qla, flash_infer, fla]: [f32; 3]) -> Published {
    Published { sequences: Sequences { count, tokens }, flash_qla, flash_infer, fla }
}

/// All that are published.
pub const PUBLISHED: [Published; 4] = [
    figures(1, 2048, [0.109, 0.106, 0.132]),
    figures(1, 8192, [0.280, 0.394, 0.472]),
    figures(1, 32768, [0.877, 1.550, 1.890]),
    figures(4, 8192, [0.611, 0.425, 1.898]),
];

impl Published {
    /// The figures for a shape.
    pub fn of(shape: &Shape) -> Option<&'static Published> {
        let is_of = |figures: &&Published| Shape::of_models(figures.sequences) == *shape;
        PUBLISHED.iter().find(is_of)
    }
}

/// The least milliseconds on an H200 by its memory, by its tensor cores in bf16, and by its other cores in f32.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floors {
    /// 4.8 TB/s, every array read or written once.
    pub memory: f64,
    /// 989 TFLOPS, chunks of 64.
    pub tensor_cores: f64,
    /// 67 TFLOPS, chunks of 64.
    pub cores: f64,
}

impl Floors {
    /// The floors for a shape, in bf16.
    pub fn of(shape: &Shape) -> Floors {
        let sizes = shape.sizes();
        // Queries and keys, values and outputs, gates and betas, states before and after.
        let bytes = 2 * 2 * (sizes.keys() + sizes.values()) + 2 * 4 * (sizes.gates() + sizes.states());
        let flops = flops_per_token(f64::from(shape.dk), f64::from(shape.dv)) * sizes.gates() as f64;
        let milliseconds = |amount: f64, per_second: f64| 1e3 * amount / per_second;
        Floors {
            memory: milliseconds(bytes as f64, 4.8e12),
            tensor_cores: milliseconds(flops, 989e12),
            cores: milliseconds(flops, 67e12),
        }
    }
}

/// Operations of a head for one token, in chunks of 64: keys and queries with the state, and its update; keys with keys and
/// with queries; the system inverted and applied, and what its solution adds to the outputs.
fn flops_per_token(dk: f64, dv: f64) -> f64 {
    let chunk = 64.0;
    6.0 * dk * dv + 4.0 * chunk * (dk + dv) + chunk * chunk / 3.0
}

/// Times of another implementation on this machine: lines `1 x 2048 0.132`, and notes after `#`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beside {
    /// Milliseconds.
    pub times: Vec<(Sequences, f32)>,
    /// What is to be known of them.
    pub notes: Vec<String>,
}

impl Beside {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Beside> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut beside = Beside::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.strip_prefix('#') {
                Some(note) => beside.notes.push(note.trim().to_owned()),
                None => beside
                    .times
                    .push(time(line).with_context(|| format!("{}: `{line}` is not `1 x 2048 0.132`", path.display()))?),
            }
        }
        Ok(beside)
    }

    /// Milliseconds for a shape.
    pub fn of(&self, shape: &Shape) -> Option<f32> {
        let is_of = |sequences: &Sequences| Shape::of_models(*sequences) == *shape;
        self.times.iter().find(|(sequences, _)| is_of(sequences)).map(|(_, time)| *time)
    }
}

fn time(line: &str) -> Option<(Sequences, f32)> {
    let [count, "x", tokens, time] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    Some((Sequences { count: count.parse().ok()?, tokens: tokens.parse().ok()? }, time.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Beside, Floors, Sequences, Shape};

    /// By hand: 165,205 operations a token and head; 24.8 KB a token and 4.2 MB of states.
    #[test]
    fn floors_of_the_published_sizes() {
        for (tokens, memory, tensor_cores, cores) in
            [(2048, 0.0115, 0.0109, 0.162), (8192, 0.0432, 0.0438, 0.646), (32768, 0.170, 0.175, 2.585)]
        {
            let floors = Floors::of(&Shape::of_models(Sequences { count: 1, tokens }));
            for (found, wanted) in [(floors.memory, memory), (floors.tensor_cores, tensor_cores), (floors.cores, cores)]
            {
                assert!((found / wanted - 1.0).abs() < 0.006, "{tokens}: {found}, not {wanted}");
            }
        }
    }

    #[test]
    fn times_of_another_are_read_line_by_line() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("times");
        std::fs::write(&file, "# version 1\n1 x 2048 0.132\n\n4 x 8192 1.9\n").expect("a file can be written");
        let beside = Beside::read(&file).expect("the lines are right");
        let of = |count, tokens| beside.of(&Shape::of_models(Sequences { count, tokens }));
        assert_eq!((of(1, 2048), of(4, 8192), of(1, 8192)), (Some(0.132), Some(1.9), None));
        assert_eq!(beside.notes, ["version 1"]);
        for wrong in ["1 x 2048", "1 * 2048 0.1", "1 x 2048 fast", "Traceback:"] {
            std::fs::write(&file, wrong).expect("a file can be written");
            assert!(Beside::read(&file).is_err(), "{wrong}");
        }
    }
}
