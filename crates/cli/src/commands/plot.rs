//! `ncirrus plot`: pictures of variables, in the terminal or as files.
use super::show_size;
use crate::CommandStatus;
use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;
use indicatif::ProgressBar;
use ncirrus::store::{
    DatasetShape, OverwritePolicy, PutCondition, StoreContext, Url, create_url, fault, path_text,
};
use ncirrus::{Error, Result, Session, VariableSelect};
use ncirrus_plot::terminal::{self, Graphics, TerminalSize};
use ncirrus_plot::{ColourMap, Figure, PictureSize, PlotOptions, PlotPlan, ScaleOptions};
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};

/// Draw variables: a map, an image or lines, in the terminal or as PNG or SVG.
///
/// One free dimension is drawn as a line, two as a map with coastlines if they are longitude and latitude, and otherwise as an
/// image. Of further dimensions the first selected index is drawn. No more values are read than can be seen: the strides that
/// are used are reported on standard error. Packed values are decoded, and missing ones are transparent.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus plot s3://bucket/sst.zarr sst              a map of the first time, in the terminal
  ncirrus plot sst.nc 'sst[11,:,:]' -o map.png       a map of the twelfth time as PNG
  ncirrus plot sst.nc 'sst[:,9,18]' 'sst[:,12,18]'   two time series
  ncirrus plot a.nc sst --compare b.nc               the difference of two datasets
  ncirrus plot a.nc sst --log --range 1,100 -o sst.svg")]
pub(crate) struct Args {
    /// Path or URL of the dataset; - for standard input.
    url: String,
    /// Variable and selection: VAR or VAR[0:10:2,5,:]; several are drawn as lines.
    #[arg(required = true)]
    variables: Vec<String>,
    /// Write the picture to FILE.png or FILE.svg; - is PNG on standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file.
    #[arg(long, requires = "output", hide_short_help = true)]
    overwrite: bool,
    /// Size of the picture in pixels [default: 1000x600; a map is as high as it needs to be].
    #[arg(long, value_name = "WxH", value_parser = parse_size, requires = "output", hide_short_help = true)]
    size: Option<PictureSize>,
    /// Range of the colours or of the axis [default: without the outer 2 % at each end].
    ///
    /// Lines have the range of all values by default.
    #[arg(long, value_name = "MIN,MAX", value_parser = parse_range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Draw logarithms: only positive values.
    #[arg(long)]
    log: bool,
    /// Colours: viridis, plasma, inferno, magma, cividis, turbo, grey, blues, diverging or brown-green.
    ///
    /// The default is viridis, and diverging if the range crosses zero.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(ColourMap::NAMES.map(|(name, _)| name)))]
    colors: Option<String>,
    /// Draw the difference: the values minus those of another dataset.
    #[arg(long, value_name = "OTHER")]
    compare: Option<String>,
    /// Terminal graphics: kitty, iterm2, sixel, blocks, blocks256 or text.
    ///
    /// The default is what the environment says of the terminal: TERM, TERM_PROGRAM, COLORTERM, NO_COLOR. Pictures that do not
    /// go to a terminal are text.
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(Graphics::NAMES.map(|(name, _)| name)), conflicts_with = "output", hide_short_help = true)]
    graphics: Option<String>,
    /// Read more than 256 MiB if the picture needs it.
    #[arg(short, long)]
    yes: bool,
    /// Print what would be read, and read no values of the variable.
    #[arg(long, hide_short_help = true)]
    dry_run: bool,
    /// Print no notes and no progress.
    #[arg(short, long, hide_short_help = true)]
    quiet: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

const MORE_HINT: &str = "select fewer values, or pass --yes; `ncirrus explain` shows what a selection costs";

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let target = Target::of(args)?;
    let dataset = args.reading.open(&args.url, session)?;
    let compare = args.compare.as_ref().map(|url| args.reading.open(url, session)).transpose()?;
    let selects =
        args.variables.iter().map(|text| VariableSelect::parse(text)).collect::<Result<Vec<_>>>()?;
    let options = PlotOptions {
        size: target.size(args),
        visible: target.visible(),
        scale: ScaleOptions {
            range: args.range,
            log: args.log,
            colours: args.colors.as_deref().and_then(ColourMap::named),
        },
        compare: compare.clone(),
    };
    check_log(args)?;
    let plan = PlotPlan::new(&dataset, &selects, &options)?;
    if !args.quiet {
        crate::message::notes(plan.notes());
    }
    let cost = plan.cost();
    if args.dry_run {
        let (requests, bytes) = (cost.requests, show_size(cost.bytes));
        let text = format!("would read {} values: {requests} requests, {bytes}", cost.values);
        return super::finish(writeln!(anstream::stdout().lock(), "{text}"));
    }
    if cost.bytes > PlotPlan::BUDGET && !args.yes {
        let (bytes, limit) = (show_size(cost.bytes), show_size(PlotPlan::BUDGET));
        let message =
            format!("the picture needs about {bytes} in {} requests, more than {limit}", cost.requests);
        return Ok(crate::hint::report_with(&Error::limit(message), MORE_HINT));
    }
    let bar = if args.quiet { ProgressBar::hidden() } else { super::copy::progress_bar() };
    let figure = plan
        .read(&mut |done, total| super::copy::show_progress(&bar, &args.variables.join(" "), done, total));
    bar.finish_and_clear();
    let status = target.write(&figure?, args.overwrite, session)?;
    [Some(&dataset), compare.as_ref()].into_iter().flatten().for_each(super::reading::print_absent);
    Ok(status)
}

fn check_log(args: &Args) -> Result<()> {
    match args.range {
        Some((low, _)) if args.log && low <= 0.0 => {
            Err(Error::invalid(format!("--log needs a positive range, --range begins at {low}")))
        }
        _ => Ok(()),
    }
}

/// Where the picture goes.
enum Target {
    Terminal { graphics: Graphics, size: TerminalSize },
    Png(PathBuf),
    Svg(PathBuf),
    StandardOutput,
}

impl Target {
    fn of(args: &Args) -> Result<Self> {
        let Some(path) = &args.output else {
            let get = |name: &str| std::env::var(name).ok();
            let chosen = args.graphics.as_deref();
            let named = Graphics::NAMES.iter().find(|(name, _)| chosen == Some(*name)).map(|(_, form)| *form);
            let graphics = named.unwrap_or_else(|| terminal::detect(&get, std::io::stdout().is_terminal()));
            return Ok(Self::Terminal { graphics, size: terminal_size() });
        };
        if path.as_os_str() == "-" {
            return Ok(Self::StandardOutput);
        }
        // A link exists even if it leads nowhere. Whether the name is still free is checked again when the file gets it.
        if path.symlink_metadata().is_ok() && !args.overwrite {
            return Err(fault::exists(path.display()));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        match ending.as_deref() {
            Some("png") => Ok(Self::Png(path.clone())),
            Some("svg") => Ok(Self::Svg(path.clone())),
            _ => Err(Error::invalid("a picture ends in .png or .svg").at_object(path.display())),
        }
    }

    fn size(&self, args: &Args) -> PictureSize {
        match self {
            Self::Terminal { size, .. } => size.picture(),
            _ => args.size.unwrap_or_default(),
        }
    }

    fn visible(&self) -> Option<(u64, u64)> {
        match self {
            Self::Terminal { graphics, size } => size.visible(*graphics),
            _ => None,
        }
    }

    fn write(&self, figure: &Figure, overwrite: bool, session: &Session) -> Result<CommandStatus> {
        match self {
            Self::Terminal { graphics, size } => send(&terminal::show(figure, *graphics, *size)?),
            Self::StandardOutput => send(&figure.to_png()?),
            Self::Png(path) => write_file(path, figure.to_png()?, overwrite, session),
            Self::Svg(path) => write_file(path, figure.to_svg()?.into_bytes(), overwrite, session),
        }
    }
}

fn send(bytes: &[u8]) -> Result<CommandStatus> {
    let mut out = std::io::stdout().lock();
    super::finish(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Writes a file that appears complete or not at all, as datasets of one file do. Without `overwrite` it is an error if the
/// name was taken meanwhile.
fn write_file(path: &Path, bytes: Vec<u8>, overwrite: bool, session: &Session) -> Result<CommandStatus> {
    let policy = if overwrite { OverwritePolicy::Replace } else { OverwritePolicy::Never };
    let text = path_text::of_path(path);
    let (url, context) = (Url::of_path(&text), StoreContext::default());
    session.wait_for_store(&text, async {
        let staged = create_url(&url, DatasetShape::Object, policy, &context).await?;
        staged.store.put(&staged.root, bytes.into(), PutCondition::None).await?;
        staged.commit().await
    })?;
    Ok(CommandStatus::SUCCESS)
}

/// The size of the terminal, also where `COLUMNS` and `LINES` state it.
fn terminal_size() -> TerminalSize {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let default = TerminalSize::default();
    let (columns, rows) = terminal_size::terminal_size()
        .map_or((default.columns, default.rows), |(width, height)| {
            (usize::from(width.0), usize::from(height.0))
        });
    TerminalSize {
        columns: number("COLUMNS").unwrap_or(columns),
        rows: number("LINES").unwrap_or(rows),
        pixels: pixels(),
    }
}

#[cfg(unix)]
fn pixels() -> Option<(u32, u32)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_xpixel > 0 && size.ws_ypixel > 0).then(|| (u32::from(size.ws_xpixel), u32::from(size.ws_ypixel)))
}

#[cfg(not(unix))]
fn pixels() -> Option<(u32, u32)> {
    None
}

fn parse_size(text: &str) -> std::result::Result<PictureSize, String> {
    let side = |part: &str| part.trim().parse::<u32>().ok();
    let sides = text.split_once(['x', 'X']).and_then(|(width, height)| Some((side(width)?, side(height)?)));
    let (width, height) = sides.ok_or_else(|| format!("{text:?} is not of the form WIDTHxHEIGHT"))?;
    let allowed = PictureSize::MIN..=PictureSize::MAX;
    if !allowed.contains(&width) || !allowed.contains(&height) {
        return Err(format!("sides have {} to {} pixels", PictureSize::MIN, PictureSize::MAX));
    }
    Ok(PictureSize { width, height, fixed: true })
}

fn parse_range(text: &str) -> std::result::Result<(f64, f64), String> {
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let ends = text.split_once(',').and_then(|(low, high)| Some((number(low)?, number(high)?)));
    let (low, high) = ends.ok_or_else(|| format!("{text:?} is not of the form MIN,MAX"))?;
    if low < high { Ok((low, high)) } else { Err(format!("{low} is not less than {high}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus::ErrorKind;

    #[test]
    fn files_of_others_are_neither_replaced_nor_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map.png");
        let of_another = folder.path().join(format!("map.png.{}.part", std::process::id()));
        std::fs::write(&of_another, "another").unwrap();
        let session = Session::new().unwrap();
        let write = |text: &str, overwrite| write_file(&path, text.into(), overwrite, &session);
        write("one", false).unwrap();
        // The name was taken after the arguments were checked.
        assert_eq!(write("two", false).unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write("three", true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(std::fs::read(&of_another).unwrap(), b"another");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn sizes_and_ranges_are_parsed() {
        assert_eq!(parse_size("800x400"), Ok(PictureSize { width: 800, height: 400, fixed: true }));
        assert!(parse_size("800").is_err() && parse_size("1x1").is_err() && parse_size("9000x400").is_err());
        assert_eq!(parse_range("-2,30.5"), Ok((-2.0, 30.5)));
        assert!(parse_range("3,3").is_err() && parse_range("nan,1").is_err() && parse_range("1").is_err());
    }
}
