//! Plots as SVG: lines over a logarithmic or linear scale, labelled at their ends.

use std::error::Error;

use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::Failure;
use crate::statistics::Figure;

const SIZE: (u32, u32) = (640, 360);
const COLOURS: [RGBColor; 4] =
    [RGBColor(31, 95, 168), RGBColor(200, 80, 30), RGBColor(60, 140, 60), RGBColor(120, 80, 160)];

/// A line: what it shows and its points, none of them zero.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Both axes logarithmic, so that a power is a straight line.
pub(crate) fn powers(x: &str, y: &str, lines: &[Line]) -> Result<String, Failure> {
    let (xs, ys) = ranges(lines);
    drawn(lines, (xs.0..xs.1).log_scale(), (ys.0 / 1.5..ys.1 * 2.0).log_scale(), [x, y])
}

/// The vertical axis logarithmic, so that an exponential is a straight line.
pub(crate) fn exponentials(x: &str, y: &str, lines: &[Line]) -> Result<String, Failure> {
    let (xs, ys) = ranges(lines);
    drawn(lines, RangedCoordf64::from(xs.0..xs.1), (ys.0 / 1.5..ys.1 * 2.0).log_scale(), [x, y])
}

/// The minimum and maximum of both coordinates.
fn ranges(lines: &[Line]) -> ((f64, f64), (f64, f64)) {
    let points = || lines.iter().flat_map(|line| &line.points);
    let range = |of: fn(&(f64, f64)) -> f64| {
        points().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| (least.min(v), most.max(v)))
    };
    (range(|point| point.0), range(|point| point.1))
}

fn drawn<X, Y>(
    lines: &[Line],
    x: impl AsRangedCoord<CoordDescType = X, Value = f64>,
    y: impl AsRangedCoord<CoordDescType = Y, Value = f64>,
    names: [&str; 2],
) -> Result<String, Failure>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut svg = String::new();
    draw(&mut svg, lines, x, y, names).map_err(|error| error.to_string())?;
    Ok(svg + "\n")
}

fn draw<'a, X, Y>(
    svg: &'a mut String,
    lines: &[Line],
    x: impl AsRangedCoord<CoordDescType = X, Value = f64>,
    y: impl AsRangedCoord<CoordDescType = Y, Value = f64>,
    [x_name, y_name]: [&str; 2],
) -> Result<(), Box<dyn Error + 'a>>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut builder = ChartBuilder::on(&area);
    let mut chart = builder.margin(12).x_label_area_size(40).y_label_area_size(60).build_cartesian_2d(x, y)?;
    let label = |value: &f64| match value.fract() {
        0.0 => format!("{value:.0}"),
        _ => Figure(*value).to_string(),
    };
    chart
        .configure_mesh()
        .disable_mesh()
        .label_style(("sans-serif", 13))
        .x_desc(x_name)
        .y_desc(y_name)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .draw()?;
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let series =
            chart.draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(2)).point_size(3))?;
        series
            .label(line.label.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .label_font(("sans-serif", 13))
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    area.present()?;
    Ok(())
}
