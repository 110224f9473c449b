//! Tables that read well on a terminal and in Markdown.

/// A table; the first column is text, the others are numbers.
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these titles.
    pub fn new(titles: &[&str]) -> Self {
        Self { rows: vec![titles.iter().map(|&title| title.to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table in Markdown, its columns aligned.
    pub fn text(&self) -> String {
        let columns = self.rows[0].len();
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let line = |row: &Vec<String>| {
            let cell = |(column, text): (usize, &String)| {
                let gap = " ".repeat(widths[column] - text.chars().count());
                if column == 0 { format!(" {text}{gap} |") } else { format!(" {gap}{text} |") }
            };
            format!("|{}\n", row.iter().enumerate().map(cell).collect::<String>())
        };
        let rule: String = widths
            .iter()
            .enumerate()
            .map(|(column, width)| {
                let dashes = "-".repeat(width + 1);
                if column == 0 { format!("{dashes}-|") } else { format!("{dashes}:|") }
            })
            .collect();
        let mut text = line(&self.rows[0]);
        text.extend(["|", &rule, "\n"]);
        text.extend(self.rows[1..].iter().map(line));
        text
    }
}

/// A number with about three digits that mean something.
pub fn number(value: f64) -> String {
    let digits = if !value.is_finite() {
        return "–".into();
    } else if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

/// A ratio.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "–".into() }
}

#[cfg(test)]
mod tests {
    use super::TextTable;

    #[test]
    fn columns_are_aligned() {
        let mut table = TextTable::new(&["what", "ns"]);
        table.row(["a longer name".to_owned(), "1".to_owned()]);
        assert_eq!(table.text(), "| what          | ns |\n|---------------|---:|\n| a longer name |  1 |\n");
    }
}
