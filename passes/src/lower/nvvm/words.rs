//! Loads and stores with a cache modifier, which LLVM can't express: PTX text that moves words.

use super::ptx;
use crate::ir::address::{from_memory, memory_type, to_memory};
use crate::ir::{Builder, signed};
use crate::lower::access::remote_element;
use melior::dialect::llvm;
use melior::ir::{Type, Value, ValueLike};
use symm_dialect::ops::{Cache, RemoteLoad, RemoteStore, SymmOp};
use symm_dialect::shape::{Shaped, byte_width, scalar};

/// A load with a cache modifier, where its mask is true.
pub fn load<'c: 'a, 'a>(b: &Builder<'c>, op: RemoteLoad<'c, 'a>, cache: Cache) -> Value<'c, 'c> {
    let ty = op.result().r#type();
    let moved = memory_type(b, ty);
    let address = remote_element(SymmOp::RemoteLoad(op), b, op.ptr(), &op.indices());
    let words = Words::of(ty);
    let load = |b: &Builder<'c>| {
        let results = words.list(0);
        let text = format!("ld.global.{}{} {results}, [${}];", cache.keyword(), words.suffix(), words.count);
        let constraints = format!("{},l,~{{memory}}", vec![format!("={}", words.register); words.count].join(","));
        let raw = ptx::inline(b, &text, &constraints, &[address], Some(words.raw(b))).expect("a result");
        words.join(b, raw, moved)
    };
    let value = match op.mask() {
        None => load(b),
        Some(mask) => {
            let other = |b: &Builder<'c>| op.other().map_or_else(|| b.zero(moved), |other| to_memory(b, other));
            b.choose(mask, moved, load, other)
        }
    };
    from_memory(b, value, ty)
}

/// A store with a cache modifier, where its mask is true.
pub fn store<'c: 'a, 'a>(b: &Builder<'c>, op: RemoteStore<'c, 'a>, cache: Cache) {
    let address = remote_element(SymmOp::RemoteStore(op), b, op.ptr(), &op.indices());
    let words = Words::of(op.value().r#type());
    let store = |b: &Builder<'c>| {
        let text = format!("st.global.{}{} [$0], {};", cache.keyword(), words.suffix(), words.list(1));
        let constraints = format!("l,{},~{{memory}}", vec![words.register; words.count].join(","));
        let parts = words.split(b, to_memory(b, op.value()));
        ptx::inline(b, &text, &constraints, &[&[address], parts.as_slice()].concat(), None);
    };
    match op.mask() {
        None => store(b),
        Some(mask) => b.when(mask, store),
    }
}

/// Why PTX text can't move a value with a cache modifier, if it can't.
pub fn refuse_width(ty: Type, lane_mask: bool) -> Option<String> {
    let count: u64 = Shaped::vector(ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product());
    let bytes = byte_width(scalar(ty)) * count;
    if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
        return Some(format!("a cache modifier needs an access of 1, 2, 4, 8 or 16 bytes, got {ty}"));
    }
    lane_mask.then(|| "a cache modifier needs a mask of one i1, not one for each lane".into())
}

/// How PTX text moves a value: as 16-, 32- or 64-bit words, up to four of 32 bits.
struct Words {
    count: usize,
    bits: u32,
    register: &'static str,
}

impl Words {
    fn of(ty: Type) -> Self {
        let elements: u64 = Shaped::vector(ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product());
        match byte_width(scalar(ty)) * elements {
            16 => Self { count: 4, bits: 32, register: "r" },
            8 => Self { count: 1, bits: 64, register: "l" },
            4 => Self { count: 1, bits: 32, register: "r" },
            2 => Self { count: 1, bits: 16, register: "h" },
            _ => Self { count: 1, bits: 8, register: "h" },
        }
    }

    fn suffix(&self) -> String {
        if self.count > 1 { format!(".v{}.b{}", self.count, self.bits) } else { format!(".b{}", self.bits) }
    }

    /// The operands from `first` on, as PTX lists them.
    fn list(&self, first: usize) -> String {
        let names: Vec<String> = (first..first + self.count).map(|index| format!("${index}")).collect();
        if self.count > 1 { format!("{{{}}}", names.join(", ")) } else { names.join("") }
    }

    /// The width of one register: PTX has none of 8 bits.
    fn width(&self) -> u32 {
        self.bits.max(16)
    }

    fn raw<'c>(&self, b: &Builder<'c>) -> Type<'c> {
        let word = b.int(self.width());
        if self.count == 1 {
            return word;
        }
        llvm::r#type::r#struct(b.context, &vec![word; self.count], false)
    }

    /// What was loaded, as a value of the type it has in memory.
    fn join<'c>(&self, b: &Builder<'c>, raw: Value<'c, 'c>, moved: Type<'c>) -> Value<'c, 'c> {
        if self.count == 1 {
            let narrow = if self.bits < 16 { b.value("arith.trunci", &[raw], b.int(self.bits), &[]) } else { raw };
            ptx::bitcast(b, narrow, moved)
        } else {
            let vector = Type::vector(&[self.count as u64], b.int(32));
            let mut value = b.value("llvm.mlir.undef", &[], vector, &[]);
            for index in 0..self.count {
                let index = signed(index);
                let word = b.extract(raw, &[index], b.int(32));
                value = b.value("llvm.insertelement", &[value, word, b.i64(index)], vector, &[]);
            }
            ptx::bitcast(b, value, moved)
        }
    }

    /// The registers of a value of the type it has in memory.
    fn split<'c>(&self, b: &Builder<'c>, moved: Value<'c, 'c>) -> Vec<Value<'c, 'c>> {
        if self.count == 1 {
            let word = ptx::bitcast(b, moved, b.int(self.bits));
            return vec![if self.bits < 16 { b.value("arith.extui", &[word], b.int(16), &[]) } else { word }];
        }
        let vector = ptx::bitcast(b, moved, Type::vector(&[self.count as u64], b.int(32)));
        (0..self.count)
            .map(|index| b.value("llvm.extractelement", &[vector, b.i64(signed(index))], b.int(32), &[]))
            .collect()
    }
}
