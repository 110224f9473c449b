// mlir-lsp-server's main function with every upstream dialect and one more.
#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

extern "C" int symmLspServerMain(int argc, char **argv, MlirDialectHandle dialect) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlirDialectHandleInsertDialect(dialect, wrap(&registry));
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
