//! `cpu`: programs on the CPU driver, with ranks as threads, against the same by hand.

mod all_reduce;
mod launch;
mod ping_pong;
#[expect(unsafe_code, reason = "calls of compiled code")]
mod program;
pub mod put;

use crate::machine::{InWords as _, Machine};
use crate::table::TextTable;
use crate::{Effort, keep};
use anyhow::Result;
use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    pub ping_pong: ping_pong::Figures,
    pub put: Vec<put::Size>,
    pub all_reduce: all_reduce::Figures,
    pub launch: Vec<launch::Launch>,
}

pub fn run(effort: Effort) -> Result<()> {
    let machine = Machine::here();
    println!("cpu: programs on the CPU driver\n{}\n", machine.line());
    eprintln!("signal ping-pong …");
    let ping_pong = ping_pong::measure(effort)?;
    eprintln!("bulk put …");
    let put = put::measure(effort)?;
    eprintln!("ring all-reduce …");
    let all_reduce = all_reduce::measure(effort)?;
    eprintln!("launches …");
    let launch = launch::measure(effort)?;
    let figures = Figures { ping_pong, put, all_reduce, launch };
    println!();
    for (title, table) in tables(&figures) {
        println!("{title}\n\n{}", table.text());
    }
    keep("cpu", effort, machine, figures)
}

/// What the figures say.
pub fn tables(figures: &Figures) -> Vec<(&'static str, TextTable)> {
    vec![
        ("Signal ping-pong between two ranks", figures.ping_pong.table()),
        ("Bulk put", put::table(&figures.put)),
        ("Ring all-reduce", figures.all_reduce.table()),
        ("Launch of a kernel that does nothing", launch::table(&figures.launch)),
    ]
}
