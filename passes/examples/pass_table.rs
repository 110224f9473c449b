//! Prints the tables of passes and pipelines as JSON, from which `./x gen` makes docs/generated/passes.md.

use serde_json::{Value, json};
use symm_passes::{OptionKind, PASSES, PIPELINES, PassOption, Values};

fn main() {
    let passes: Vec<Value> = PASSES.iter().map(|pass| row(pass.flag, pass.summary, pass.options)).collect();
    let pipelines: Vec<Value> = PIPELINES
        .iter()
        .map(|pipeline| {
            let mut row = row(pipeline.flag, pipeline.summary, pipeline.options);
            row["text"] = (pipeline.text)(&Values::new(pipeline.options, Vec::new())).into();
            row
        })
        .collect();
    println!("{}", json!({ "passes": passes, "pipelines": pipelines }));
}

fn row(flag: &str, summary: &str, options: &[PassOption]) -> Value {
    let options: Vec<Value> = options
        .iter()
        .map(|option| {
            let values = match option.kind {
                OptionKind::Bool => vec!["false", "true"],
                OptionKind::Choice(words) => words.to_vec(),
                OptionKind::Form(form, _) => vec![form],
                OptionKind::Number => vec!["a number"],
            };
            json!({ "name": option.name, "values": values, "initial": option.initial, "help": option.help })
        })
        .collect();
    json!({ "flag": flag, "summary": summary, "options": options })
}
