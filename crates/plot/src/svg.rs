//! A scene as SVG.
use crate::clip::Bounds;
use crate::colours::Rgb;
use crate::scene::{Anchor, Scene, Shape, TextSize};
use base64::Engine as _;
use ncirrus::Result;
use std::fmt::Write as _;

const FONT: &str = "'Noto Sans Mono','DejaVu Sans Mono',ui-monospace,Menlo,Consolas,monospace";

/// The text of the file.
pub(crate) fn text(scene: &Scene) -> Result<String> {
    let (width, height) = (scene.width, scene.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"{FONT}\">\n<title>{}</title>\n",
        escaped(&scene.description)
    );
    // The ground has holes where images are, whose missing values are transparent.
    let mut shapes = scene.shapes.as_slice();
    if let Some((Shape::Box { bounds, colour }, rest)) = shapes.split_first() {
        let mut path = rectangle(*bounds);
        rest.iter().filter_map(image_bounds).for_each(|hole| path.push_str(&rectangle(hole)));
        _ = writeln!(svg, "<path d=\"{path}\" fill-rule=\"evenodd\" fill=\"{}\"/>", hex(*colour));
        shapes = rest;
    }
    for shape in shapes {
        write_shape(&mut svg, shape)?;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn image_bounds(shape: &Shape) -> Option<Bounds> {
    match shape {
        Shape::Image { bounds, .. } => Some(*bounds),
        _ => None,
    }
}

fn rectangle(bounds: Bounds) -> String {
    let Bounds { left, top, right, bottom } = bounds;
    format!("M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}Z")
}

fn write_shape(svg: &mut String, shape: &Shape) -> Result<()> {
    // Writing to a string does not fail.
    _ = match shape {
        Shape::Box { bounds, colour } => {
            writeln!(svg, "<path d=\"{}\" fill=\"{}\"/>", rectangle(*bounds), hex(*colour))
        }
        Shape::Polygon { points, colour } => {
            writeln!(svg, "<polygon points=\"{}\" fill=\"{}\"/>", places(points), hex(*colour))
        }
        Shape::Line { points, colour, opacity, width } => {
            write!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"", places(points), hex(*colour))
                .and_then(
                    |()| if *opacity < 1.0 { write!(svg, " stroke-opacity=\"{opacity}\"") } else { Ok(()) },
                )
                .and_then(|()| writeln!(svg, " stroke-width=\"{width}\" stroke-linejoin=\"round\"/>"))
        }
        Shape::Image { bounds, picture } => {
            let png = base64::engine::general_purpose::STANDARD.encode(crate::raster::picture_png(picture)?);
            let Bounds { left, top, .. } = bounds;
            writeln!(
                svg,
                "<image x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" preserveAspectRatio=\"none\" \
                 style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{png}\"/>",
                bounds.width(),
                bounds.height()
            )
        }
        Shape::Text { x, y, text, size, anchor, vertical, colour } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn =
                if *vertical { format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"") } else { String::new() };
            let (weight, em) = match size {
                TextSize::Small => ("", size.advance() / 0.6),
                TextSize::Title => (" font-weight=\"bold\"", size.advance() / 0.6),
            };
            writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{em:.1}\"{weight} text-anchor=\"{anchor}\" \
                 dominant-baseline=\"central\" fill=\"{}\"{turn}>{}</text>",
                hex(*colour),
                escaped(text)
            )
        }
    };
    Ok(())
}

fn places(points: &[(f64, f64)]) -> String {
    let mut text = String::with_capacity(points.len() * 12);
    for (x, y) in points {
        _ = write!(text, "{x:.1},{y:.1} ");
    }
    text.truncate(text.trim_end().len());
    text
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text as XML has it. Control characters, which XML 1.0 does not allow, become blanks.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() || ['\u{fffe}', '\u{ffff}'].contains(&letter) => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
