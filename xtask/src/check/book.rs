//! The pages of the book.

use crate::tree;
use anyhow::Result;
use std::path::Path;

/// Every page of docs/ is in the navigation of mkdocs.yml: a page that is not there is built, and nobody finds it.
pub fn pages_left_out() -> Result<Vec<String>> {
    Ok(left_out(&tree::files()?, &tree::read("mkdocs.yml")?))
}

fn left_out(files: &[String], mkdocs: &str) -> Vec<String> {
    let navigation = mkdocs.split_once("\nnav:").map_or("", |(_, navigation)| navigation);
    let named: Vec<&str> = navigation.split_whitespace().collect();
    let is_page = |file: &&str| Path::new(file).extension().is_some_and(|suffix| suffix == "md");
    let pages = files.iter().filter_map(|file| file.strip_prefix("docs/")).filter(is_page);
    pages
        .filter(|page| !named.contains(page))
        .map(|page| format!("docs/{page} is in no chapter of the book: add it to `nav` in mkdocs.yml"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn a_page_is_in_the_navigation_by_its_whole_path() {
        let mkdocs = "exclude: lost.md\nnav:\n  - Start:\n      - index.md\n      - Ops: generated/dialect.md\n";
        let files = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let found = files(&["docs/index.md", "docs/generated/dialect.md", "docs/book.css", "README.md"]);
        assert!(left_out(&found, mkdocs).is_empty());
        let lost = files(&["docs/lost.md", "docs/dialect.md"]);
        assert_eq!(left_out(&lost, mkdocs).len(), 2);
    }
}
