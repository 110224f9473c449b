// The classes that ODS generates from dialect/td.
#ifndef SYMM_H
#define SYMM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace symm {
// dialect/src/hooks.rs implements each of these.
llvm::LogicalResult verifyInRust(mlir::Operation *op);
mlir::OpFoldResult foldInRust(mlir::Operation *op);
llvm::LogicalResult canonicalizeInRust(mlir::Operation *op, mlir::PatternRewriter &rewriter);
} // namespace symm

#include "SymmDialect.h.inc"
#include "SymmEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "SymmTypes.h.inc"
#define GET_OP_CLASSES
#include "SymmOps.h.inc"

#endif // SYMM_H
