// Registration of the dialect, and the way from ODS's C++ hooks to Rust.
#include "Symm.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include "SymmDialect.cpp.inc"
#include "SymmEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "SymmTypes.cpp.inc"

// `%rank`, or `%ranks each tensor<…xi32>`.
static mlir::ParseResult parseRank(mlir::OpAsmParser &parser, mlir::OpAsmParser::UnresolvedOperand &rank,
                                   mlir::Type &type) {
  if (parser.parseOperand(rank)) return mlir::failure();
  type = parser.getBuilder().getI32Type();
  return mlir::succeeded(parser.parseOptionalKeyword("each")) ? parser.parseType(type) : mlir::success();
}
static void printRank(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Value rank, mlir::Type type) {
  printer << rank;
  if (!type.isInteger(32)) printer << " each " << type;
}

#define GET_OP_CLASSES
#include "SymmOps.cpp.inc"

namespace {

// A helper function may hold any of these ops and be inlined: they mean the same where the call was.
struct SymmInliner : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool, mlir::IRMapping &) const final { return true; }
};

} // namespace

void symm::SymmDialect::initialize() {
  // Folds make constants of arith. A context that takes unregistered dialects may be one that is to keep arith's ops,
  // of a newer MLIR, as their text has them: there it is loaded by whoever needs it.
  if (!getContext()->allowsUnregisteredDialects()) getContext()->loadDialect<mlir::arith::ArithDialect>();
  addInterfaces<SymmInliner>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "SymmTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "SymmOps.cpp.inc"
      >();
}

extern "C" {
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Symm, symm);
// Defined in dialect/src/hooks.rs.
bool symmVerify(MlirOperation op);
bool symmVerifyAttribute(MlirOperation op, MlirStringRef name, MlirAttribute attribute);
bool symmVerifyValueAttribute(MlirOperation function, bool isResult, unsigned index, MlirStringRef name,
                              MlirAttribute attribute);
bool symmFold(MlirOperation op, MlirValue *value, MlirAttribute *attribute);
bool symmCanonicalize(MlirOperation op, MlirRewriterBase rewriter);
}
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Symm, symm, symm::SymmDialect)

llvm::LogicalResult symm::SymmDialect::verifyOperationAttribute(mlir::Operation *op, mlir::NamedAttribute attribute) {
  return llvm::success(symmVerifyAttribute(wrap(op), wrap(attribute.getName().getValue()), wrap(attribute.getValue())));
}

llvm::LogicalResult symm::SymmDialect::verifyRegionArgAttribute(mlir::Operation *op, unsigned, unsigned index,
                                                                mlir::NamedAttribute attribute) {
  return llvm::success(symmVerifyValueAttribute(wrap(op), false, index, wrap(attribute.getName().getValue()),
                                                wrap(attribute.getValue())));
}

llvm::LogicalResult symm::SymmDialect::verifyRegionResultAttribute(mlir::Operation *op, unsigned, unsigned index,
                                                                   mlir::NamedAttribute attribute) {
  return llvm::success(symmVerifyValueAttribute(wrap(op), true, index, wrap(attribute.getName().getValue()),
                                                wrap(attribute.getValue())));
}

mlir::Operation *symm::SymmDialect::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value,
                                                        mlir::Type type, mlir::Location loc) {
  if (!getContext()->getLoadedDialect<mlir::arith::ArithDialect>()) return nullptr;
  return mlir::arith::ConstantOp::materialize(builder, value, type, loc);
}

// The sizes of an op's operand groups, where it keeps them; null where it has at most one group of varying size. As
// an attribute they would be made anew, and looked up among all attributes, each time one asks.
extern "C" const int32_t *symmOperandSegments(MlirOperation op) {
  return llvm::TypeSwitch<mlir::Operation *, const int32_t *>(unwrap(op))
      .Case<
#define GET_OP_LIST
#include "SymmOps.cpp.inc"
          >([](auto symmOp) -> const int32_t * {
        using Op = decltype(symmOp);
        if constexpr (Op::template hasTrait<mlir::OpTrait::AttrSizedOperandSegments>())
          return symmOp.getProperties().operandSegmentSizes.data();
        else
          return nullptr;
      })
      .Default([](mlir::Operation *) { return nullptr; });
}

// The C API finds inherent attributes by name only. An operation of an unregistered dialect keeps them in a dictionary
// that bytecode without properties leaves out.
extern "C" void symmCopyPropertiesToAttributes(MlirOperation root) {
  unwrap(root)->walk([](mlir::Operation *op) {
    if (op->isRegistered()) return;
    if (auto properties = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(op->getPropertiesAsAttribute()))
      for (mlir::NamedAttribute property : properties) op->setDiscardableAttr(property.getName(), property.getValue());
  });
}

llvm::LogicalResult symm::verifyInRust(mlir::Operation *op) { return llvm::success(symmVerify(wrap(op))); }

mlir::OpFoldResult symm::foldInRust(mlir::Operation *op) {
  MlirValue value{nullptr};
  MlirAttribute attribute{nullptr};
  if (!symmFold(wrap(op), &value, &attribute)) return {};
  if (value.ptr) return unwrap(value);
  return unwrap(attribute);
}

llvm::LogicalResult symm::canonicalizeInRust(mlir::Operation *op, mlir::PatternRewriter &rewriter) {
  return llvm::success(symmCanonicalize(wrap(op), wrap(static_cast<mlir::RewriterBase *>(&rewriter))));
}

// MLIR's C API can report errors only. `severity` is dialect/src/diagnostic.rs's `Severity`.
extern "C" void symmEmit(int severity, MlirLocation location, MlirStringRef message, bool hasNote,
                         MlirLocation noteLocation, MlirStringRef note) {
  static const mlir::DiagnosticSeverity severities[] = {
      mlir::DiagnosticSeverity::Error, mlir::DiagnosticSeverity::Warning, mlir::DiagnosticSeverity::Remark};
  mlir::Location loc = unwrap(location);
  mlir::InFlightDiagnostic diagnostic =
      loc.getContext()->getDiagEngine().emit(loc, severities[severity]) << unwrap(message);
  if (hasNote) diagnostic.attachNote(unwrap(noteLocation)) << unwrap(note);
}
