//! Two images of `f32` side by side, as a PNG with a colour map.

use anyhow::{Context, Result, ensure};
use npyz::NpyFile;
use png::{BitDepth, ColorType, Encoder};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

/// Pixels for each element, along each side.
const SCALE: usize = 3;
/// Pixels between the images.
const GAP: usize = 12;
const BACKGROUND: [u8; 3] = [255; 3];

struct Image {
    height: usize,
    width: usize,
    values: Vec<f32>,
}

/// Writes `before | after`, both on the scale of `before`.
pub fn write(before: &Path, after: &Path, to: &Path) -> Result<()> {
    let (before, after) = (read(before)?, read(after)?);
    ensure!(before.height == after.height && before.width == after.width, "the images differ in shape");
    let low = before.values.iter().copied().fold(f32::INFINITY, f32::min);
    let high = before.values.iter().copied().fold(f32::NEG_INFINITY, f32::max);

    let (width, height) = (2 * before.width * SCALE + GAP, before.height * SCALE);
    let mut pixels = Vec::with_capacity(3 * width * height);
    for row in 0..height {
        for column in 0..width {
            let second = before.width * SCALE + GAP;
            let (image, column) = if column < second { (&before, column) } else { (&after, column - second) };
            pixels.extend(match column / SCALE {
                column if column < image.width => {
                    let value = image.values[row / SCALE * image.width + column];
                    colorous::INFERNO.eval_continuous(f64::from((value - low) / (high - low))).as_array()
                }
                _ => BACKGROUND,
            });
        }
    }
    let file = File::create(to).with_context(|| format!("cannot write {}", to.display()))?;
    let mut encoder = Encoder::new(BufWriter::new(file), u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish().with_context(|| format!("cannot write {}", to.display()))
}

fn read(path: &Path) -> Result<Image> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let array = NpyFile::new(&bytes[..])?;
    let &[height, width] = array.shape() else { anyhow::bail!("{} is not an image", path.display()) };
    let (height, width) = (usize::try_from(height)?, usize::try_from(width)?);
    Ok(Image { height, width, values: array.into_vec()? })
}
