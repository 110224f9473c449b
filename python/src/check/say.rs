//! What is said of loops and executions that may end by themselves.

use super::Front;
use pyo3::prelude::*;
use symm_checker::finding::Finding;

impl Front {
    /// Says to Python where tasks were when an execution was given up.
    pub fn say_where_it_was_given_up(&self) -> PyResult<()> {
        let sites: Vec<String> = self.given_up.borrow().iter().map(ToString::to_string).collect();
        Python::attach(|py| self.python.setattr(py, "given_up", sites))
    }

    /// Says of loops that are taken to poll in vain that they may end by themselves.
    pub fn say_what_may_end(&self, finding: &mut Finding) {
        if !finding.kind.is_of_what_did_not_come() {
            return;
        }
        let counted = self.counted.borrow();
        for at in finding.at.iter().filter(|at| counted.contains(&at.site)) {
            let Self { polls, .. } = self;
            let may_end = format!("{} has looked {polls} times: if it gives up after more, raise polls", at.site);
            if !finding.help.contains(&may_end) {
                finding.help = format!("{}; {may_end}", finding.help);
            }
        }
    }
}
