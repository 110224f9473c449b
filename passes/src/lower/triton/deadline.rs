//! Deadlines of waits: what a thread does now and then that has waited long, in PTX.
//!
//! It looks whether the record says that a wait has given up, and then at the clock. The first thread whose time is over
//! writes the record. A wait whose flag comes soon does none of this.

use super::Lowering;
use super::target::compare_as;
use crate::ir::lasting;
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::Value;
use symm_abi::WORD_BYTES;
use symm_abi::deadline::{
    ADDRESS_WORD, BROKEN, EXPECTED_WORD, GOOD, HOST_WORD, LIMIT_WORD, POLLS_OF_A_LOOK, SEEN_WORD, STATE_WORD, TAG_WORD,
};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Scope, SymmOp};

/// The deadline of one op.
#[derive(Clone, Copy)]
pub struct Deadline<'c> {
    pub record: Value<'c, 'c>,
    tag: i64,
}

/// The registers of a thread that looks, by their names in its assembly.
pub struct Looking<'t> {
    pub record: &'t str,
    pub address: &'t str,
    /// Both are 64 bits.
    pub expected: &'t str,
    pub seen: &'t str,
    /// Where it goes on if there is time left.
    pub poll: &'t str,
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// The deadline of an op; S1 where it is not known here how the target has one.
    pub fn deadline(
        &self,
        op: SymmOp<'c, 'a>,
        record: Option<Value<'c, 'a>>,
        tag: Option<i64>,
    ) -> Result<Option<Deadline<'c>>, Reported> {
        let Some(record) = record else { return Ok(None) };
        if matches!(self.target, TritonTarget::Hip(_)) {
            let complaint = "S1: deadlines of waits are for NVIDIA GPUs: leave the deadline out";
            return Err(error(op.operation(), complaint));
        }
        Ok(Some(Deadline { record: lasting(record), tag: tag.unwrap_or(0) }))
    }
}

impl Deadline<'_> {
    /// The registers that [`Deadline::look`] needs; `polls` counts the polls.
    pub const REGISTERS: &'static str =
        ".reg .b32 rest;\n.reg .b64 state, start, now, limit, host;\n.reg .pred busy, gone;\n";

    /// What comes after a poll that has found nothing. Ends where a thread gives up.
    pub fn look(&self, names: &Looking) -> String {
        let Looking { record, address, expected, seen, poll } = names;
        let word = |word: usize| format!("[{record}+{}]", word * WORD_BYTES);
        let written = [
            (TAG_WORD, self.tag.to_string().as_str()),
            (ADDRESS_WORD, address),
            (EXPECTED_WORD, expected),
            (SEEN_WORD, seen),
        ]
        .map(|(place, value)| format!("st.relaxed.sys.global.b64 {}, {value};\n", word(place)))
        .concat();
        let (limit, state, host) = (word(LIMIT_WORD), word(STATE_WORD), word(HOST_WORD));
        format!(
            "and.b32 rest, polls, {};\nsetp.ne.u32 busy, rest, 0;\n@busy bra {poll};\n\
             ld.relaxed.sys.global.b64 state, {state};\nsetp.ne.s64 gone, state, {GOOD};\n@gone bra GONE;\n\
             mov.u64 now, %globaltimer;\nsetp.eq.u32 busy, polls, {POLLS_OF_A_LOOK};\n@busy mov.b64 start, now;\n\
             sub.u64 now, now, start;\nld.relaxed.sys.global.b64 limit, {limit};\nsetp.lt.u64 busy, now, limit;\n\
             @busy bra {poll};\n\
             atom.relaxed.sys.global.cas.b64 state, {state}, {GOOD}, {BROKEN};\nsetp.ne.s64 gone, state, {GOOD};\n\
             @gone bra GONE;\nmov.b64 state, {BROKEN};\n{written}\
             GONE:\nld.relaxed.sys.global.b64 host, {host};\nsetp.ne.s64 busy, host, 0;\n\
             @busy st.release.sys.global.b64 [host], state;\n",
            POLLS_OF_A_LOOK - 1
        )
    }

    /// Polls a flag, `$1`, of so many bits until it compares with `$2`, or the record `$3` says that time is over.
    pub fn polls(&self, predicate: CmpiPredicate, bits: u32, scope: Scope, eager_polls: i64) -> String {
        let (scope, registers) = (scope.keyword(), Self::REGISTERS);
        let widened = if bits == 64 { "mov.b64" } else { "cvt.s64.s32" };
        let names = Looking { record: "$3", address: "$1", expected: "wide", seen: "there", poll: "POLL" };
        let look = self.look(&names);
        let compare = compare_as(predicate, bits);
        format!(
            "{{\n.reg .b{bits} found;\n.reg .b32 polls;\n.reg .b64 wide, there;\n{registers}.reg .pred here;\n\
             mov.u32 polls, 0;\nbra LOOK;\n\
             POLL:\nsetp.gt.u32 here, polls, {eager_polls};\n@here nanosleep.u32 64;\n\
             LOOK:\nld.relaxed.{scope}.global.b{bits} found, [$1];\nsetp.{compare} here, found, $2;\n@here bra HERE;\n\
             add.u32 polls, polls, 1;\n{widened} wide, $2;\n{widened} there, found;\n{look}\
             HERE:\nmov.u32 $0, 0;\n}}"
        )
    }
}
