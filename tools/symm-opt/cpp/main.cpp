// mlir-opt's main function with every upstream dialect and one more. Its caller has registered the passes.
#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

extern "C" int symmOptMain(int argc, char **argv, MlirDialectHandle dialect) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlirDialectHandleInsertDialect(dialect, wrap(&registry));
  llvm::StringRef banner = "symm-opt: mlir-opt with the symm dialect and its passes\n";
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, banner, registry);
  uint64_t before = llvm::errs().tell();
  llvm::LogicalResult result = mlir::MlirOptMain(argc, argv, input, output, registry);
  // MLIR's reader of bytecode gives up on some malformed files without a word.
  if (llvm::failed(result) && llvm::errs().tell() == before)
    llvm::errs() << "symm-opt: error: " << input << ": refused, and MLIR does not say why; it is likely malformed\n";
  return mlir::asMainReturnCode(result);
}
