//! The lines of packets in the assembly of the GPU.
//!
//! Each half of a line, `{d, e}`, is one access of 64 bits to the memory model: PTX promises that the elements of a
//! vector are accessed as wholes, not that the vector is. AMD's instructions of 128 bits promise nothing, so that there
//! a half is an instruction.

use super::packet::{are_of, data, for_each_line, halves};
use crate::ir::triton::deadline::{Deadline, Looking};
use crate::ir::triton::words::{constant_like, element_wise};
use crate::ir::{Builder, lasting};
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use symm_abi::wait::EAGER_POLLS;

/// The halves of lines, `{d, e}` as 64 bits.
pub type Halves<'c> = [Value<'c, 'c>; 2];

/// The lines of an op, one or a tensor of them.
pub struct Line<'c> {
    address: Value<'c, 'c>,
    epoch: Value<'c, 'c>,
    /// `i32`, 0 where there is no packet.
    mask: Option<Value<'c, 'c>>,
}

impl<'c> Line<'c> {
    pub fn new(b: &Builder<'c>, address: Value<'c, 'c>, epoch: Value<'c, '_>, mask: Option<Value<'c, '_>>) -> Self {
        let epoch = for_each_line(b, epoch, address);
        let mask = mask.map(|mask| b.value("arith.extui", &[mask], epoch.r#type(), &[]));
        Self { address, epoch, mask }
    }

    fn word(&self, b: &Builder<'c>) -> Type<'c> {
        element_wise(self.address.r#type(), b.int(64))
    }

    /// Operands and, after them, the mask if there is one.
    fn operands(&self, operands: &[Value<'c, 'c>]) -> Vec<Value<'c, 'c>> {
        operands.iter().copied().chain(self.mask).collect()
    }

    /// Writes data and epoch.
    pub fn store(&self, b: &Builder<'c>, target: &TritonTarget, data: Value<'c, 'c>) {
        match target {
            TritonTarget::Cuda(_) => {
                let (declared, on) = match self.mask {
                    Some(_) => (".reg .pred on;\nsetp.ne.b32 on, $4, 0;\n", "@on "),
                    None => ("", ""),
                };
                let text = format!(
                    "{{\n.reg .b32 lo, hi;\n.reg .b64 first, second;\n{declared}mov.b64 {{lo, hi}}, $2;\n\
                     mov.b64 first, {{lo, $3}};\nmov.b64 second, {{hi, $3}};\n\
                     {on}st.relaxed.sys.global.v2.b64 [$1], {{first, second}};\nmov.u32 $0, 0;\n}}"
                );
                let operands = self.operands(&[self.address, data, self.epoch]);
                let results = [self.epoch.r#type()];
                assembly(b, &text, &constraints("=r", &["l", "l", "r", "r"][..operands.len()]), &operands, &results);
            }
            TritonTarget::Hip(_) => {
                let [first, second] = halves(b, data, self.epoch);
                let operands = self.operands(&[self.address, first, second]);
                let text = self.guarded(
                    "$0",
                    "$4",
                    "global_store_dwordx2 $1, $2, off sc0 sc1\nglobal_store_dwordx2 $1, $3, off offset:8 sc0 sc1",
                );
                let constraints = constraints("=&s", &["v"; 4][..operands.len()]);
                assembly(b, &text, &(constraints + AMD_CLOBBERS), &operands, &[self.word(b)]);
            }
        }
    }

    /// Reads both halves once; zeros without a packet.
    fn first_look(&self, b: &Builder<'c>) -> Halves<'c> {
        let (operands, word) = (self.operands(&[self.address]), self.word(b));
        let load = "ld.relaxed.sys.global.v2.b64 {$0, $1}, [$2];";
        let (text, outputs) = match self.mask {
            Some(_) => (
                format!("{{\n.reg .pred on;\nsetp.ne.b32 on, $3, 0;\nmov.b64 $0, 0;\nmov.b64 $1, 0;\n@on {load}\n}}"),
                "=&l,=&l",
            ),
            None => (load.to_owned(), "=l,=l"),
        };
        let constraints = constraints(outputs, &["l", "r"][..operands.len()]);
        let found = assembly(b, &text, &constraints, &operands, &[word; 2]);
        [found[0], found[1]]
    }

    /// The data, and whether it is there, from one read of both halves.
    pub fn look(&self, b: &Builder<'c>, halves: Halves<'c>) -> [Value<'c, 'c>; 2] {
        let found = halves.map(|half| self.or_zero(b, half));
        let is_here = are_of(b, found, self.epoch);
        let Some(mask) = self.mask else { return [data(b, found), is_here] };
        let zero = constant_like(b, 0, mask.r#type());
        let predicate = ("predicate", b.integer(64, CmpiPredicate::Eq as i64));
        let is_off = b.value("arith.cmpi", &[mask, zero], is_here.r#type(), &[predicate]);
        [data(b, found), b.binary("arith.ori", is_here, is_off)]
    }

    /// The data, once it has arrived or the deadline has passed; zeros without a packet.
    pub fn wait(&self, b: &Builder<'c>, target: &TritonTarget, deadline: Option<Deadline<'c>>) -> Value<'c, 'c> {
        match target {
            TritonTarget::Cuda(_) => {
                let [first, second] = self.first_look(b);
                let is_on = if self.mask.is_some() { "setp.ne.and.b32 missing, $5, 0, missing;\n" } else { "" };
                let mut operands = self.operands(&[first, second, self.address, self.epoch]);
                let mut kinds = vec!["l", "l", "l", "r", "r"];
                kinds.truncate(operands.len());
                let (declared, look) = deadline.map_or_else(Default::default, |deadline| {
                    operands.push(for_each_line(b, deadline.record, self.address));
                    kinds.push("l");
                    look(deadline, &format!("${}", operands.len()))
                });
                let text = format!(
                    "{{\n.reg .b32 lo, hi, early, late, polls;\n.reg .b64 first, second;\n.reg .pred missing, tired;\n\
                     {declared}mov.b64 first, $1;\nmov.b64 second, $2;\nmov.u32 polls, 0;\n\
                     AGAIN:\nmov.b64 {{lo, early}}, first;\nmov.b64 {{hi, late}}, second;\n\
                     setp.ne.b32 missing, early, $4;\nsetp.ne.or.b32 missing, late, $4, missing;\n{is_on}\
                     @!missing bra HERE;\nadd.u32 polls, polls, 1;\nsetp.gt.u32 tired, polls, {EAGER_POLLS};\n\
                     @tired nanosleep.u32 64;\n{look}ld.relaxed.sys.global.v2.b64 {{first, second}}, [$3];\n\
                     bra AGAIN;\nHERE:\nmov.b64 $0, {{lo, hi}};\n}}"
                );
                assembly(b, &text, &constraints("=l", &kinds), &operands, &[self.word(b)])[0]
            }
            TritonTarget::Hip(_) => self.wait_on_amd(b),
        }
    }

    /// Lanes leave the loop as their lines come: the others go on in it.
    fn wait_on_amd(&self, b: &Builder<'c>) -> Value<'c, 'c> {
        let word = self.word(b);
        let epoch = b.value("arith.extui", &[self.epoch], word, &[]);
        let operands = self.operands(&[self.address, epoch]);
        let text = self.guarded(
            "$3",
            "$7",
            ".Lsymm_again_${:uid}:\n\
             global_load_dwordx2 $0, $5, off sc0 sc1\nglobal_load_dwordx2 $1, $5, off offset:8 sc0 sc1\n\
             s_waitcnt vmcnt(0)\nv_lshrrev_b64 $2, 32, $0\nv_cmp_ne_u64 $4, $2, $6\nv_lshrrev_b64 $2, 32, $1\n\
             v_cmp_ne_u64 vcc, $2, $6\ns_or_b64 vcc, vcc, $4\ns_mov_b64 exec, vcc\ns_sleep 1\n\
             s_cbranch_execnz .Lsymm_again_${:uid}",
        );
        let constraints = constraints("=&v,=&v,=&v,=&s,=&s", &["v"; 3][..operands.len()]) + AMD_CLOBBERS;
        let found = assembly(b, &text, &constraints, &operands, &[word; 5]);
        self.or_zero(b, data(b, [found[0], found[1]]))
    }

    fn guarded(&self, kept: &str, mask: &str, body: &str) -> String {
        guarded(self.mask.is_some(), kept, mask, body)
    }

    fn or_zero(&self, b: &Builder<'c>, value: Value<'c, 'c>) -> Value<'c, 'c> {
        or_zero(b, self.mask, value)
    }
}

/// AMD's assembly for the lanes that are on, with a register pair to keep the others in.
pub fn guarded(is_masked: bool, kept: &str, mask: &str, body: &str) -> String {
    let enter = if is_masked {
        format!("v_cmp_ne_u32 vcc, 0, {mask}\ns_and_saveexec_b64 {kept}, vcc\ns_cbranch_execz .Lsymm_off_${{:uid}}")
    } else {
        format!("s_mov_b64 {kept}, exec")
    };
    let leave = if is_masked { ".Lsymm_off_${:uid}:\n" } else { "" };
    format!("{enter}\n{body}\n{leave}s_mov_b64 exec, {kept}")
}

/// A value, or zero where a mask of `i32` is.
pub fn or_zero<'c>(b: &Builder<'c>, mask: Option<Value<'c, 'c>>, value: Value<'c, 'c>) -> Value<'c, 'c> {
    let Some(mask) = mask else { return value };
    let zero = constant_like(b, 0, mask.r#type());
    let predicate = ("predicate", b.integer(64, CmpiPredicate::Ne as i64));
    let is_on = b.value("arith.cmpi", &[mask, zero], element_wise(mask.r#type(), b.int(1)), &[predicate]);
    let zero = constant_like(b, 0, value.r#type());
    b.value("arith.select", &[is_on, value, zero], value.r#type(), &[])
}

/// What a thread declares and does that waits for a line until a deadline.
fn look(deadline: Deadline, record: &str) -> (String, String) {
    let names = Looking { record, address: "$3", expected: "wanted", seen: "found", poll: "READ" };
    let look = format!(
        "setp.ne.b32 busy, early, $4;\nselp.b32 rest, early, late, busy;\ncvt.s64.s32 found, rest;\n\
         cvt.s64.s32 wanted, $4;\n{}bra HERE;\nREAD:\n",
        deadline.look(&names)
    );
    (format!("{}.reg .b64 wanted, found;\n", Deadline::REGISTERS), look)
}

/// What AMD's assembly changes besides its results.
pub const AMD_CLOBBERS: &str = ",~{vcc},~{scc}";

/// The constraints of assembly that may read and write any memory.
pub fn constraints(outputs: &str, inputs: &[&str]) -> String {
    format!("{outputs},{},~{{memory}}", inputs.join(","))
}

/// Assembly that every thread runs for each of its elements, and that is neither moved, merged nor removed.
pub fn assembly<'c>(
    b: &Builder<'c>,
    text: &str,
    constraints: &str,
    operands: &[Value<'c, 'c>],
    results: &[Type<'c>],
) -> Vec<Value<'c, 'c>> {
    let attributes = [
        ("asm_string", b.string(text)),
        ("constraints", b.string(constraints)),
        ("packed_element", b.integer(32, 1)),
        ("pure", b.parse("false")),
    ];
    let op = b.op("tt.elementwise_inline_asm", operands, results, &attributes);
    op.results().map(|result| lasting(result.into())).collect()
}
