//! Lines of floats that show by themselves that they have come (P1), in the assembly of the GPU: all 16 bytes are data.
//!
//! Each word of 32 bits, or of 64 for floats of 64, is one access to the memory model and shows by itself that it has
//! come. Lines that are off count as zeros, which have come.

use super::line::{AMD_CLOBBERS, assembly, constraints, guarded, or_zero};
use super::packet::for_each_line;
use crate::ir::packets::{CLEARED, Sentinel};
use crate::ir::triton::deadline::{Deadline, Looking};
use crate::ir::triton::words::{atomic_rmw, constant_like, element_wise, offset};
use crate::ir::{Builder, lasting};
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, Value, ValueLike};
use symm_abi::wait::EAGER_POLLS;
use symm_dialect::ops::{Order, RmwKind, Scope};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::Shaped;

/// PTX that sets `on` in the first thread of a program.
macro_rules! thread_0 {
    () => {
        ".reg .pred on;\n.reg .b32 thread;\nmov.u32 thread, %tid.x;\nsetp.eq.b32 on, thread, 0;\n"
    };
}

/// The two words of 64 bits in a line.
pub type Words<'c> = [Value<'c, 'c>; 2];

/// The lines of an op, one or a tensor of them.
pub struct Floats<'c> {
    address: Value<'c, 'c>,
    sentinel: Sentinel,
    /// Whether a line is on.
    mask: Option<Value<'c, 'c>>,
    /// The same as `i32`.
    on: Option<Value<'c, 'c>>,
}

impl<'c> Floats<'c> {
    pub fn new(b: &Builder<'c>, address: Value<'c, 'c>, sentinel: Sentinel, mask: Option<Value<'c, '_>>) -> Self {
        let mask = mask.map(lasting);
        let flag = element_wise(address.r#type(), b.int(32));
        let on = mask.map(|mask| b.value("arith.extui", &[mask], flag, &[]));
        Self { address, sentinel, mask, on }
    }

    /// Whether it is one line, which all threads of the program have. If all of them stored it, a late one could after
    /// the receiver has cleared it.
    fn is_one(&self) -> bool {
        Shaped::tensor(self.address.r#type()).is_none()
    }

    fn word(&self, b: &Builder<'c>) -> Type<'c> {
        element_wise(self.address.r#type(), b.int(64))
    }

    fn operands(&self, operands: &[Value<'c, 'c>]) -> Vec<Value<'c, 'c>> {
        operands.iter().copied().chain(self.on).collect()
    }

    /// Of a line that is accessed in PTX: its registers, how they are moved into its words and out of them, and the
    /// access.
    fn ptx(&self, first: &str, second: &str) -> [String; 4] {
        if self.sentinel.word_bits() == 32 {
            [
                ".reg .b32 a, b, c, d;".into(),
                format!("mov.b64 {{a, b}}, {first};\nmov.b64 {{c, d}}, {second};"),
                format!("mov.b64 {first}, {{a, b}};\nmov.b64 {second}, {{c, d}};"),
                "v4.b32 {a, b, c, d}".into(),
            ]
        } else {
            [
                ".reg .b64 a, b;".into(),
                format!("mov.b64 a, {first};\nmov.b64 b, {second};"),
                format!("mov.b64 {first}, a;\nmov.b64 {second}, b;"),
                "v2.b64 {a, b}".into(),
            ]
        }
    }

    /// What is written for two words of floats, or to clear a line.
    pub fn sent(&self, b: &Builder<'c>, words: Words<'c>, clear: bool) -> Words<'c> {
        let constant = |bits| constant_like(b, bits, self.word(b));
        words.map(|word| if clear { constant(CLEARED) } else { self.sentinel.sent(b, word, constant) })
    }

    /// Writes two words.
    pub fn store(&self, b: &Builder<'c>, target: &TritonTarget, words: Words<'c>) {
        let operands = self.operands(&[self.address, words[0], words[1]]);
        match target {
            TritonTarget::Cuda(_) => {
                let (declared, on) = match (self.on, self.is_one()) {
                    (Some(_), false) => (".reg .pred on;\nsetp.ne.b32 on, $4, 0;\n", "@on "),
                    (None, false) => ("", ""),
                    (Some(_), true) => (concat!(thread_0!(), "setp.ne.and.b32 on, $4, 0, on;\n"), "@on "),
                    (None, true) => (thread_0!(), "@on "),
                };
                let [registers, moved, _, line] = self.ptx("$2", "$3");
                let (width, line) = line.split_once(' ').expect("a width and registers");
                let text = format!(
                    "{{\n{registers}\n{declared}{moved}\n{on}st.relaxed.sys.global.{width} [$1], {line};\n\
                     mov.u32 $0, 0;\n}}"
                );
                let result = element_wise(self.address.r#type(), b.int(32));
                assembly(b, &text, &constraints("=r", &["l", "l", "l", "r"][..operands.len()]), &operands, &[result]);
            }
            TritonTarget::Hip(_) => {
                let text =
                    "global_store_dwordx2 $1, $2, off sc0 sc1\nglobal_store_dwordx2 $1, $3, off offset:8 sc0 sc1";
                let text = guarded(self.on.is_some(), "$0", "$4", text);
                let constraints = constraints("=&s", &["v"; 4][..operands.len()]);
                assembly(b, &text, &(constraints + AMD_CLOBBERS), &operands, &[self.word(b)]);
            }
        }
    }

    /// The words, once they are there or the deadline is over; zeros where there is no line.
    pub fn wait(&self, b: &Builder<'c>, target: &TritonTarget, deadline: Option<Deadline<'c>>) -> Words<'c> {
        match target {
            TritonTarget::Cuda(_) => self.poll(b, self.first_look(b), deadline),
            TritonTarget::Hip(_) => self.wait_on_amd(b),
        }
    }

    /// Reads lines once; zeros where there is none.
    fn first_look(&self, b: &Builder<'c>) -> Words<'c> {
        let [registers, zeroed, moved, line] = self.ptx("$0", "$1");
        let (width, line) = line.split_once(' ').expect("a width and registers");
        let load = format!("ld.relaxed.sys.global.{width} {line}, [$2];\n{moved}");
        let (text, outputs) = match self.on {
            Some(_) => {
                let zeros = zeroed.replace("$0", "0").replace("$1", "0");
                let text = format!("{{\n{registers}\n.reg .pred on;\nsetp.ne.b32 on, $3, 0;\n{zeros}\n@on {load}\n}}");
                (text, "=&l,=&l")
            }
            None => (format!("{{\n{registers}\n{load}\n}}"), "=l,=l"),
        };
        let operands = self.operands(&[self.address]);
        let constraints = constraints(outputs, &["l", "r"][..operands.len()]);
        let found = assembly(b, &text, &constraints, &operands, &[self.word(b); 2]);
        [found[0], found[1]]
    }

    /// Reads lines that have not come again and again.
    fn poll(&self, b: &Builder<'c>, found: Words<'c>, deadline: Option<Deadline<'c>>) -> Words<'c> {
        let mut operands = vec![found[0], found[1], self.address];
        let (declared, look) = deadline.map_or_else(Default::default, |deadline| {
            operands.push(for_each_line(b, deadline.record, self.address));
            look_at_clock(deadline)
        });
        let [registers, moved, ..] = self.ptx("$2", "$3");
        let [.., left, line] = self.ptx("$0", "$1");
        let (width, line) = line.split_once(' ').expect("a width and registers");
        let (bits, names) = (self.sentinel.word_bits(), line.trim_matches(['{', '}']).split(", "));
        let tests = names.enumerate().fold(String::new(), |text, (index, name)| match index {
            0 => text + &format!("setp.eq.b{bits} missing, {name}, -1;\n"),
            _ => text + &format!("setp.eq.or.b{bits} missing, {name}, -1, missing;\n"),
        });
        let text = format!(
            "{{\n{registers}\n.reg .b32 polls;\n.reg .pred missing, tired;\n{declared}{moved}\nmov.u32 polls, 0;\n\
             AGAIN:\n{tests}@!missing bra HERE;\nadd.u32 polls, polls, 1;\nsetp.gt.u32 tired, polls, {EAGER_POLLS};\n\
             @tired nanosleep.u32 64;\n{look}ld.relaxed.sys.global.{width} {line}, [$4];\nbra AGAIN;\nHERE:\n{left}\n}}"
        );
        let kinds = &["l"; 4][..operands.len()];
        let found = assembly(b, &text, &constraints("=&l,=&l", kinds), &operands, &[self.word(b); 2]);
        [found[0], found[1]]
    }

    /// Lanes leave the loop as their lines come: the others go on in it.
    fn wait_on_amd(&self, b: &Builder<'c>) -> Words<'c> {
        let (word, bits) = (self.word(b), self.sentinel.word_bits());
        let pattern = constant_like(b, self.sentinel.pattern(), word);
        let operands = self.operands(&[self.address, pattern]);
        let tests = if bits == 64 {
            "v_cmp_eq_u64 $4, $0, $6\nv_cmp_eq_u64 vcc, $1, $6\ns_or_b64 vcc, vcc, $4\n".to_owned()
        } else {
            let of = |half: &str, first: &str| {
                format!(
                    "v_lshrrev_b64 $2, 32, {half}\nv_cmp_eq_u64 vcc, $2, $6\n{first}v_lshlrev_b64 $2, 32, {half}\n\
                     v_lshrrev_b64 $2, 32, $2\nv_cmp_eq_u64 vcc, $2, $6\ns_or_b64 $4, $4, vcc\n"
                )
            };
            of("$0", "s_mov_b64 $4, vcc\n") + &of("$1", "s_or_b64 $4, $4, vcc\n") + "s_mov_b64 vcc, $4\n"
        };
        let body = format!(
            ".Lsymm_again_${{:uid}}:\n\
             global_load_dwordx2 $0, $5, off sc0 sc1\nglobal_load_dwordx2 $1, $5, off offset:8 sc0 sc1\n\
             s_waitcnt vmcnt(0)\n{tests}s_mov_b64 exec, vcc\ns_sleep 1\ns_cbranch_execnz .Lsymm_again_${{:uid}}"
        );
        let text = guarded(self.on.is_some(), "$3", "$7", &body);
        let constraints = constraints("=&v,=&v,=&v,=&s,=&s", &["v"; 3][..operands.len()]) + AMD_CLOBBERS;
        let found = assembly(b, &text, &constraints, &operands, &[word; 5]);
        [found[0], found[1]].map(|word| or_zero(b, self.on, word))
    }

    /// The words of one look, and whether they are there. Each is read by one thread for all (`packet.rs`).
    pub fn look(&self, b: &Builder<'c>) -> (Words<'c>, Value<'c, 'c>) {
        let bits = self.sentinel.word_bits();
        let (ty, element) = (self.address.r#type(), b.int(bits));
        let text = match Pointer::address_space(ty) {
            0 => format!("!tt.ptr<i{bits}>"),
            space => format!("!tt.ptr<i{bits}, {space}>"),
        };
        let pointers = element_wise(ty, Type::parse(b.context, &text).expect("a type of an unregistered dialect"));
        let first = if pointers == ty { self.address } else { b.value("tt.bitcast", &[self.address], pointers, &[]) };
        let zero = constant_like(b, 0, element_wise(ty, element));
        let pattern = constant_like(b, CLEARED, element_wise(ty, element));
        let truth = element_wise(ty, b.int(1));
        let predicate = ("predicate", b.integer(64, CmpiPredicate::Ne as i64));
        let order = (Order::Relaxed, Scope::Sys);
        let read = |index: usize| {
            let at = if index == 0 { first } else { offset(b, first, b.i64(i64::try_from(index).unwrap_or(0))) };
            or_zero(b, self.on, atomic_rmw(b, RmwKind::Or, at, zero, self.mask, order))
        };
        let words: Vec<_> = (0..self.sentinel.words().len()).map(read).collect();
        let here = words.iter().map(|word| b.value("arith.cmpi", &[*word, pattern], truth, &[predicate]));
        let here = here.reduce(|one, other| b.binary("arith.andi", one, other)).expect("a line has words");
        if bits == 64 {
            return ([words[0], words[1]], here);
        }
        let wide = |word: Value<'c, 'c>| b.value("arith.extui", &[word], self.word(b), &[]);
        let halves: Vec<_> = words
            .chunks(2)
            .map(|pair| {
                let high = b.binary("arith.shli", wide(pair[1]), constant_like(b, 32, self.word(b)));
                b.binary("arith.ori", wide(pair[0]), high)
            })
            .collect();
        ([halves[0], halves[1]], here)
    }
}

/// What a thread declares and does that waits for a line until a deadline: it has seen a cleared word, and
/// expects another.
fn look_at_clock(deadline: Deadline) -> (String, String) {
    let names = Looking { record: "$5", address: "$4", expected: "wanted", seen: "found", poll: "READ" };
    let look = format!("mov.b64 found, -1;\nmov.b64 wanted, 0;\n{}bra HERE;\nREAD:\n", deadline.look(&names));
    (format!("{}.reg .b64 wanted, found;\n", Deadline::REGISTERS), look)
}
