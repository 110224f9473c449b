//! Triton's text in, what Triton reads out: what a caller of [`symm_triton::lower`] may rely on.

use melior::Context;
use melior::ir::Module;
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use mlir_sys::{MlirStringRef, mlirModuleCreateParse};
use symm_triton::lower;

/// A kernel with a carrier of this text, called at kernel.py:7 with the table, a pointer, a value and a rank.
fn kernel(carrier: &str) -> String {
    format!(
        r#"#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
!held = !ttg.memdesc<8xf32, #shared>
#loc = loc("kernel.py":1:0)
"builtin.module"() ({{
  "tt.func"() <{{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32) -> i64, sym_name = "symm.c",
    sym_visibility = "private"}}> ({{}}) {{symm.carrier = "{carrier}"}} : () -> () loc(#loc)
  "tt.func"() <{{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32) -> (), sym_name = "kernel"}}> ({{
  ^bb0(%t: !tt.ptr<i64> loc(unknown), %p: !tt.ptr<i64> loc(unknown), %v: i64 loc(unknown), %r: i32 loc(unknown)):
    %a = "ttg.local_alloc"() : () -> !ttg.memdesc<8xf32, #shared> loc(#loc)
    %d = "arith.muli"(%v, %v) <{{overflowFlags = #arith.overflow<none>}}> : (i64, i64) -> i64 loc(#loc)
    %e = "arith.extsi"(%r) : (i32) -> i64 loc(#loc)
    %f = "arith.addi"(%d, %e) <{{overflowFlags = #arith.overflow<none>}}> : (i64, i64) -> i64 loc(#loc)
    %x = "newer.op"(%a) <{{flags = #newer.flags<fast>}}> : (!ttg.memdesc<8xf32, #shared>) -> i64 loc(#loc)
    %o = "tt.call"(%t, %p, %v, %r) <{{callee = @symm.c}}> : (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32) -> i64 loc(#loc7)
    "tt.return"() : () -> () loc(#loc)
  }}) : () -> () loc(#loc)
}}) {{ttg.target = "cuda:90"}} : () -> () loc(#loc)
#loc7 = loc("old"(callsite("kernel.py":7:3 at "caller.py":70:1)))
"#
    )
}

/// What a right kernel becomes.
fn lowered(text: &str) -> String {
    let module = lower(text, "3.9.0", "cuda:90").expect("it is right").module;
    String::from_utf8(module).expect("it has aliases, and is text")
}

const ADD: &str = "atomic_rmw(ctx, ptr, value, rank) {kind = add}";

#[test]
fn no_symm_op_is_left() {
    let lowered = lower(&kernel(ADD), "3.9.0", "cuda:90").expect("it is right");
    assert_eq!(lowered.notes, []);
    let text = String::from_utf8(lowered.module).expect("text");
    assert!(!text.contains("symm."), "{text}");
    assert!(text.contains("\"tt.atomic_rmw\""), "{text}");
}

#[test]
fn without_aliases_it_is_bytecode() {
    let kernel = kernel(ADD).replace("8xf32, #shared>", "8xf32>");
    let text = kernel.split_once("#loc =").expect("locations follow the aliases").1;
    let module = lower(&format!("#loc ={text}"), "3.9.0", "cuda:90").expect("it is right").module;
    assert!(module.starts_with(b"ML\xefR"), "{module:?}");
    let context = Context::new();
    context.set_allow_unregistered_dialects(true);
    // SAFETY: the bytes live as long as the call.
    let module = unsafe {
        let bytes = MlirStringRef { data: module.as_ptr().cast(), length: module.len() };
        Module::from_option_raw(mlirModuleCreateParse(context.to_raw(), bytes)).expect("it is right")
    };
    let flags = OperationPrintingFlags::new().print_generic_operation_form().enable_debug_info(true, false);
    let text = module.as_operation().to_string_with_flags(flags).expect("it prints");
    for part in ["sym_name = \"kernel\"", "flags = #newer.flags<fast>", "ttg.target = \"cuda:90\"", "\"kernel.py\":7:3"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_is_not_known_stays_as_it_is() {
    let text = lowered(&kernel(ADD));
    // The name of an attribute within an opaque type stays, and so does its definition.
    assert!(text.contains("!ttg.memdesc<8xf32, #shared>"), "{text}");
    assert!(text.starts_with("#shared = #ttg.swizzled_shared<"), "{text}");
    assert!(text.contains("\n!held = "), "{text}");
    assert!(text.contains("<{flags = #newer.flags<fast>}>"), "{text}");
    assert!(text.contains("ttg.target = \"cuda:90\""), "{text}");
}

#[test]
fn what_nothing_takes_is_not_written() {
    let text = lowered(&kernel(ADD));
    assert!(!text.contains("arith.muli") && !text.contains("overflowFlags"), "{text}");
    assert!(text.contains("\"ttg.local_alloc\"()"), "what is not known may do more than return a value: {text}");
}

#[test]
fn constants_that_nothing_takes_keep_their_lines() {
    let made =
        |line| format!("    %c{line} = \"arith.constant\"() <{{value = 11 : i64}}> : () -> i64 loc(#loc{line})\n");
    let first = "    %a = \"ttg.local_alloc\"";
    let kernel = kernel(ADD).replace(first, &(made(50) + &made(60) + first));
    let text = lowered(&format!("{kernel}#loc50 = loc(\"kernel.py\":50:1)\n#loc60 = loc(\"kernel.py\":60:1)\n"));
    assert_eq!(text.matches("value = 11 : i64").count(), 2, "{text}");
    assert!(text.contains("\"kernel.py\":50:1") && text.contains("\"kernel.py\":60:1"), "{text}");
}

#[test]
fn what_is_made_has_the_location_of_the_op() {
    let text = lowered(&kernel(ADD));
    let line = text.lines().find(|line| line.contains("tt.atomic_rmw")).expect("there is one");
    let alias = line.rsplit_once("loc(").and_then(|(_, alias)| alias.strip_suffix(')')).expect("it has a location");
    assert!(text.contains(&format!("{alias} = loc(\"old\"(")), "{line}\n{text}");
    assert!(text.contains("\"kernel.py\":7:3"), "{text}");
}

#[test]
fn its_own_text_is_taken_too() {
    let once = lowered(&kernel(ADD));
    lower(&once, "3.9.0", "cuda:90").expect("what it has made is right");
}

#[test]
fn a_repair_is_a_warning_at_the_line_of_the_kernel() {
    let carrier = "atomic_rmw(ctx, ptr, value, rank) {kind = add, scope = gpu}";
    let notes = lower(&kernel(carrier), "3.6.0", "cuda:90").expect("it is repaired").notes;
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!((note.severity, note.file.as_deref(), note.line), ("warning", Some("kernel.py"), 7));
    assert!(note.message.contains("O2: scope gpu does not reach another rank"), "{}", note.message);
}

#[test]
fn an_error_is_at_the_line_of_the_kernel() {
    for (carrier, version, target, message) in [
        (
            "atomic_rmw(ctx, ptr, value, rank) {kind = fadd}",
            "3.9.0",
            "cuda:90",
            "fadd takes f16, bf16, f32 or f64, got i64",
        ),
        (ADD, "3.9.0", "hip:gfx906", "S1: the memory order of gfx906 is not known here"),
        ("remote_load(ctx, ptr, mask, rank)", "3.9.0", "cuda:90", "takes a mask of i1"),
        ("rank(ctx)", "3.9.0", "cuda:90", "stands for symm.rank with 1 operands, got 4"),
    ] {
        let notes = lower(&kernel(carrier), version, target).expect_err(message);
        let note = notes.iter().find(|note| note.severity == "error").expect("there is an error");
        assert!(note.message.contains(message), "{notes:?}");
        assert_eq!((note.file.as_deref(), note.line), (Some("kernel.py"), 7), "{notes:?}");
    }
}

#[test]
fn a_kernel_hears_nothing_of_the_one_before() {
    let wrong = lower(&kernel("rank(ctx)"), "3.9.0", "cuda:90").expect_err("it is wrong");
    let again = lower(&kernel("rank(ctx)"), "3.9.0", "cuda:90").expect_err("it is wrong");
    assert_eq!(wrong, again);
    let right = lower(&kernel(ADD), "3.9.0", "cuda:90").expect("it is right");
    assert_eq!(right.notes, []);
}

#[test]
fn what_is_no_module_is_an_error() {
    for text in ["", "\0", "garbage", "\"builtin.module\"() ({", "#a = ", "!x = !tt.ptr<", "\u{feff}module {"] {
        match lower(text, "3.9.0", "cuda:90") {
            Err(notes) => assert!(notes.iter().any(|note| note.severity == "error"), "{text:?}: {notes:?}"),
            Ok(lowered) => assert!(text.is_empty(), "{text:?} became {:?}", lowered.module),
        }
    }
}

#[test]
fn versions_and_targets_that_do_not_exist_are_errors() {
    for (version, target, message) in [
        ("2.1.0", "cuda:90", "option 'version' takes 3.6.0 or a later version of Triton, got '2.1.0'"),
        ("three", "cuda:90", "option 'version'"),
        ("", "cuda:90", "option 'version'"),
        ("3.9.0", "cuda", "option 'target' takes cuda:90 or hip:gfx942"),
        ("3.9.0", "metal:1", "option 'target'"),
    ] {
        let notes = lower(&kernel(ADD), version, target).expect_err(message);
        assert!(notes[0].message.contains(message), "{notes:?}");
    }
    lower(&kernel(ADD), "3.9.0+git1f3a", "cuda:100").expect("a custom build has such a name");
}
