//! What `td/` has to say of an op: the build refuses one that says nothing of what passes know, or what can't be.

#[allow(dead_code)]
#[path = "../build/facts.rs"]
mod facts;

use facts::Facts;
use serde_json::{Value, json};

/// The records of one op with these facts, which are given by their names.
fn records(facts: &Value) -> Value {
    json!({
        "Symm_NewOp": {
            "opName": "new",
            "facts": facts,
            "arguments": { "args": [[{ "def": "Symm_Pointer" }, "ptr"], [{ "def": "I32" }, "rank"]] },
        },
        "Write": { "pointer": "ptr", "reads": 0, "writes": 1, "flag": 0 },
        "WriteElsewhere": { "pointer": "src", "reads": 0, "writes": 1, "flag": 0 },
        "Translate": { "way": { "def": "ByDelta" } },
        "ByDelta": { "rank": "rank", "delta": "delta" },
    })
}

fn named(names: &[&str]) -> Value {
    names.iter().map(|name| json!({ "def": name })).collect()
}

fn complaint(facts: &Value) -> String {
    Facts::of(&records(facts), "Symm_NewOp").expect_err("it can't be")
}

#[test]
fn an_op_that_states_no_facts_does_not_build() {
    let complaint = complaint(&Value::Null);
    assert!(complaint.starts_with("symm.new does not say what passes know of it"), "{complaint}");
}

#[test]
fn no_facts_can_be_stated() {
    assert!(Facts::of(&records(&named(&[])), "Symm_NewOp").is_ok());
    assert!(Facts::of(&records(&named(&["Write", "Symm_Waits"])), "Symm_NewOp").is_ok());
}

#[test]
fn facts_that_contradict_each_other_or_the_arguments_are_refused() {
    assert!(complaint(&named(&["Symm_Computes", "Symm_Waits"])).contains("only computes"));
    assert!(complaint(&named(&["Symm_Computes", "Write"])).contains("only computes"));
    assert!(complaint(&named(&["WriteElsewhere"])).contains("'src', which is not one of its arguments"));
    assert!(complaint(&named(&["Translate"])).contains("'delta', which is not one of its arguments"));
    assert!(complaint(&named(&["Symm_AcquiresBySem"])).contains("names its 'sem'"));
    assert!(complaint(&named(&["Symm_ReleasesBySem"])).contains("names its 'sem'"));
    assert!(complaint(&named(&["Symm_Unheard"])).contains("no fact that dialect/build/facts.rs knows"));
}

#[test]
fn the_type_of_memory_comes_before_the_arrow_and_that_of_another_result_after_it() {
    let of = |ty: &str, format: &str| {
        let mut records = records(&named(&[]));
        records["Symm_NewOp"]["results"] = json!({ "args": [[{ "def": ty }, "result"]] });
        records["Symm_NewOp"]["assemblyFormat"] = format.into();
        Facts::of(&records, "Symm_NewOp").map(|_| ())
    };
    let (bare, arrow) = ("$ptr attr-dict `:` type($result)", "$ptr attr-dict `:` type($ptr) `->` type($result)");
    assert_eq!((of("Symm_Pointer", bare), of("AnyMemRef", bare), of("I32", arrow)), (Ok(()), Ok(()), Ok(())));
    assert_eq!(of("AnyMemRef", "$ptr attr-dict"), Ok(()));
    assert!(of("AnyMemRef", arrow).is_err_and(|complaint| complaint.contains("comes before `->`")));
    assert!(of("I32", bare).is_err_and(|complaint| complaint.contains("comes after `->`")));
}
