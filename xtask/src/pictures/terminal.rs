//! A picture of a terminal: commands and what they print, with bold, dim and coloured text.
use std::fmt::Write;

/// Pixels of a character and of a line, and around the text.
const CHARACTER: f64 = 8.4;
const LINE: usize = 20;
const MARGIN: usize = 20;
const BAR: usize = 34;
const FONT: &str =
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";
const BACKGROUND: &str = "#1b1f27";
const TEXT: &str = "#dde3ea";
const DIM: &str = "#8b96a3";
const PROMPT: &str = "#7ee787";

/// The SVG text of a terminal in which these commands were run; each has its output with ANSI escapes.
pub(super) fn svg(sessions: &[(String, String)]) -> String {
    let mut lines = Vec::new();
    for (command, output) in sessions {
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        let prompt = StyledText {
            column: 0,
            text: "$".to_owned(),
            style: TextStyle { colour: Some(PROMPT), ..TextStyle::default() },
        };
        let bold = TextStyle { is_bold: true, ..TextStyle::default() };
        lines.push(vec![prompt, StyledText { column: 2, text: command.clone(), style: bold }]);
        let mut style = TextStyle::default();
        lines.extend(output.lines().map(|line| runs(line, &mut style)));
    }
    let columns = lines.iter().flatten().map(StyledText::end).max().unwrap_or(0).max(80);
    let width = (f64::from(u32::try_from(columns).unwrap_or(80)) * CHARACTER).ceil() + 2.0 * 20.0;
    let height = BAR + lines.len() * LINE + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" font-family=\"{FONT}\" font-size=\"14\" fill=\"{TEXT}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for (at, colour) in [20, 40, 60].into_iter().zip(["#ff5f57", "#febc2e", "#28c840"]) {
        _ = writeln!(svg, "<circle cx=\"{at}\" cy=\"17\" r=\"6\" fill=\"{colour}\"/>");
    }
    for (number, line) in lines.iter().enumerate() {
        let y = BAR + number * LINE + 14;
        for run in line.iter().filter(|run| !run.text.trim().is_empty()) {
            run.write(&mut svg, y);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct TextStyle {
    is_bold: bool,
    is_dim: bool,
    colour: Option<&'static str>,
}

impl TextStyle {
    /// Applies the codes of an escape sequence, `1;36`.
    fn apply(&mut self, codes: &str) {
        for code in codes.split(';') {
            match code {
                "" | "0" => *self = Self::default(),
                "1" => self.is_bold = true,
                "2" => self.is_dim = true,
                "22" => (self.is_bold, self.is_dim) = (false, false),
                "31" => self.colour = Some("#ff7b72"),
                "32" => self.colour = Some("#7ee787"),
                "33" => self.colour = Some("#e3b341"),
                "34" => self.colour = Some("#79c0ff"),
                "35" => self.colour = Some("#d2a8ff"),
                "36" => self.colour = Some("#56d4dd"),
                "39" => self.colour = None,
                _ => {}
            }
        }
    }
}

/// Text of one style, from a column on.
#[derive(Debug, PartialEq)]
struct StyledText {
    column: usize,
    text: String,
    style: TextStyle,
}

impl StyledText {
    fn end(&self) -> usize {
        self.column + self.text.chars().count()
    }

    fn write(&self, svg: &mut String, y: usize) {
        // Blanks at the beginning are in the position, since viewers drop them.
        let text = self.text.trim_start();
        let blanks = self.text.chars().count() - text.chars().count();
        let pixels = |columns: usize| f64::from(u32::try_from(columns).unwrap_or(0)) * CHARACTER;
        let (x, len) = (20.0 + pixels(self.column + blanks), pixels(text.chars().count()));
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let bold = if self.style.is_bold { " font-weight=\"bold\"" } else { "" };
        let colour = self.style.colour.or(self.style.is_dim.then_some(DIM));
        let colour = colour.map_or(String::new(), |colour| format!(" fill=\"{colour}\""));
        _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y}\" textLength=\"{len:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
             xml:space=\"preserve\"{bold}{colour}>{text}</text>"
        );
    }
}

/// The runs of a line; the style continues on the next one.
fn runs(line: &str, style: &mut TextStyle) -> Vec<StyledText> {
    let mut found: Vec<StyledText> = Vec::new();
    let mut column = 0;
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().map(|text| (None, text));
    let rest =
        pieces.map(|piece| piece.split_once('m').map_or((None, piece), |(codes, text)| (Some(codes), text)));
    for (codes, text) in first.into_iter().chain(rest) {
        if let Some(codes) = codes {
            style.apply(codes);
        }
        if !text.is_empty() {
            let run = StyledText { column, text: text.to_owned(), style: *style };
            column = run.end();
            found.push(run);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_styles() {
        let mut style = TextStyle::default();
        let line = runs("\u{1b}[1msst\u{1b}[0m  \u{1b}[36mfloat\u{1b}[0m (x)", &mut style);
        let texts: Vec<_> = line.iter().map(|run| (run.column, run.text.as_str(), run.style)).collect();
        let bold = TextStyle { is_bold: true, ..TextStyle::default() };
        let cyan = TextStyle { colour: Some("#56d4dd"), ..TextStyle::default() };
        let plain = TextStyle::default();
        assert_eq!(texts, [(0, "sst", bold), (3, "  ", plain), (5, "float", cyan), (10, " (x)", plain)]);
        assert_eq!(style, plain);
    }

    #[test]
    fn a_picture_contains_all_text_escaped() {
        let picture = svg(&[("a <b>".to_owned(), "c & d\n\u{1b}[2mdim\u{1b}[0m\n".to_owned())]);
        for text in ["a &lt;b&gt;", "c &amp; d", ">dim<", DIM] {
            assert!(picture.contains(text), "{text}: {picture}");
        }
        assert!(!picture.contains('\u{1b}'));
    }
}
