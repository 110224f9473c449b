// mlir-opt's main function with every upstream dialect and pass and one more dialect.
#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

extern "C" int symmOptMain(int argc, char **argv, MlirDialectHandle dialect) {
  mlir::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlirDialectHandleInsertDialect(dialect, wrap(&registry));
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "symm-opt: mlir-opt with the symm dialect and its passes\n", registry));
}
