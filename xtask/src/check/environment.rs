//! The environment variables that the code reads are those of the book's table.

use crate::tree;
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::Path;

/// The page with the table.
const PAGE: &str = "docs/runtime.md";
/// The header that declares C's names, which begin like variables' ones.
const HEADER: &str = "runtime/include/symm.h";

/// What is read and not in the table, and what is in the table and not read.
pub fn variables_not_told() -> Result<Vec<String>> {
    let mut read = BTreeMap::new();
    let is_code = |file: &String| Path::new(file).extension().is_some_and(|suffix| suffix == "rs" || suffix == "py");
    for file in tree::files()?.into_iter().filter(is_code) {
        for name in quoted(&tree::read(&file)?, '"') {
            read.entry(name).or_insert_with(|| file.clone());
        }
    }
    let header = tree::read(HEADER)?;
    let of_c = |name: &str| header.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    read.retain(|name, _| !of_c(name));
    Ok(differences(&read, &tree::read(PAGE)?))
}

fn differences(read: &BTreeMap<String, String>, page: &str) -> Vec<String> {
    let told: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `SYMM_")?.split_once(" | "))
        .flat_map(|(rest, _)| quoted(&format!("`SYMM_{rest}"), '`'))
        .collect();
    let missing = read.iter().filter(|(name, _)| !told.contains(name));
    let missing =
        missing.map(|(name, file)| format!("{file} reads {name}: add it to the table of variables in {PAGE}"));
    let gone = told.iter().filter(|name| !read.contains_key(*name));
    missing
        .chain(gone.map(|name| format!("{PAGE} has {name}, which no code reads: take it out of the table")))
        .collect()
}

/// The names of variables that stand alone between two quotes.
fn quoted(text: &str, quote: char) -> Vec<String> {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_name =
        |word: &&str| word.strip_prefix("SYMM_").is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_of_name));
    text.split(quote).filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{differences, quoted};
    use std::collections::BTreeMap;

    #[test]
    fn a_variable_is_read_and_in_the_table() {
        let code = "var_os('SYMM_TWO') is said of 'SYMM_TWO is wrong' and of 'SYMM_'; get('SYMM_ONE', '0')";
        let read: BTreeMap<_, _> = quoted(code, '\'').into_iter().map(|name| (name, "a.py".to_owned())).collect();
        assert_eq!(format!("{:?}", read.keys()), "[\"SYMM_ONE\", \"SYMM_TWO\"]");
        let page = "`SYMM_THREE` in a text\n| `SYMM_ONE` | as `SYMM_FOUR` |\n| `SYMM_TWO` | nothing |\n";
        assert!(differences(&read, page).is_empty());
        let found = differences(&read, &page.replace("TWO", "FIVE"));
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("a.py reads SYMM_TWO: ") && found[1].contains(" has SYMM_FIVE, "), "{found:?}");
    }
}
