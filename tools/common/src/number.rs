//! Numbers on command lines.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads a whole number of a range. The error, which says the range, is the same for one that is too large for the
/// type, negative or a fraction, and for what is none.
///
/// # Errors
/// What the option takes, as text.
pub fn whole<T: Display + FromStr + PartialOrd>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    RangeInclusive<T>: Clone,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("takes a whole number from {} to {}", range.start(), range.end()))
    }
}
