//! What a program of a kernel, or a host, asks for at one line: as Python says it, and as ops of the checker.
//!
//! Blocks come as in `interpreter.rs`: the bytes of numpy's arrays, `pointers` as 64-bit addresses, `mask` a byte for
//! each.

use super::memory::{Memory, read};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::VecDeque;
use std::sync::Arc;
use symm_abi::packet::LINE_BYTES;
use symm_abi::wait::Compare;
use symm_checker::op::{Float, Op, Order, Range, Signal, Site, Strong, Until, Update};
use symm_checker::task::Scope;

/// An op of the checker, and what it does to the program's memory.
pub struct Step {
    pub op: Op,
    pub site: Site,
    /// Where each of its ranges is.
    pub addresses: Vec<u64>,
    /// The answer's place among the batch's answers, and where in its bytes.
    pub answer: Option<(usize, usize)>,
}

/// What is left to do of a batch, and the answers so far.
#[derive(Default)]
pub struct Batch {
    pub steps: VecDeque<Step>,
    pub answers: Vec<Vec<u8>>,
    /// Why the task ends here.
    pub failure: Option<(Site, String)>,
}

/// A block of accesses, of `width` bytes each.
struct Block {
    pointers: Vec<u8>,
    mask: Option<Vec<u8>>,
    width: usize,
}

impl Block {
    /// The elements that are not masked: their numbers and addresses.
    fn elements(&self) -> impl Iterator<Item = (usize, u64)> {
        let is_on = |index: &usize| self.mask.as_ref().is_none_or(|mask| mask.get(*index).is_some_and(|&on| on != 0));
        (0..self.pointers.len() / 8).filter(is_on).map(|index| (index, word(&self.pointers, index, 8)))
    }
}

/// The `index`th value of this many bytes.
fn word(values: &[u8], index: usize, width: usize) -> u64 {
    let mut bytes = [0; 8];
    if let Some(found) = values.get(index * width..(index + 1) * width) {
        bytes[..width.min(8)].copy_from_slice(&found[..width.min(8)]);
    }
    u64::from_le_bytes(bytes)
}

/// Reads the parts of an op that Python says.
struct Said<'py>(Bound<'py, PyTuple>);

impl<'py> Said<'py> {
    fn get<T: FromPyObjectOwned<'py>>(&self, at: usize) -> PyResult<T> {
        self.0.get_item(at)?.extract().map_err(Into::into)
    }

    fn block(&self) -> PyResult<Block> {
        let width = self.get::<usize>(4)?;
        if ![1, 2, 4, 8].contains(&width) {
            return Err(PyValueError::new_err(format!("an access of {width} bytes")));
        }
        Ok(Block { pointers: self.get(2)?, mask: self.get(3)?, width })
    }

    fn order(&self, at: usize) -> PyResult<(Order, Scope)> {
        Ok((order(&self.get::<String>(at)?)?, scope(&self.get::<String>(at + 1)?)?))
    }
}

fn order(name: &str) -> PyResult<Order> {
    match name {
        "relaxed" => Ok(Order::Relaxed),
        "acquire" => Ok(Order::Acquire),
        "release" => Ok(Order::Release),
        "acq_rel" => Ok(Order::AcqRel),
        _ => Err(PyValueError::new_err(format!("no order {name}"))),
    }
}

fn scope(name: &str) -> PyResult<Scope> {
    let all = [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys];
    let found = all.into_iter().find(|scope| scope.keyword() == name);
    found.ok_or_else(|| PyValueError::new_err(format!("no scope {name}")))
}

/// An update by the name that the interpreter has for it.
fn update(kind: &str, value: u64) -> PyResult<Update> {
    Ok(match kind {
        "add" => Update::Add(value),
        "sub" => Update::Sub(value),
        "and" => Update::And(value),
        "or" => Update::Or(value),
        "xor" => Update::Xor(value),
        "min" => Update::Min(value),
        "max" => Update::Max(value),
        "umin" => Update::UMin(value),
        "umax" => Update::UMax(value),
        "xchg" => Update::Exchange(value),
        "fadd fp16" => Update::AddFloat(Float::F16, value),
        "fadd bf16" => Update::AddFloat(Float::Bf16, value),
        "fadd fp32" => Update::AddFloat(Float::F32, value),
        "fadd fp64" => Update::AddFloat(Float::F64, value),
        _ => return Err(PyValueError::new_err(format!("no atomic {kind}"))),
    })
}

impl Batch {
    /// What Python asks for next.
    pub fn of(asked: Vec<Bound<'_, PyTuple>>, memory: &mut Memory) -> PyResult<Self> {
        let mut batch = Self::default();
        for said in asked {
            let site: String = said.get_item(1)?.extract()?;
            let name = |error: PyErr| PyValueError::new_err(format!("{site}: {error}"));
            batch.add(&Said(said), memory).map_err(name)?;
        }
        Ok(batch)
    }

    fn add(&mut self, said: &Said, memory: &mut Memory) -> PyResult<()> {
        self.answers.push(Vec::new());
        let site: Site = said.get::<String>(1)?.into();
        let name = said.get::<String>(0)?;
        match name.as_str() {
            "read" => self.read(&site, &said.block()?, memory),
            "write" => self.write(&site, &said.block()?, &said.get::<Vec<u8>>(5)?, memory),
            "load" => self.strong(&site, &said.block()?, said.order(5)?, memory, |strong, _| Ok(Op::Load(strong)))?,
            "store" => {
                let (block, values) = (said.block()?, said.get::<Vec<u8>>(5)?);
                let of = |strong, index| Ok(Op::Store(strong, word(&values, index, block.width)));
                self.strong(&site, &block, said.order(6)?, memory, of)?;
            }
            "atomic" => {
                let (block, values, kind) = (said.block()?, said.get::<Vec<u8>>(5)?, said.get::<String>(8)?);
                let of = |strong, index| Ok(Op::Atomic(strong, update(&kind, word(&values, index, block.width))?));
                self.strong(&site, &block, said.order(6)?, memory, of)?;
            }
            "cas" => {
                let (block, expected, desired) = (said.block()?, said.get::<Vec<u8>>(5)?, said.get::<Vec<u8>>(8)?);
                let of = |strong, index| {
                    let [expected, desired] = [&expected, &desired].map(|values| word(values, index, block.width));
                    Ok(Op::Atomic(strong, Update::Compare { expected, desired }))
                };
                self.strong(&site, &block, said.order(6)?, memory, of)?;
            }
            "signal" => {
                let (block, value, adds) = (said.block()?, said.get::<u64>(5)?, said.get::<bool>(8)?);
                let signal = if adds { Signal::Add(value) } else { Signal::Set(value) };
                self.strong(&site, &block, said.order(6)?, memory, |strong, _| Ok(Op::Signal(strong, signal)))?;
            }
            "wait" => {
                let until = until(said)?;
                let of = |strong, _| Ok(Op::Wait(strong, until));
                self.strong(&site, &said.block()?, said.order(6)?, memory, of)?;
            }
            "put_packet" | "wait_packet" | "try_packet" => self.packets(&name, &site, said, memory)?,
            "put_floats" | "wait_floats" | "try_floats" => self.floats(&name, &site, said, memory)?,
            "fail" => self.failure = Some((site, said.get(2)?)),
            _ => self.step(plain(&name, said)?, &site),
        }
        Ok(())
    }

    fn step(&mut self, op: Op, site: &Site) {
        self.steps.push_back(Step { op, site: site.clone(), addresses: Vec::new(), answer: None });
    }

    /// What the host has changed is a write of its own.
    pub fn told(&mut self, addresses: &[u64], site: &Site, memory: &mut Memory) {
        let (mut ranges, mut bytes) = (Vec::new(), Vec::new());
        for &address in addresses {
            let (more_ranges, more_bytes) = memory.changes(address);
            ranges.extend(more_ranges);
            bytes.extend(more_bytes);
        }
        if !ranges.is_empty() {
            self.step(Op::Write(ranges, bytes), site);
        }
    }

    fn read(&mut self, site: &Site, block: &Block, memory: &Memory) {
        let mut places: Vec<_> = block.elements().map(|(_, address)| address).collect();
        places.sort_unstable();
        places.dedup();
        let (ranges, addresses) = merged(&places, block.width as u64, memory);
        if !ranges.is_empty() {
            self.steps.push_back(Step { op: Op::Read(ranges), site: site.clone(), addresses, answer: None });
        }
    }

    fn write(&mut self, site: &Site, block: &Block, values: &[u8], memory: &mut Memory) {
        let width = block.width;
        let mut elements: Vec<_> = block.elements().collect();
        // Of elements at one place the last one is there.
        elements.sort_by_key(|&(index, address)| (address, std::cmp::Reverse(index)));
        elements.dedup_by_key(|&mut (_, address)| address);
        let (mut places, mut bytes) = (Vec::new(), Vec::new());
        for (index, address) in elements {
            let value = &values[index * width..(index + 1) * width];
            if memory.find(address).is_some() {
                places.push(address);
                bytes.extend(value);
            } else {
                memory.write(address, value);
            }
        }
        let (ranges, addresses) = merged(&places, width as u64, memory);
        if !ranges.is_empty() {
            self.steps.push_back(Step { op: Op::Write(ranges, bytes), site: site.clone(), addresses, answer: None });
        }
    }

    /// An op for each element.
    fn strong(
        &mut self,
        site: &Site,
        block: &Block,
        (order, scope): (Order, Scope),
        memory: &mut Memory,
        of: impl Fn(Strong, usize) -> PyResult<Op>,
    ) -> PyResult<()> {
        let number = self.answers.len() - 1;
        self.answers[number] = vec![0; block.pointers.len() / 8 * block.width];
        for (index, address) in block.elements() {
            let bytes = block.width as u64;
            let found = memory.find(address).filter(|range| range.bytes >= bytes);
            let Some(range) = found.filter(|_| address % bytes == 0) else {
                let message =
                    format!("{address:#x} is not the address of a value of {bytes} bytes that a kernel was given");
                return Err(PyValueError::new_err(message));
            };
            let op = of(Strong { at: Range { bytes, ..range }, order, scope }, index)?;
            let answer = Some((number, index * block.width));
            self.steps.push_back(Step { op, site: site.clone(), addresses: vec![address], answer });
        }
        Ok(())
    }

    /// `("put_packet", site, pointers, mask, 8, data, epoch)`; others have no data.
    fn packets(&mut self, name: &str, site: &Site, said: &Said, memory: &Memory) -> PyResult<()> {
        let (block, data, epoch) = (said.block()?, said.get::<Vec<u8>>(5)?, said.get::<u32>(6)?);
        let (lines, addresses) = lines_of(&block, memory)?;
        let words = block.elements().map(|(index, _)| word(&data, index, 8)).collect();
        let op = match name {
            "put_packet" => Op::PutPacket(lines, words, epoch),
            "wait_packet" => Op::WaitPacket(lines, epoch),
            _ => Op::TryPacket(lines, epoch),
        };
        let answer = Some((self.answers.len() - 1, 0));
        self.steps.push_back(Step { op, site: site.clone(), addresses, answer });
        Ok(())
    }

    /// `("put_floats", site, pointers, mask, 8, data, bits)`, with 16 bytes of data for each line.
    fn floats(&mut self, name: &str, site: &Site, said: &Said, memory: &Memory) -> PyResult<()> {
        let (block, data, bits) = (said.block()?, said.get::<Vec<u8>>(5)?, said.get::<u32>(6)?);
        let (lines, addresses) = lines_of(&block, memory)?;
        let op = match name {
            "put_floats" => {
                let words = |(index, _)| [0, 1].map(|half| word(&data, 2 * index + half, 8));
                Op::PutFloats(lines, block.elements().map(words).collect())
            }
            "wait_floats" => Op::WaitFloats(lines, bits),
            _ => Op::TryFloats(lines, bits),
        };
        let answer = Some((self.answers.len() - 1, 0));
        self.steps.push_back(Step { op, site: site.clone(), addresses, answer });
        Ok(())
    }
}

/// The lines of a block of pointers, and their addresses.
fn lines_of(block: &Block, memory: &Memory) -> PyResult<(Vec<Range>, Vec<u64>)> {
    let (mut lines, mut addresses) = (Vec::new(), Vec::new());
    for (_, address) in block.elements() {
        let Some(range) = memory.find(address).filter(|range| range.bytes >= LINE_BYTES) else {
            return Err(PyValueError::new_err(format!("{address:#x} is not a line of packets of the heap")));
        };
        lines.push(Range { bytes: LINE_BYTES, ..range });
        addresses.push(address);
    }
    Ok((lines, addresses))
}

fn until(said: &Said) -> PyResult<Until> {
    let name = said.get::<String>(8)?;
    let signed = Compare::from_keyword(&name).ok_or_else(|| PyValueError::new_err(format!("no comparison {name}")))?;
    let compare = match signed {
        signed if said.get(9)? => signed,
        Compare::Lt => Compare::UnsignedLt,
        Compare::Le => Compare::UnsignedLe,
        Compare::Gt => Compare::UnsignedGt,
        Compare::Ge => Compare::UnsignedGe,
        same => same,
    };
    Ok(Until { compare, value: said.get(5)?, timeout: false })
}

/// The ops without memory.
fn plain(name: &str, said: &Said) -> PyResult<Op> {
    let tasks = |from: usize, count: usize| -> Arc<[usize]> { (from..from + count).collect() };
    Ok(match name {
        "fence" => {
            let (order, scope) = said.order(2)?;
            Op::Fence(order, scope)
        }
        "launch" => Op::Launch(tasks(said.get(2)?, said.get(3)?)),
        "join" => Op::Join(tasks(said.get(2)?, said.get(3)?)),
        "barrier" => Op::Barrier(said.get(2)?, tasks(0, said.get(3)?)),
        _ => return Err(PyValueError::new_err(format!("no op {name}"))),
    })
}

/// Sorted places of this many bytes each; adjacent ones become one range.
fn merged(places: &[u64], width: u64, memory: &Memory) -> (Vec<Range>, Vec<u64>) {
    let (mut ranges, mut addresses): (Vec<Range>, Vec<u64>) = Default::default();
    let mut end = 0;
    for &address in places {
        let Some(found) = memory.find(address) else { continue };
        match ranges.last_mut() {
            Some(last) if last.heap == found.heap && last.end() == found.start && end == found.end() => {
                last.bytes += width;
            }
            _ => {
                ranges.push(Range { bytes: width, ..found });
                addresses.push(address);
                end = found.end();
            }
        }
    }
    (ranges, addresses)
}

/// The bytes of lines, as they are now.
pub fn lines(addresses: &[u64]) -> Vec<u8> {
    addresses.iter().flat_map(|&address| read(address, 16)).collect()
}

/// Whether a look at lines has missed one that is there.
pub fn came_too_early(there: &[u8], found: &[u8], epoch: u32) -> bool {
    let valid = &found[found.len() / 9 * 8..];
    let is_there = |line: &[u8]| line[4..8] == epoch.to_le_bytes() && line[12..16] == epoch.to_le_bytes();
    there.chunks_exact(16).zip(valid).any(|(line, &valid)| valid == 0 && is_there(line))
}
