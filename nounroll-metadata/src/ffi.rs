//! The few calls of LLVM's C API that inkwell has no safe form for, each behind a function that cannot be misused.
//!
//! What the functions take and return are inkwell's types, whose lifetime is that of the context, so a value cannot
//! outlive the module's memory.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::context::AsContextRef;
use inkwell::context::ContextRef;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::{
    LLVMCanValueUseFastMathFlags, LLVMConstIntGetZExtValue, LLVMGetAsString, LLVMGetCalledValue, LLVMGetConstOpcode,
    LLVMGetFastMathFlags, LLVMGetInitializer, LLVMGetIntTypeWidth, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands,
    LLVMGetMDString, LLVMGetNumOperands, LLVMGetNumSuccessors, LLVMGetOperand, LLVMGetSuccessor, LLVMIsAConstantExpr,
    LLVMIsAConstantInt, LLVMIsAConstantStruct, LLVMIsAGlobalVariable, LLVMIsAInlineAsm, LLVMIsAMDNode, LLVMIsAMDString,
    LLVMIsConstantString, LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMSetFastMathFlags,
    LLVMSetMetadata, LLVMSetSuccessor, LLVMTypeOf, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{
    LLVMDIBuilderCreateDebugLocation, LLVMDIFileGetFilename, LLVMDILocationGetInlinedAt, LLVMDILocationGetLine,
    LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMGetMetadataKind, LLVMInstructionGetDebugLoc,
    LLVMInstructionSetDebugLoc, LLVMMetadataKind, LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode,
};
use inkwell::llvm_sys::prelude::{LLVMMetadataRef, LLVMValueRef};
use inkwell::values::{
    AsValueRef, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, IntValue, MetadataValue, PhiValue,
    PointerValue,
};
use std::marker::PhantomData;
use std::ptr;

/// The blocks that a terminator can go to, in operand order, repetitions included.
pub fn successors<'ctx>(terminator: InstructionValue<'ctx>) -> Vec<BasicBlock<'ctx>> {
    debug_assert!(terminator.is_terminator());
    let raw = terminator.as_value_ref();
    // SAFETY: `raw` is a live terminator, and the index stays below the count that LLVM gave for it. The block that
    // comes back belongs to the same function, so it lives as long as `'ctx`.
    unsafe { (0..LLVMGetNumSuccessors(raw)).filter_map(|at| BasicBlock::new(LLVMGetSuccessor(raw, at))).collect() }
}

/// Sends every edge of `terminator` that goes to `from` to `to` instead. Phi nodes are the caller's business.
pub fn redirect(terminator: InstructionValue<'_>, from: BasicBlock<'_>, to: BasicBlock<'_>) {
    let raw = terminator.as_value_ref();
    for (at, target) in successors(terminator).into_iter().enumerate() {
        if target == from {
            // SAFETY: `raw` is a live terminator, `at` counts its successors, and `to` is a live block.
            unsafe { LLVMSetSuccessor(raw, at as u32, to.as_mut_ptr()) }
        }
    }
}

/// Gives `to` the fast-math flags of `from`, if its type has any.
pub fn copy_fast_math(from: PhiValue<'_>, to: PhiValue<'_>) {
    // SAFETY: both are live instructions, and flags are asked for and set only where LLVM says that there are some.
    unsafe {
        if LLVMCanValueUseFastMathFlags(from.as_value_ref()) != 0 {
            LLVMSetFastMathFlags(to.as_value_ref(), LLVMGetFastMathFlags(from.as_value_ref()));
        }
    }
}

/// The function that a call names; none where it calls through a pointer, or inline assembly.
pub fn called_function<'ctx>(call: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    // SAFETY: what is not null is a live value; it is checked to be a function.
    called_value(call).and_then(|callee| unsafe { FunctionValue::new(callee) })
}

/// Is the callee of this call a piece of inline assembly?
pub fn calls_inline_asm(call: InstructionValue<'_>) -> bool {
    // SAFETY: the callee is a live value.
    called_value(call).is_some_and(|callee| unsafe { !LLVMIsAInlineAsm(callee).is_null() })
}

/// Is this a call that all threads of a warp make together, by its own word or by that of what it calls?
pub fn is_convergent(instruction: InstructionValue<'_>) -> bool {
    let kind = Attribute::get_named_enum_kind_id("convergent");
    let has = |found: Option<Attribute>| found.is_some();
    let Ok(call) = CallSiteValue::try_from(instruction) else { return false };
    let of_callee = || called_function(instruction).map(|f| f.get_enum_attribute(AttributeLoc::Function, kind));
    has(call.get_enum_attribute(AttributeLoc::Function, kind)) || of_callee().is_some_and(has)
}

fn called_value(call: InstructionValue<'_>) -> Option<LLVMValueRef> {
    let is_call =
        matches!(call.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke | InstructionOpcode::CallBr);
    // SAFETY: `call` is a live call of some kind, which has a callee.
    is_call.then(|| unsafe { LLVMGetCalledValue(call.as_value_ref()) })
}

/// The first `length` bytes of the constant that `pointer` is the address of, if it is a global with such an
/// initializer. rustc writes a string as an array of bytes, plain or in a struct of one field. On AMD's GPUs constants
/// lie in an address space of their own, and the pointer is a cast of their address.
pub fn constant_bytes(pointer: PointerValue<'_>, length: u64) -> Option<Vec<u8>> {
    // SAFETY: `pointer` is a live value. Each call gets what the one before it has shown the value to be: the
    // initializer only of a global variable, operand 0 only of a struct that has one, the bytes only of a constant
    // string; LLVM owns those bytes, and they are copied before anything could free them.
    unsafe {
        let global = LLVMIsAGlobalVariable(without_space_cast(pointer.as_value_ref()));
        let initializer = (!global.is_null()).then(|| LLVMGetInitializer(global)).filter(|value| !value.is_null())?;
        let is_wrapper = !LLVMIsAConstantStruct(initializer).is_null() && LLVMGetNumOperands(initializer) == 1;
        let string = if is_wrapper { LLVMGetOperand(initializer, 0) } else { initializer };
        if LLVMIsConstantString(string) == 0 {
            return None;
        }
        let mut held = 0;
        let bytes = LLVMGetAsString(string, &mut held);
        let length = usize::try_from(length).ok().filter(|&length| length <= held)?;
        Some(std::slice::from_raw_parts(bytes.cast::<u8>(), length).to_vec())
    }
}

/// What a constant cast between address spaces is of; any other value as it is.
///
/// # Safety
/// `value` is live.
unsafe fn without_space_cast(value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the opcode is asked only of a constant expression, and the operand only of a cast, which has one.
    unsafe {
        let is_expression = !LLVMIsAConstantExpr(value).is_null();
        let is_cast = is_expression && LLVMGetConstOpcode(value) == LLVMOpcode::LLVMAddrSpaceCast;
        if is_cast { LLVMGetOperand(value, 0) } else { value }
    }
}

/// The operands of a metadata node; none of what is no node.
fn raw_operands(node: MetadataValue<'_>) -> Vec<LLVMValueRef> {
    let raw = node.as_value_ref();
    // SAFETY: LLVM has said that `raw` is a node, and the array is as long as LLVM says it must be.
    unsafe {
        if LLVMIsAMDNode(raw).is_null() {
            return Vec::new();
        }
        let mut operands: Vec<LLVMValueRef> = vec![ptr::null_mut(); LLVMGetMDNodeNumOperands(raw) as usize];
        LLVMGetMDNodeOperands(raw, operands.as_mut_ptr());
        operands
    }
}

/// The operands of a metadata node that are nodes or strings; none in the place of others, such as numbers.
pub fn node_operands<'ctx>(node: MetadataValue<'ctx>) -> Vec<Option<MetadataValue<'ctx>>> {
    let wrap = |operand: LLVMValueRef| {
        // SAFETY: both questions may be asked of any value, null included. What is a node or a string is what inkwell's
        // type is for, and lives as long as the context.
        unsafe {
            let is_metadata = !LLVMIsAMDNode(operand).is_null() || !LLVMIsAMDString(operand).is_null();
            is_metadata.then(|| MetadataValue::new(operand))
        }
    };
    raw_operands(node).into_iter().map(wrap).collect()
}

/// The operand of a metadata node at a position, if it is an integer.
pub fn number_operand(node: MetadataValue<'_>, at: usize) -> Option<u64> {
    let number = *raw_operands(node).get(at)?;
    // SAFETY: the operand is live or null, of which LLVM says that it is no integer; the number is asked only of what
    // LLVM has said is one, and only where it fits.
    unsafe {
        let is_number = !LLVMIsAConstantInt(number).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(number)) <= 64;
        is_number.then(|| LLVMConstIntGetZExtValue(number))
    }
}

/// The text of a metadata string; none if `value` is something else.
pub fn metadata_string(value: MetadataValue<'_>) -> Option<String> {
    let raw = value.as_value_ref();
    // SAFETY: the text is asked for only after LLVM has said that `raw` is a metadata string, and it is copied.
    unsafe {
        if LLVMIsAMDString(raw).is_null() {
            return None;
        }
        let mut length = 0;
        let text = LLVMGetMDString(raw, &mut length);
        Some(String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), length as usize)).into_owned())
    }
}

/// Metadata under construction: what a node can hold.
#[derive(Clone, Copy)]
pub struct Metadata(LLVMMetadataRef);

/// Makes nodes in one context.
pub struct MetadataBuilder<'ctx> {
    context: ContextRef<'ctx>,
}

impl<'ctx> MetadataBuilder<'ctx> {
    /// A builder for nodes of `context`.
    pub fn new(context: ContextRef<'ctx>) -> MetadataBuilder<'ctx> {
        MetadataBuilder { context }
    }

    /// A metadata string.
    pub fn string(&self, text: &str) -> Metadata {
        // SAFETY: LLVM copies `text.len()` bytes from a live string.
        Metadata(unsafe { LLVMMDStringInContext2(self.context.as_ctx_ref(), text.as_ptr().cast(), text.len()) })
    }

    /// A number.
    pub fn constant(&self, value: IntValue<'ctx>) -> Metadata {
        // SAFETY: `value` is a live constant of this context.
        Metadata(unsafe { LLVMValueAsMetadata(value.as_value_ref()) })
    }

    /// Metadata that was read from a module of this context.
    pub fn existing(&self, value: MetadataValue<'ctx>) -> Metadata {
        // SAFETY: `value` is live; for metadata wrapped as a value LLVM gives back what is wrapped.
        Metadata(unsafe { LLVMValueAsMetadata(value.as_value_ref()) })
    }

    /// A place in the source.
    pub fn place(&self, place: Place<'ctx>) -> Metadata {
        Metadata(place.raw)
    }

    /// The node with these operands. Equal nodes are one node.
    pub fn node(&self, operands: &[Metadata]) -> Metadata {
        let mut raw: Vec<LLVMMetadataRef> = operands.iter().map(|operand| operand.0).collect();
        // SAFETY: LLVM copies the operands, all of which are metadata of this context.
        Metadata(unsafe { LLVMMDNodeInContext2(self.context.as_ctx_ref(), raw.as_mut_ptr(), raw.len()) })
    }

    /// A node whose first operand is itself, as a loop ID must be. No two are equal.
    pub fn self_referencing(&self, properties: &[Metadata]) -> Metadata {
        // SAFETY: the placeholder is a temporary node, which LLVM lets be replaced; replacing it by the node that holds
        // it frees it and leaves the self-reference, after which LLVM makes the node distinct. It is not used again.
        unsafe {
            let placeholder = LLVMTemporaryMDNode(self.context.as_ctx_ref(), ptr::null_mut(), 0);
            let operands: Vec<Metadata> =
                std::iter::once(Metadata(placeholder)).chain(properties.iter().copied()).collect();
            let node = self.node(&operands);
            LLVMMetadataReplaceAllUsesWith(placeholder, node.0);
            node
        }
    }

    /// Attaches a node to an instruction, in place of what it had under that kind.
    pub fn attach(&self, instruction: InstructionValue<'ctx>, kind: u32, node: Metadata) {
        // SAFETY: the instruction is live, and `node` is a node of the same context.
        unsafe {
            let value = LLVMMetadataAsValue(self.context.as_ctx_ref(), node.0);
            LLVMSetMetadata(instruction.as_value_ref(), kind, value);
        }
    }
}

/// Removes what an instruction has under a metadata kind.
pub fn detach(instruction: InstructionValue<'_>, kind: u32) {
    // SAFETY: the instruction is live, and a null node means removal.
    unsafe { LLVMSetMetadata(instruction.as_value_ref(), kind, ptr::null_mut()) }
}

/// A place in the source, in a function, with the calls through which it was inlined: a `DILocation`.
#[derive(Clone, Copy)]
pub struct Place<'ctx> {
    raw: LLVMMetadataRef,
    context: PhantomData<ContextRef<'ctx>>,
}

impl<'ctx> Place<'ctx> {
    /// What debug information says of an instruction.
    pub fn of(instruction: InstructionValue<'ctx>) -> Option<Place<'ctx>> {
        // SAFETY: the instruction is live; LLVM returns its location, which lives as long as the context, or null.
        Place::new(unsafe { LLVMInstructionGetDebugLoc(instruction.as_value_ref()) })
    }

    /// The place that an operand of a node is, if it is one.
    pub fn in_node(operand: MetadataValue<'ctx>) -> Option<Place<'ctx>> {
        // SAFETY: the operand is live; LLVM gives back what is wrapped, which is metadata and has a kind.
        unsafe {
            let raw = LLVMValueAsMetadata(operand.as_value_ref());
            let is_place = matches!(LLVMGetMetadataKind(raw), LLVMMetadataKind::LLVMDILocationMetadataKind);
            Place::new(raw).filter(|_| is_place)
        }
    }

    fn new(raw: LLVMMetadataRef) -> Option<Place<'ctx>> {
        (!raw.is_null()).then_some(Place { raw, context: PhantomData })
    }

    /// The line, from 1; 0 where it is none in particular.
    pub fn line(self) -> u32 {
        // SAFETY: the location is live.
        unsafe { LLVMDILocationGetLine(self.raw) }
    }

    /// Another line of the same file and function.
    pub fn with_line(self, context: ContextRef<'ctx>, line: u32, column: u32) -> Place<'ctx> {
        // SAFETY: the location is live and of this context, as are its scope, which it always has, and the location
        // that it is inlined at, which may be null.
        let raw = unsafe {
            let (scope, inlined_at) = (LLVMDILocationGetScope(self.raw), LLVMDILocationGetInlinedAt(self.raw));
            LLVMDIBuilderCreateDebugLocation(context.as_ctx_ref(), line, column, scope, inlined_at)
        };
        Place { raw, ..self }
    }

    /// The file's name.
    pub fn file(self) -> Option<String> {
        // SAFETY: a location has a scope; its file may be null, and is asked for its name only where it is not. The
        // name is as long as LLVM says, and is copied.
        unsafe {
            let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(self.raw));
            if file.is_null() {
                return None;
            }
            let mut length = 0;
            let name = LLVMDIFileGetFilename(file, &mut length);
            if length == 0 {
                return None;
            }
            Some(String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length as usize)).into_owned())
        }
    }

    /// Makes it the place of an instruction.
    pub fn set(self, instruction: InstructionValue<'ctx>) {
        // SAFETY: the instruction is live, and the location is one of the same context.
        unsafe { LLVMInstructionSetDebugLoc(instruction.as_value_ref(), self.raw) }
    }
}
