//! Line charts as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

/// A chart; its lines bear their names at their right ends. Ours are drawn over the others, which are wide and show
/// what is below: lines that coincide are all seen.
pub struct Chart<'a> {
    pub title: &'a str,
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    pub lines: Vec<Line>,
}

/// An axis.
pub struct Axis<'a> {
    pub title: &'a str,
    /// The base of a logarithmic axis; a linear one starts at 0.
    pub base: Option<f64>,
    /// How a value is written.
    pub label: fn(f64) -> String,
}

/// A line.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub ours: bool,
}

const SIZE: (u32, u32) = (900, 500);
/// Room for the names of the lines, in pixels.
const NAMES: i32 = 230;
/// From one name to the next at least, in pixels.
const LINE_HEIGHT: i32 = 17;
const OURS: [RGBColor; 6] = [
    RGBColor(24, 90, 188),
    RGBColor(0, 140, 158),
    RGBColor(52, 140, 72),
    RGBColor(126, 87, 194),
    RGBColor(96, 125, 160),
    RGBColor(40, 40, 80),
];
const OTHERS: [RGBColor; 3] = [RGBColor(214, 84, 20), RGBColor(196, 140, 0), RGBColor(160, 60, 60)];
const GRID: RGBColor = RGBColor(226, 226, 226);

impl Axis<'_> {
    fn place(&self, value: f64) -> f64 {
        self.base.map_or(value, |base| value.log(base))
    }

    fn text(&self, place: f64) -> String {
        match self.base {
            // Between whole powers there is a line and no number.
            Some(_) if (place - place.round()).abs() > 1e-6 => String::new(),
            Some(base) => (self.label)(base.powf(place.round())),
            None => (self.label)(place),
        }
    }

    fn range(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let places = values.map(|value| self.place(value));
        let (low, high) = places.fold((f64::MAX, f64::MIN), |(low, high), place| (low.min(place), high.max(place)));
        let room = 0.06 * (high - low).max(0.1);
        if self.base.is_some() { low - room..high + room } else { 0.0..high * 1.1 }
    }
}

impl Chart<'_> {
    /// Draws the chart to a file.
    pub fn draw(&self, path: &Path) -> Result<()> {
        self.draw_to(&SVGBackend::new(path, SIZE).into_drawing_area())
            .map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))
    }

    fn draw_to<'b>(
        &self,
        root: &DrawingArea<SVGBackend<'b>, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'b> as DrawingBackend>::ErrorType>> {
        root.fill(&WHITE)?;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let mut chart = ChartBuilder::on(root)
            .caption(self.title, ("sans-serif", 19))
            .margin(14)
            .margin_right(NAMES)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(
                self.x.range(points().map(|point| point.0)),
                self.y.range(points().map(|point| point.1)),
            )?;
        chart
            .configure_mesh()
            .x_desc(self.x.title)
            .y_desc(self.y.title)
            .x_label_formatter(&|place| self.x.text(*place))
            .y_label_formatter(&|place| self.y.text(*place))
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .draw()?;
        let (mut ours, mut others) = (OURS.iter().cycle(), OTHERS.iter().cycle());
        let mut names = Vec::new();
        let (ours_last, others_first): (Vec<_>, Vec<_>) = self.lines.iter().partition(|line| line.ours);
        for line in others_first.into_iter().chain(ours_last) {
            let (width, opacity) = if line.ours { (2, 1.0) } else { (5, 0.55) };
            let color = *if line.ours { ours.next() } else { others.next() }.expect("cycles do not end");
            let places: Vec<_> = line.points.iter().map(|&(x, y)| (self.x.place(x), self.y.place(y))).collect();
            chart.draw_series(LineSeries::new(places.iter().copied(), color.mix(opacity).stroke_width(width)))?;
            chart.draw_series(
                places.iter().map(|&place| Circle::new(place, width / 2 + 2, color.mix(opacity).filled())),
            )?;
            if let Some(last) = places.last() {
                names.push((chart.backend_coord(last), line.name.as_str(), color));
            }
        }
        names.sort_by_key(|((_, y), ..)| *y);
        let mut free = 0;
        for ((x, y), name, color) in names {
            let y = y.max(free);
            free = y + LINE_HEIGHT;
            root.draw(&Text::new(name, (x + 10, y - 6), ("sans-serif", 13).into_font().color(&color)))?;
        }
        root.present()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_drawn_over_the_others() {
        let line = |name: &str, ours| Line { name: name.to_owned(), points: vec![(0.0, 1.0), (1.0, 2.0)], ours };
        let axis = || Axis { title: "", base: None, label: |value| value.to_string() };
        let lines = vec![line("ours", true), line("theirs", false)];
        let mut svg = String::new();
        Chart { title: "", x: axis(), y: axis(), lines }
            .draw_to(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area())
            .unwrap();
        let drawn = |what: &str| svg.find(what).unwrap_or_else(|| panic!("no {what} in {svg}"));
        let ours = drawn(r##"opacity="1" stroke="#185ABC" stroke-width="2""##);
        assert!(ours > drawn(r##"opacity="0.55" stroke="#D65414" stroke-width="5""##));
    }
}
