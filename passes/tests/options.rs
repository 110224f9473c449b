//! Options of passes and pipelines, and their values.

use symm_passes::{OptionKind, PASSES, PIPELINES, PassOption, Values};

const OPTIONS: &[PassOption] = &[
    PassOption { name: "strict", kind: OptionKind::Bool, initial: "false", help: "" },
    PassOption { name: "timeout-ms", kind: OptionKind::Number, initial: "10", help: "" },
];

#[test]
fn values_are_found_by_name() {
    let values = Values::new(OPTIONS, vec![("timeout-ms", "7")]);
    assert_eq!((values.flag("strict"), values.number("timeout-ms")), (false, 7));
    let values = Values::new(OPTIONS, vec![("timeout-ms", "8"), ("strict", "true")]);
    assert_eq!((values.flag("strict"), values.number("timeout-ms"), values.complaint()), (true, 8, None));
}

#[test]
fn unknown_options_and_wrong_values_are_refused() {
    let complaint = |given| Values::new(OPTIONS, vec![given]).complaint().unwrap();
    assert_eq!(complaint(("stricter", "true")), "there is no option 'stricter'");
    assert_eq!(complaint(("strict", "7")), "option 'strict' takes true or false, got '7'");
}

#[test]
fn initial_values_are_values() {
    let passes = PASSES.iter().map(|pass| pass.options);
    for option in passes.chain(PIPELINES.iter().map(|pipeline| pipeline.options)).flatten() {
        assert_eq!(option.complaint(option.initial), None, "{}", option.name);
    }
    for pipeline in PIPELINES {
        assert!((pipeline.text)(&Values::new(pipeline.options, Vec::new())).contains("symm-"), "{}", pipeline.flag);
    }
}
