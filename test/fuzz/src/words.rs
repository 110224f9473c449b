//! What mutations put in: the corpus's own vocabulary, the dialect's keywords, and numbers and types at the edges.

use crate::tokens::{Kind, close, lex};
use std::collections::{BTreeMap, BTreeSet};
use symm_dialect::ops::{Cache, Comparison, Group, Order, RmwKind, Scope, SignalKind};

/// Numbers at which something changes.
pub const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "16",
    "31",
    "32",
    "63",
    "64",
    "65",
    "127",
    "128",
    "255",
    "256",
    "1024",
    "65535",
    "2097152",
    "4194304",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "0x0",
    "0xFFFFFFFFFFFFFFFF",
    "1.0",
    "1.0e300",
    "0.0",
    "1.0e-300",
];

/// Types that few tests use.
pub const TYPES: &[&str] = &[
    "i0",
    "i1",
    "i7",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "i16777215",
    "si32",
    "ui8",
    "index",
    "none",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f80",
    "f128",
    "tf32",
    "f8E5M2",
    "f8E4M3FN",
    "f4E2M1FN",
    "complex<f32>",
    "tuple<>",
    "tuple<i32>",
    "() -> ()",
    "vector<4xf32>",
    "vector<4xi1>",
    "vector<[4]xf32>",
    "vector<f32>",
    "vector<2x2xindex>",
    "vector<1x!llvm.ptr>",
    "tensor<4xf32>",
    "tensor<*xf32>",
    "tensor<?xf32>",
    "tensor<4x!tt.ptr<f32>>",
    "tensor<4x!tt.ptr<f32>, #blocked>",
    "!tt.ptr<f32>",
    "!tt.ptr<f32, 1>",
    "!tt.ptr<i7>",
    "!tt.ptr<",
    "!llvm.ptr",
    "!llvm.ptr<1>",
    "!llvm.ptr<3>",
    "!llvm.struct<(i32)>",
    "!llvm.array<4 x i8>",
    "!llvm.void",
    "!symm.ctx",
    "memref<f32>",
    "memref<0xf32>",
    "memref<*xf32>",
    "memref<4xf32, 1>",
    "memref<4xf32, 3>",
    "memref<?x?xi64, strided<[?, ?], offset: ?>>",
    "memref<4xf32, strided<[-1]>>",
    "memref<4x4xf32, strided<[0, 0]>>",
    "memref<4xmemref<4xf32>>",
    "memref<4x!symm.ctx>",
    "memref<4xvector<4xf32>>",
    "memref<4xi7>",
    "memref<9223372036854775807x4xf32>",
    "memref<4xf32, affine_map<(d0) -> (d0 mod 4)>>",
    "memref<4xf32, #gpu.address_space<workgroup>>",
    "memref<4xindex, \"space\">",
    "!gpu.async.token",
];

/// Words that stand in the same place.
pub fn families() -> Vec<Vec<&'static str>> {
    vec![
        Order::ALL.iter().map(|case| case.keyword()).collect(),
        Scope::ALL.iter().map(|case| case.keyword()).collect(),
        Group::ALL.iter().map(|case| case.keyword()).collect(),
        Cache::ALL.iter().map(|case| case.keyword()).collect(),
        Comparison::ALL.iter().map(|case| case.keyword()).collect(),
        SignalKind::ALL.iter().map(|case| case.keyword()).collect(),
        RmwKind::ALL.iter().map(|case| case.keyword()).collect(),
        vec!["i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64"],
        vec!["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
        vec!["x", "y", "z"],
        vec!["true", "false"],
    ]
}

/// The vocabulary of a corpus. Everything is in the order of its text, so that it is the same in every process.
pub struct Words {
    by_kind: BTreeMap<Kind, Vec<String>>,
    /// Whole types, with their parameters.
    pub types: Vec<String>,
    /// Lines of the texts.
    pub lines: Vec<String>,
    /// Words that stand in the same place.
    pub families: Vec<Vec<&'static str>>,
}

/// Words that begin a type with parameters.
const SHAPED: &[&str] = &["memref", "vector", "tensor", "complex", "tuple"];

impl Words {
    /// The vocabulary of these texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut by_kind: BTreeMap<Kind, BTreeSet<String>> = BTreeMap::new();
        let (mut types, mut lines) = (BTreeSet::new(), BTreeSet::new());
        for text in texts {
            let tokens = lex(text);
            for (index, (kind, range)) in tokens.iter().enumerate() {
                let word = String::from_utf8_lossy(&text[range.clone()]).into_owned();
                let begins_type = *kind == Kind::Type || SHAPED.contains(&word.as_str());
                let bracket = tokens.get(index + 1).is_some_and(|(_, next)| text[next.start] == b'<');
                if let (true, true, Some(end)) = (begins_type, bracket, close(text, &tokens, index + 1)) {
                    let whole = &text[range.start..tokens[end - 1].1.end];
                    types.insert(String::from_utf8_lossy(whole).into_owned());
                }
                if *kind != Kind::Blank {
                    by_kind.entry(*kind).or_default().insert(word);
                }
            }
            lines.extend(String::from_utf8_lossy(text).lines().map(str::to_owned));
        }
        types.extend(TYPES.iter().map(|ty| (*ty).to_owned()));
        by_kind.entry(Kind::Number).or_default().extend(NUMBERS.iter().map(|number| (*number).to_owned()));
        Self {
            by_kind: by_kind.into_iter().map(|(kind, words)| (kind, words.into_iter().collect())).collect(),
            types: types.into_iter().collect(),
            lines: lines.into_iter().collect(),
            families: families(),
        }
    }

    /// Every token of a kind.
    pub fn of_kind(&self, kind: Kind) -> &[String] {
        self.by_kind.get(&kind).map_or(&[], Vec::as_slice)
    }
}
