//! The markers of a function: calls that name their site by a constant string.

use crate::{Error, ffi, graph::FunctionGraph};
use codegen_pass::{Block, Marker, Role, number_sites};
use hint_record::{Request, Site, marker};
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue};

/// The markers of one function, in the order of execution within each block.
#[derive(Default)]
pub struct Markers<'ctx> {
    /// For [`codegen_pass::resolve`].
    pub list: Vec<Marker>,
    /// The call of each, in the same order.
    pub calls: Vec<InstructionValue<'ctx>>,
    /// What each asks for; nothing, where it is an enter marker.
    requests: Vec<Option<Request>>,
    /// The sites, by [`codegen_pass::SiteId`].
    sites: Vec<Site>,
}

/// A marker as it stands in the code.
struct Found<'ctx> {
    call: InstructionValue<'ctx>,
    block: Block,
    role: Role,
    site: Site,
    request: Option<Request>,
}

impl<'ctx> Markers<'ctx> {
    /// Collects the markers of a function, whose graph is given.
    pub fn of(function: FunctionValue<'ctx>, graph: &FunctionGraph<'ctx>) -> Result<Markers<'ctx>, Error> {
        let mut found = Vec::new();
        for (number, block) in graph.llvm_blocks().iter().enumerate() {
            for call in block.get_instructions() {
                if let Some(role) = role_of(call) {
                    found.push(read(function, call, role, Block::new(number))?);
                }
            }
        }
        Ok(Markers::numbered(found))
    }

    fn numbered(found: Vec<Found<'ctx>>) -> Markers<'ctx> {
        let ids = number_sites(found.iter().map(|marker| marker.site.clone()));
        let mut markers = Markers::default();
        for Found { call, block, role, site, request } in found {
            markers.list.push(Marker { block, role, site: ids[&site] });
            markers.calls.push(call);
            markers.requests.push(request);
        }
        markers.sites = ids.into_keys().collect();
        markers
    }

    /// The site that a marker names.
    pub fn site(&self, marker: usize) -> &Site {
        &self.sites[self.list[marker].site.0 as usize]
    }

    /// What a body marker asks for.
    pub fn request(&self, marker: usize) -> Request {
        self.requests[marker].expect("a body marker asks for something")
    }

    /// Removes every call.
    pub fn erase(self) {
        for call in self.calls {
            call.erase_from_basic_block();
        }
    }
}

fn read<'ctx>(
    function: FunctionValue<'ctx>,
    call: InstructionValue<'ctx>,
    role: Role,
    block: Block,
) -> Result<Found<'ctx>, Error> {
    let symbol = || function.get_name().to_string_lossy().into_owned();
    let unreadable = || Error::UnreadableMarker {
        function: symbol(),
        instruction: call.to_string().trim().trim_matches('"').trim().to_owned(),
    };
    let site = read_site(call).ok_or_else(unreadable)?.parse();
    let site: Site = site.map_err(|source| Error::Site { function: symbol(), source })?;
    let request = match role {
        Role::Enter => None,
        Role::Body => Some(Request::of_marker(site.kind, constant_operand(call, 2).ok_or_else(unreadable)?)),
    };
    Ok(Found { call, block, role, site, request })
}

/// A function with a body is nobody's marker, whatever its name.
fn role_of(instruction: InstructionValue<'_>) -> Option<Role> {
    if instruction.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    let callee = ffi::called_function(instruction).filter(|function| function.count_basic_blocks() == 0)?;
    match callee.get_name().to_bytes() {
        name if name == marker::ENTER.as_bytes() => Some(Role::Enter),
        name if name == marker::BODY.as_bytes() => Some(Role::Body),
        _ => None,
    }
}

fn read_site(call: InstructionValue<'_>) -> Option<String> {
    let BasicValueEnum::PointerValue(start) = call.get_operand(0)?.value()? else { return None };
    let length = constant_operand(call, 1)?;
    String::from_utf8(ffi::constant_bytes(start, length)?).ok()
}

fn constant_operand(call: InstructionValue<'_>, at: u32) -> Option<u64> {
    // The callee is an operand too, and no argument.
    let is_argument = at + 1 < call.get_num_operands();
    let BasicValueEnum::IntValue(value) = call.get_operand(at).filter(|_| is_argument)?.value()? else { return None };
    value.get_zero_extended_constant()
}
