//! Marks device code as clang does: functions, calls and inline assembly are convergent and do not unwind. MLIR can
//! mark functions and calls (`symm-mark-convergent`, which a custom pipeline may lack), but not assembly.

use crate::LlvmModule;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{AsValueRef, CallSiteValue, InstructionOpcode, InstructionValue};

/// Marks everything in a module for a GPU, except intrinsics, which have their own attributes.
pub fn mark(llvm: &LlvmModule) {
    let attributes = ["convergent", "nounwind"]
        .map(|name| llvm.module.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0));
    for function in llvm.module.get_functions() {
        if !function.get_name().to_bytes().starts_with(b"llvm.") {
            for attribute in attributes {
                function.add_attribute(AttributeLoc::Function, attribute);
            }
        }
        let calls = function.get_basic_block_iter().flat_map(BasicBlock::get_instructions);
        for call in calls.filter(|instruction| instruction.get_opcode() == InstructionOpcode::Call) {
            if let Ok(site) = CallSiteValue::try_from(call)
                && !calls_intrinsic(call)
            {
                for attribute in attributes {
                    site.add_attribute(AttributeLoc::Function, attribute);
                }
            }
        }
    }
}

fn calls_intrinsic(call: InstructionValue) -> bool {
    // SAFETY: the instruction is a call, and what it calls is asked for its intrinsic only if it is a function.
    unsafe {
        let callee = llvm_sys::core::LLVMGetCalledValue(call.as_value_ref());
        let function = llvm_sys::core::LLVMIsAFunction(callee);
        !function.is_null() && llvm_sys::core::LLVMGetIntrinsicID(function) != 0
    }
}
