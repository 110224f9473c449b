//! What passes say of the IR: MLIR verifies and prints again what has changed.

use melior::Context;
use melior::dialect::{DialectHandle, DialectRegistry};
use melior::ir::Module;
use symm_passes::{Ir, PASSES, Values};

/// What `--symm-infer-order` says of a function with this body, and whether the text differs.
fn infer_order(body: &str) -> (Ir, bool) {
    let registry = DialectRegistry::new();
    for dialect in [DialectHandle::func(), DialectHandle::memref(), symm_dialect::handle()] {
        dialect.insert_dialect(&registry);
    }
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    let arguments = "%ctx: !symm.ctx, %flag: memref<8xi64>, %v: i64, %p: i32, %i: index, %j: index";
    let text = format!("func.func @f({arguments}) {{\n{body}\nreturn\n}}");
    let module = Module::parse(&context, &text).expect("the program parses");
    let before = module.as_operation().to_string();
    let pass = PASSES.iter().find(|pass| pass.flag == "symm-infer-order").expect("the pass is in the table");
    let outcome = pass.run_on(module.as_operation(), &Values::new(pass.options, Vec::new())).expect("the pass ends");
    (outcome, before != module.as_operation().to_string())
}

#[test]
fn infer_order_keeps_what_it_does_not_change() {
    let signal = "symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64";
    let fence = "symm.fence sem release";
    let relaxed = "symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<8xi64>, i64";
    for body in ["", signal, &format!("{fence}\n{relaxed}\n{relaxed}")] {
        assert_eq!(infer_order(body), (Ir::Kept, false), "{body}");
    }
}

#[test]
fn infer_order_says_what_it_changes() {
    let signal = "symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64";
    let wait = |index| format!("symm.wait %ctx, %flag[{index}] ge %v : memref<8xi64>, i64");
    let fence = "symm.fence sem release";
    let acquired = format!("symm.fence sem acquire\n{}\nsymm.fence sem acquire", wait("%i"));
    let bodies = [
        format!("{signal}\n{signal}"),
        format!("{}\n{}", wait("%i"), wait("%j")),
        format!("{fence}\n{fence}"),
        acquired,
    ];
    for body in bodies {
        assert_eq!(infer_order(&body), (Ir::Changed, true), "{body}");
    }
}
