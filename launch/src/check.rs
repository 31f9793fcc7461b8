//! What every launcher checks before it touches its device, so that a mistake has the same words on all of them.
//!
//! Targets and parameters are read from the PTX text by the emulator's parser. Text from elsewhere that the parser does
//! not understand may be fine for a driver, which has the last word then: nothing is known of it, and these checks
//! pass.

use emulator::Shape;
use emulator::ast::{self, Ty, Var};

use crate::{Arg, Device, Error, Launcher};

/// What a module's text says of its kernels.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    /// `None` where the text is not understood.
    kernels: Option<Vec<Signature>>,
    owner: u64,
}

/// A kernel's name and parameters.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    pub name: String,
    /// `None` where they are not known.
    parameters: Option<Vec<Parameter>>,
    owner: u64,
}

/// A parameter, as far as an argument has to fit it.
#[derive(Debug, Clone)]
struct Parameter {
    ty: Ty,
    /// For structures and arrays passed by value, their elements.
    array: Option<u64>,
    pointer: bool,
}

impl Text {
    /// What `ptx` says, if it can run on this device at all.
    pub(crate) fn read(ptx: &str, device: &Device) -> Result<Text, Error> {
        if let Some(at) = ptx.find('\0') {
            let why = format!("byte {at} of the text is zero");
            return Err(Error::Load { device: device.name.clone(), why });
        }
        let owner = device.id;
        let Ok(module) = emulator::parse(ptx) else { return Ok(Text { kernels: None, owner }) };
        target(module.target, device)?;
        let entries = module.functions.iter().filter(|function| function.entry);
        Ok(Text { kernels: Some(entries.map(|entry| Signature::of(entry, owner)).collect()), owner })
    }

    /// The kernel of that name, if the module is this device's.
    pub(crate) fn kernel(&self, name: &str, device: &Device) -> Result<Signature, Error> {
        if self.owner != device.id {
            return Err(Error::ForeignModule { what: "the module".to_owned() });
        }
        let known = match &self.kernels {
            None if name.contains('\0') => return Err(no_kernel(name)),
            None => return Ok(Signature { name: name.to_owned(), parameters: None, owner: self.owner }),
            Some(kernels) => kernels,
        };
        let found = known.iter().find(|kernel| kernel.name == name).cloned();
        found.ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|kernel| kernel.name.as_str()).collect();
            let known =
                if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
            Error::NoKernel { name: name.to_owned(), known }
        })
    }
}

/// The error where the module's kernels are not known.
pub(crate) fn no_kernel(name: &str) -> Error {
    Error::NoKernel { name: name.to_owned(), known: "which it has is not known here".to_owned() }
}

/// PTX runs on its target and what is newer; with the suffix `a` on its target alone, with `f` on that target's family.
fn target(target: &str, device: &Device) -> Result<(), Error> {
    let (Some((wanted, suffix)), Some((found, _))) = (number(target), number(&device.arch)) else { return Ok(()) };
    let runs = match suffix {
        "a" => wanted == found,
        "f" => wanted / 10 == found / 10 && wanted <= found,
        _ => wanted <= found,
    };
    if runs { Ok(()) } else { Err(Error::Target { target: target.to_owned(), arch: device.arch.clone() }) }
}

/// `(90, "a")` of `sm_90a`.
fn number(arch: &str) -> Option<(u32, &str)> {
    let digits = arch.strip_prefix("sm_")?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    Some((digits[..end].parse().ok()?, &digits[end..]))
}

impl Signature {
    fn of(function: &ast::Function<'_>, owner: u64) -> Signature {
        let parameters = function.params.iter().map(Parameter::of).collect();
        Signature { name: function.name.to_owned(), parameters: Some(parameters), owner }
    }

    /// Checks a launch, where the kernel takes `fixed` bytes of shared memory in any case.
    pub(crate) fn launch<L: Launcher>(
        &self,
        device: &Device,
        shape: &Shape,
        fixed: u32,
        args: &[Arg<'_, L>],
    ) -> Result<(), Error> {
        if self.owner != device.id {
            return Err(Error::ForeignModule { what: format!("kernel `{}`", self.name) });
        }
        self.arguments(args, device)?;
        self.shape(shape)?;
        self.shared(shape.shared_bytes, fixed, device)
    }

    fn arguments<L: Launcher>(&self, args: &[Arg<'_, L>], device: &Device) -> Result<(), Error> {
        if let Some(parameters) = &self.parameters {
            self.fit(parameters, args)?;
        }
        args.iter().enumerate().try_for_each(|(index, arg)| arg.check_owner(device, index, &self.name))
    }

    fn fit<L: Launcher>(&self, parameters: &[Parameter], args: &[Arg<'_, L>]) -> Result<(), Error> {
        let kernel = self.name.clone();
        let (wanted, given) = (parameters.len(), args.len());
        if wanted != given {
            let known: Vec<String> = parameters.iter().map(Parameter::to_string).collect();
            let parameters = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Error::ArgumentCount { kernel, wanted, given, parameters });
        }
        match parameters.iter().zip(args).position(|(parameter, arg)| !parameter.takes(arg)) {
            None => Ok(()),
            Some(index) => {
                let (wanted, given) = (parameters[index].to_string(), args[index].to_string());
                Err(Error::ArgumentType { kernel, index, wanted, given })
            }
        }
    }

    /// Checks grid and block against what no GPU takes.
    fn shape(&self, shape: &Shape) -> Result<(), Error> {
        let fail = |what: String| Err(Error::Shape { kernel: self.name.clone(), what });
        let Shape { grid, block, .. } = shape;
        let threads: u64 = block.iter().map(|&threads| u64::from(threads)).fold(1, u64::saturating_mul);
        match () {
            () if !(1..=1024).contains(&threads) => fail(format!("a block of {threads} threads; it takes 1 to 1024")),
            () if block[2] > 64 => fail(format!("a block of depth {}; the limit is 64", block[2])),
            () if grid.contains(&0) => fail(format!("a grid of {grid:?}, which has no blocks")),
            () if grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 => {
                fail(format!("a grid of {grid:?}; the limits are 2147483647, 65535 and 65535"))
            }
            () => Ok(()),
        }
    }

    fn shared(&self, dynamic: u32, fixed: u32, device: &Device) -> Result<(), Error> {
        if dynamic.checked_add(fixed).is_some_and(|bytes| bytes <= device.shared_limit) {
            return Ok(());
        }
        let (kernel, arch, limit) = (self.name.clone(), device.arch.clone(), device.shared_limit);
        Err(Error::SharedMemory { kernel, dynamic, fixed, arch, limit })
    }
}

impl Parameter {
    fn of(var: &Var<'_>) -> Parameter {
        Parameter { ty: var.ty, array: var.array.then_some(var.count.unwrap_or(0)), pointer: var.pointer }
    }

    /// A type `.b…` takes any argument of its size, `.u…`, `.s…` and `.f…` their kind, and where PTX says `.ptr`, only
    /// a buffer will do.
    fn takes<L: Launcher>(&self, arg: &Arg<'_, L>) -> bool {
        let untyped = matches!(self.ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64 | Ty::B128);
        let kind = match arg {
            Arg::Buffer(_) | Arg::Null => !self.ty.float(),
            Arg::F32(_) | Arg::F64(_) => !self.pointer && (untyped || self.ty.float()),
            Arg::U32(_) | Arg::U64(_) | Arg::I32(_) => !self.pointer && (untyped || !self.ty.float()),
        };
        kind && self.array.is_none() && arg.bytes() == self.ty.bytes()
    }
}

/// As PTX declares it: `.u32`, `.b64 pointer`, `.b8[24]`.
impl std::fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, ".{}", format!("{:?}", self.ty).to_lowercase())?;
        match (self.array, self.pointer) {
            (Some(elements), _) => write!(formatter, "[{elements}]"),
            (None, true) => formatter.write_str(" pointer"),
            (None, false) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Text, target};
    use crate::{Device, Error};

    fn device(arch: &str) -> Device {
        Device::new("a device".to_owned(), arch.to_owned(), 1000)
    }

    #[test]
    fn ptx_runs_on_its_target_and_newer_ones_unless_it_has_a_suffix() {
        let runs = |ptx: &str, arch: &str| target(ptx, &device(arch)).is_ok();
        assert!(runs("sm_80", "sm_80") && runs("sm_80", "sm_120") && runs("sm_90", "sm_100"));
        assert!(!runs("sm_90", "sm_80") && !runs("sm_100", "sm_90"));
        assert!(runs("sm_90a", "sm_90") && runs("sm_90a", "sm_90a") && !runs("sm_90a", "sm_100"));
        assert!(runs("sm_100f", "sm_103") && !runs("sm_100f", "sm_110") && !runs("sm_103f", "sm_100"));
        assert!(runs("sm_80", "sm_90a"), "the device's own suffix does not matter");
    }

    #[test]
    fn text_that_is_not_understood_is_left_to_the_driver() {
        let device = device("sm_90");
        let text = Text::read("something new", &device).expect("it may be right");
        let kernel = text.kernel("any", &device).expect("the driver knows");
        assert_eq!(kernel.arguments::<crate::Emulator>(&[1u32.into()], &device), Ok(()));
        assert!(matches!(text.kernel("a\0", &device), Err(Error::NoKernel { .. })));
        assert!(matches!(Text::read("a\0", &device), Err(Error::Load { .. })));
    }
}
