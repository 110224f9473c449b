// Runs passes and pipelines written in Rust under MLIR's pass manager. MLIR's C API has external passes without
// options, and no way to register a pipeline; this adds both. The tables are in passes/src/lib.rs.
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include <memory>
#include <string>
#include <vector>

namespace {

// The same in passes/src/registration.rs.
struct Entry {
  MlirStringRef flag, summary;
  intptr_t numOptions;
};
struct OptionEntry {
  MlirStringRef name, initial, help;
};
struct OptionValue {
  MlirStringRef name, value;
};

} // namespace

extern "C" {
bool symmEntry(bool pipeline, intptr_t index, Entry *entry);
void symmEntryOption(bool pipeline, intptr_t index, intptr_t option, OptionEntry *entry);
bool symmEntryValidate(bool pipeline, intptr_t index, const OptionValue *values, MlirStringCallback report, void *data);
void symmPassDialects(MlirDialectRegistry registry);
// 0 where the pass failed, 1 where it kept the IR as it was, 2 where it changed it.
int32_t symmPassRun(intptr_t index, MlirOperation op, const OptionValue *values);
void symmPipelineText(intptr_t index, const OptionValue *values, MlirStringCallback write, void *data);
}

namespace {

void append(MlirStringRef text, void *data) { static_cast<std::string *>(data)->append(text.data, text.length); }

// The options of one pass or pipeline, all kept as text; Rust knows their types.
template <typename Owner, typename Option> struct Options {
  std::vector<std::unique_ptr<Option>> options;

  void declare(Owner &owner, bool pipeline, intptr_t index) {
    Entry entry;
    symmEntry(pipeline, index, &entry);
    for (intptr_t i = 0; i < entry.numOptions; ++i) {
      OptionEntry option;
      symmEntryOption(pipeline, index, i, &option);
      options.push_back(std::make_unique<Option>(owner, unwrap(option.name), llvm::cl::desc(unwrap(option.help)),
                                                 llvm::cl::init(unwrap(option.initial).str())));
    }
  }
  // Each option's value, by its name.
  std::vector<OptionValue> values() const {
    std::vector<OptionValue> values;
    for (auto &option : options) values.push_back({wrap(option->ArgStr), wrap(llvm::StringRef(option->getValue()))});
    return values;
  }
  llvm::LogicalResult validate(bool pipeline, intptr_t index,
                               llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> errorHandler) const {
    std::string message;
    if (symmEntryValidate(pipeline, index, values().data(), append, &message)) return llvm::success();
    return errorHandler(message);
  }
};

mlir::TypeID passTypeID(intptr_t index) {
  static std::vector<std::unique_ptr<mlir::SelfOwningTypeID>> ids;
  while (ids.size() <= static_cast<size_t>(index)) ids.push_back(std::make_unique<mlir::SelfOwningTypeID>());
  return *ids[index];
}

class RustPass : public mlir::OperationPass<> {
public:
  RustPass(intptr_t index) : OperationPass(passTypeID(index)), index(index) {
    symmEntry(false, index, &entry);
    options.declare(*this, false, index);
  }
  llvm::StringRef getArgument() const override { return unwrap(entry.flag); }
  llvm::StringRef getDescription() const override { return unwrap(entry.summary); }
  llvm::StringRef getName() const override { return unwrap(entry.flag); }
  std::unique_ptr<mlir::Pass> clonePass() const override { return std::make_unique<RustPass>(index); }
  void getDependentDialects(mlir::DialectRegistry &registry) const override { symmPassDialects(wrap(&registry)); }
  llvm::LogicalResult
  initializeOptions(llvm::StringRef text,
                    llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> errorHandler) override {
    if (llvm::failed(OperationPass::initializeOptions(text, errorHandler))) return llvm::failure();
    return options.validate(false, index, errorHandler);
  }
  void runOnOperation() override {
    int32_t outcome = symmPassRun(index, wrap(getOperation()), options.values().data());
    if (outcome == 0) signalPassFailure();
    if (outcome == 1) markAllAnalysesPreserved();
  }

private:
  intptr_t index;
  Entry entry;
  Options<RustPass, Option<std::string>> options;
};

struct PipelineOptions : mlir::detail::PassOptions {
  PipelineOptions(intptr_t index) { options.declare(*this, true, index); }
  Options<PipelineOptions, Option<std::string>> options;
};

llvm::LogicalResult addPipeline(intptr_t index, mlir::OpPassManager &manager, llvm::StringRef text,
                                llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> errorHandler) {
  PipelineOptions options(index);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::failed(options.parseFromString(text, stream))) return errorHandler(message);
  if (llvm::failed(options.options.validate(true, index, errorHandler))) return llvm::failure();
  std::string pipeline;
  symmPipelineText(index, options.options.values().data(), append, &pipeline);
  if (llvm::failed(mlir::parsePassPipeline(pipeline, manager, stream))) return errorHandler(message);
  return llvm::success();
}

} // namespace

// MLIR's C API goes forward in a block only.
extern "C" MlirOperation symmPreviousInBlock(MlirOperation op) { return wrap(unwrap(op)->getPrevNode()); }

// Nor does it ask for effects. What lies in regions is asked on its own.
extern "C" bool symmHasOtherEffects(MlirOperation raw) {
  mlir::Operation *op = unwrap(raw);
  auto effects = mlir::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  if (!effects) return !op->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>();
  llvm::SmallVector<mlir::MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  return llvm::any_of(all, [](const mlir::MemoryEffects::EffectInstance &effect) {
    return !effect.getValue() && effect.getResource() == mlir::SideEffects::DefaultResource::get();
  });
}

extern "C" void symmRegisterPasses() {
  Entry entry;
  for (intptr_t i = 0; symmEntry(false, i, &entry); ++i)
    mlir::registerPass([i] { return std::make_unique<RustPass>(i); });
  for (intptr_t i = 0; symmEntry(true, i, &entry); ++i)
    mlir::registerPassPipeline(
        unwrap(entry.flag), unwrap(entry.summary),
        [i](mlir::OpPassManager &manager, llvm::StringRef options,
            llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> errorHandler) {
          return addPipeline(i, manager, options, errorHandler);
        },
        [i](llvm::function_ref<void(const mlir::detail::PassOptions &)> handler) { handler(PipelineOptions(i)); });
}
