//! The pipelines that users run, and parts of them.

/// The pipeline for NVIDIA's GPUs with its options as they are at first.
pub fn nvvm() -> String {
    let pipeline = symm_passes::PIPELINES.iter().find(|pipeline| pipeline.flag == "symm-nvvm").expect("there is one");
    (pipeline.text)(&symm_passes::Values::new(pipeline.options, Vec::new()))
}

/// A pipeline without the passes of this project.
pub fn without_symm(pipeline: &str) -> String {
    parts(pipeline).into_iter().filter(|part| !is_symm(part)).collect::<Vec<_>>().join(",")
}

/// The passes of this project alone.
pub fn only_symm(pipeline: &str) -> String {
    parts(pipeline).into_iter().filter(|part| is_symm(part)).collect::<Vec<_>>().join(",")
}

/// A pipeline up to the pass that lowers symm ops.
pub fn until_lowered(pipeline: &str) -> String {
    let (parts, last) = lowering(pipeline);
    parts[..=last].join(",")
}

/// A pipeline up to the last pass before that.
pub fn before_lowering(pipeline: &str) -> String {
    let (parts, last) = lowering(pipeline);
    parts[..last].join(",")
}

/// The passes of this project in a pipeline, each once, by name.
pub fn names(pipeline: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in pipeline.split(['(', ')', '{', '}', ',']) {
        if name.starts_with("symm-") && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn is_symm(part: &str) -> bool {
    !names(part).is_empty()
}

fn lowering(pipeline: &str) -> (Vec<&str>, usize) {
    let parts = parts(pipeline);
    let last = parts.iter().position(|part| part.starts_with("symm-lower-")).expect("the pipeline lowers symm ops");
    (parts, last)
}

/// The passes of a pipeline, those in brackets as one.
fn parts(pipeline: &str) -> Vec<&str> {
    let mut depth = 0;
    let at_top = |letter: char| {
        depth += i32::from("{(".contains(letter)) - i32::from("})".contains(letter));
        letter == ',' && depth == 0
    };
    pipeline.split(at_top).collect()
}

#[cfg(test)]
mod tests {
    use super::{before_lowering, names, nvvm, only_symm, until_lowered, without_symm};

    const PIPELINE: &str = "any(symm-a,symm-b{x=1 y=2}),inline{z=},any(symm-a{x=1}),cse,symm-lower-to-c,cse";

    #[test]
    fn a_pipeline_is_taken_apart() {
        assert_eq!(without_symm(PIPELINE), "inline{z=},cse,cse");
        assert_eq!(only_symm(PIPELINE), "any(symm-a,symm-b{x=1 y=2}),any(symm-a{x=1}),symm-lower-to-c");
        assert_eq!(before_lowering(PIPELINE), "any(symm-a,symm-b{x=1 y=2}),inline{z=},any(symm-a{x=1}),cse");
        assert_eq!(until_lowered(PIPELINE), format!("{},symm-lower-to-c", before_lowering(PIPELINE)));
        assert_eq!(names(PIPELINE), ["symm-a", "symm-b", "symm-lower-to-c"]);
    }

    #[test]
    fn no_pass_of_ours_is_left_without_them() {
        assert!(!without_symm(&nvvm()).contains("symm-"));
    }
}
