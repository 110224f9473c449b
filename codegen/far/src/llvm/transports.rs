//! Leaves the transports of a device library out that send from the GPU.
//!
//! Newer ones are inlined into each of NVSHMEM's transfers, after a `switch` on the transport that the host has chosen:
//!
//! ```text
//! %chosen = load i32, ptr (nvshmemi_device_state_d + 772)
//! switch i32 %chosen, label %proxy [ i32 1, label %ibgda   i32 2, label %gpunetio ]
//! ```
//!
//! They are most of a kernel's code. The `switch` stays, and goes to what ends the kernel instead. A way of it is one
//! of such a transport if it comes to the transport's own state, and the default does not.

use super::{Library, blocks, constants_of, is_declared, listed, name};
use llvm_sys::core as llvm;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMValueRef};
use llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::{HashMap, HashSet};

/// The state that such a `switch` asks, and those of the transports.
const STATE: &[u8] = b"nvshmemi_device_state_d";
pub const TRANSPORT_STATES: [&[u8]; 2] = [b"nvshmemi_ibgda_device_state_d", b"nvshmemi_gpunetio_device_state_d"];

/// The number of the transport that leaves it to the host.
const PROXY: u64 = 0;

impl Library {
    /// Has each `switch` on a transport that sends from the GPU call the function `end` instead, which does not return.
    pub fn leave_transports_out(&self, end: &str) {
        // SAFETY: the name is as long as said.
        let end = unsafe { llvm::LLVMGetNamedFunctionWithLength(self.module, end.as_ptr().cast(), end.len()) };
        if end.is_null() {
            return;
        }
        // SAFETY: the context is there as long as the library.
        let builder = unsafe { llvm::LLVMCreateBuilderInContext(self.context) };
        for function in self.functions().into_iter().filter(|function| !is_declared(*function)) {
            let others: Vec<_> = blocks(function).into_iter().flat_map(other_transports).collect();
            if !others.is_empty() {
                self.redirect(function, &others, end, builder);
                remove_unreachable(function, builder);
            }
        }
        // SAFETY: made here, and used no longer.
        unsafe { llvm::LLVMDisposeBuilder(builder) };
    }

    /// Has these ways of a function call what ends the kernel.
    fn redirect(
        &self,
        function: LLVMValueRef,
        ways: &[(LLVMValueRef, u32)],
        end: LLVMValueRef,
        builder: LLVMBuilderRef,
    ) {
        // SAFETY: the function is of this context and takes a block; each way is a successor of an instruction in it.
        unsafe {
            let block = llvm::LLVMAppendBasicBlockInContext(self.context, function, c"other".as_ptr());
            llvm::LLVMPositionBuilderAtEnd(builder, block);
            let kind = llvm::LLVMGlobalGetValueType(end);
            llvm::LLVMBuildCall2(builder, kind, end, std::ptr::null_mut(), 0, c"".as_ptr());
            llvm::LLVMBuildUnreachable(builder);
            for (switch, successor) in ways {
                llvm::LLVMSetSuccessor(*switch, *successor, block);
            }
        }
    }
}

/// The ways of a block's `switch` on the transport to those that send from the GPU: the instruction, and which
/// successor.
fn other_transports(block: LLVMBasicBlockRef) -> Vec<(LLVMValueRef, u32)> {
    // SAFETY: a block of a module that is still there. The first successor is the default; the others have a case.
    unsafe {
        let switch = llvm::LLVMGetBasicBlockTerminator(block);
        if switch.is_null() || llvm::LLVMIsASwitchInst(switch).is_null() || !asks_state(llvm::LLVMGetOperand(switch, 0))
        {
            return Vec::new();
        }
        let is_other = |way: &u32| {
            llvm::LLVMConstIntGetZExtValue(llvm::LLVMGetSwitchCaseValue(switch, *way)) != PROXY
                && comes_to_transport(llvm::LLVMGetSuccessor(switch, *way))
        };
        let others = (1..llvm::LLVMGetNumSuccessors(switch)).filter(is_other).map(|way| (switch, way)).collect();
        if comes_to_transport(llvm::LLVMGetSwitchDefaultDest(switch)) { Vec::new() } else { others }
    }
}

/// Whether a value is loaded from NVSHMEM's state.
fn asks_state(value: LLVMValueRef) -> bool {
    // SAFETY: a value of a module that is still there.
    let is_load = unsafe { !llvm::LLVMIsALoadInst(value).is_null() };
    is_load && constants_of(value).into_iter().any(|address| is_in(address, &[STATE]))
}

/// Whether a way that begins with this block uses the state of a transport.
fn comes_to_transport(block: LLVMBasicBlockRef) -> bool {
    let used = reached_from(block).into_iter().flat_map(instructions).flat_map(constants_of);
    used.into_iter().any(|constant| is_in(constant, &TRANSPORT_STATES))
}

fn is_in(constant: LLVMValueRef, states: &[&[u8]]) -> bool {
    states.contains(&name(constant).as_slice()) || constants_of(constant).into_iter().any(|part| is_in(part, states))
}

fn reached_from(first: LLVMBasicBlockRef) -> HashSet<LLVMBasicBlockRef> {
    let (mut reached, mut waiting) = (HashSet::new(), vec![first]);
    while let Some(block) = waiting.pop() {
        if reached.insert(block) {
            waiting.extend(successors(block));
        }
    }
    reached
}

fn successors(block: LLVMBasicBlockRef) -> Vec<LLVMBasicBlockRef> {
    // SAFETY: a block of a module that is still there, and as many successors as its last instruction has.
    unsafe {
        let last = llvm::LLVMGetBasicBlockTerminator(block);
        let count = if last.is_null() { 0 } else { llvm::LLVMGetNumSuccessors(last) };
        (0..count).map(|index| llvm::LLVMGetSuccessor(last, index)).collect()
    }
}

fn instructions(block: LLVMBasicBlockRef) -> Vec<LLVMValueRef> {
    // SAFETY: a block of a module that is still there.
    listed(unsafe { llvm::LLVMGetFirstInstruction(block) }, llvm::LLVMGetNextInstruction)
}

/// Removes the blocks that no way leads to any more.
fn remove_unreachable(function: LLVMValueRef, builder: LLVMBuilderRef) {
    let all = blocks(function);
    let reached = all.first().map(|first| reached_from(*first)).unwrap_or_default();
    // How many ways lead from a block to another.
    let mut ways: HashMap<(LLVMBasicBlockRef, LLVMBasicBlockRef), usize> = HashMap::new();
    for block in &reached {
        for next in successors(*block) {
            *ways.entry((*block, next)).or_default() += 1;
        }
    }
    for block in all.iter().filter(|block| reached.contains(*block)) {
        for phi in instructions(*block) {
            // SAFETY: an instruction of a module that is still there.
            if unsafe { llvm::LLVMGetInstructionOpcode(phi) } != LLVMOpcode::LLVMPHI {
                break;
            }
            keep_incoming(phi, |from| ways.get(&(from, *block)).copied().unwrap_or(0), builder);
        }
    }
    let dead: Vec<_> = all.into_iter().filter(|block| !reached.contains(block)).collect();
    for instruction in dead.iter().flat_map(|block| instructions(*block)) {
        // SAFETY: only others that are removed use it; none is looked at after that.
        unsafe {
            let kind = llvm::LLVMTypeOf(instruction);
            if llvm::LLVMGetTypeKind(kind) != LLVMTypeKind::LLVMVoidTypeKind {
                llvm::LLVMReplaceAllUsesWith(instruction, llvm::LLVMGetPoison(kind));
            }
            llvm::LLVMInstructionEraseFromParent(instruction);
        }
    }
    for block in dead {
        // SAFETY: no instruction names it any more.
        unsafe { llvm::LLVMDeleteBasicBlock(block) };
    }
}

/// Makes a phi one of what comes from blocks that still lead to it, as many times as they do.
fn keep_incoming(phi: LLVMValueRef, ways: impl Fn(LLVMBasicBlockRef) -> usize, builder: LLVMBuilderRef) {
    // SAFETY: a phi of a module that is still there; what takes its place is in the same block, before it.
    unsafe {
        let count = llvm::LLVMCountIncoming(phi);
        let incoming = |index| (llvm::LLVMGetIncomingValue(phi, index), llvm::LLVMGetIncomingBlock(phi, index));
        let mut taken: HashMap<LLVMBasicBlockRef, usize> = HashMap::new();
        let mut is_kept = |(_, from): &(LLVMValueRef, LLVMBasicBlockRef)| {
            let taken = taken.entry(*from).or_default();
            *taken += 1;
            *taken <= ways(*from)
        };
        let kept: Vec<_> = (0..count).map(incoming).filter(|pair| is_kept(pair)).collect();
        if kept.len() == count as usize {
            return;
        }
        llvm::LLVMPositionBuilderBefore(builder, phi);
        let fewer = llvm::LLVMBuildPhi(builder, llvm::LLVMTypeOf(phi), c"".as_ptr());
        let (mut values, mut froms): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
        let count = u32::try_from(values.len()).unwrap_or(0);
        llvm::LLVMAddIncoming(fewer, values.as_mut_ptr(), froms.as_mut_ptr(), count);
        llvm::LLVMReplaceAllUsesWith(phi, fewer);
        llvm::LLVMInstructionEraseFromParent(phi);
    }
}
