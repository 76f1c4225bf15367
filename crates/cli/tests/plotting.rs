//! `ncirrus plot`.
use std::path::Path;
use std::process::Output;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");

fn plot(arguments: &[&str], folder: &Path) -> Output {
    let mut command = crate::program::command();
    command.arg("plot").args(arguments).current_dir(folder);
    for name in ["NO_COLOR", "COLORTERM", "KITTY_WINDOW_ID", "COLUMNS", "LINES"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", messages(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn pictures_are_written_as_png_and_svg_and_not_over_existing_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = plot(&[EXAMPLE, "sst", "-o", "map.png"], folder);
    assert!(first.status.success() && first.stdout.is_empty(), "{}", messages(&first));
    assert!(messages(&first).contains("sst: index 0 of time"), "{}", messages(&first));
    let png = std::fs::read(folder.join("map.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png.len() > 5_000);
    let again = plot(&[EXAMPLE, "sst", "-o", "map.png"], folder);
    assert_eq!(again.status.code(), Some(7), "{}", messages(&again));
    assert!(plot(&["-q", EXAMPLE, "sst", "-o", "map.png", "--overwrite"], folder).stderr.is_empty());
    assert!(plot(&[EXAMPLE, "sst[:,9,18]", "-o", "series.SVG"], folder).status.success());
    let svg = std::fs::read_to_string(folder.join("series.SVG")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("<polyline") && svg.contains("</svg>"));
    let names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let sized = plot(&["-q", EXAMPLE, "sst[0,:,:]", "-o", "-", "--size", "500x250"], folder);
    assert_eq!(&sized.stdout[16..24], [0, 0, 1, 244, 0, 0, 0, 250]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::os::unix::fs::symlink("elsewhere.png", folder.join("map.png")).unwrap();
    let refused = plot(&[EXAMPLE, "sst[:,9,18]", "-o", "map.png"], folder);
    assert_eq!(refused.status.code(), Some(7), "{}", messages(&refused));
    assert!(folder.join("map.png").is_symlink() && !folder.join("elsewhere.png").exists());
    // As for datasets, the file is written where the link leads.
    assert!(plot(&[EXAMPLE, "sst[:,9,18]", "-o", "map.png", "--overwrite"], folder).status.success());
    assert!(folder.join("map.png").is_symlink() && folder.join("elsewhere.png").is_file());
}

#[test]
fn without_a_terminal_pictures_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let map = printed(&plot(&[EXAMPLE, "sst[0,:,:]"], folder.path()));
    assert!(!map.contains('\x1b') && map.contains('@') && map.contains("°E"), "{map}");
    assert!(map.lines().count() <= 24 && map.lines().all(|line| line.chars().count() <= 80), "{map}");
    let line = printed(&plot(&[EXAMPLE, "sst[:,9,18]"], folder.path()));
    assert!(line.chars().any(|letter| ('\u{2801}'..'\u{2900}').contains(&letter)), "{line}");
    let kitty = printed(&plot(&[EXAMPLE, "sst[0,:,:]", "--graphics", "kitty"], folder.path()));
    assert!(kitty.starts_with("\x1b_Ga=T,f=100,"), "{:?}", kitty.get(..40));
    let blocks = printed(&plot(&[EXAMPLE, "sst[0,:,:]", "--graphics", "blocks"], folder.path()));
    assert!(blocks.contains("\x1b[0;38;2;") && blocks.contains('▀'));
}

#[test]
fn wrong_arguments_are_errors_that_name_them() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, wanted) in [
        (&[EXAMPLE][..], 2, "required"),
        (&[EXAMPLE, "nope"][..], 3, "nope"),
        (&["absent.nc", "sst"][..], 3, "absent.nc"),
        (&[EXAMPLE, "sst[0,0,0]"][..], 2, "a single value is selected"),
        (&[EXAMPLE, "sst[99,:,:]"][..], 2, "99"),
        (&[EXAMPLE, "sst", "sst[1,:,:]"][..], 2, "several variables are drawn only as lines"),
        (&[EXAMPLE, "sst", "-o", "map.gif"][..], 2, "a picture ends in .png or .svg"),
        (&[EXAMPLE, "sst", "--range", "3"][..], 2, "MIN,MAX"),
        (&[EXAMPLE, "sst", "--log", "--range", "-1,3"][..], 2, "--log needs a positive range"),
        (&[EXAMPLE, "sst", "--colors", "rainbow"][..], 2, "viridis"),
        (&[EXAMPLE, "sst", "-o", "a.png", "--size", "9x9"][..], 2, "200 to 8192"),
        (&[EXAMPLE, "sst", "-o", "no/such/folder.png"][..], 3, "no such file or directory"),
    ] {
        let output = plot(arguments, folder.path());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", messages(&output));
        assert!(messages(&output).contains(wanted), "{arguments:?}: {}", messages(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_difference_of_two_datasets_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let text = printed(&plot(&[EXAMPLE, "sst[0,:,:]", "--compare", EXAMPLE], folder.path()));
    assert!(text.contains("sst.nc minus sst.nc") && text.contains("difference"), "{text}");
}

#[test]
fn expensive_pictures_need_consent() {
    let folder = tempfile::tempdir().unwrap();
    // Chunks of one time each, 16 MiB large, of which a series needs many.
    let cdl = "netcdf a { dimensions: time = 4096; y = 2048; x = 2048; variables: float t(time, y, x); \
               t:_ChunkSizes = 1, 2048, 2048; t:_DeflateLevel = 1; }";
    std::fs::write(folder.path().join("a.cdl"), cdl).unwrap();
    let mut generate = crate::program::command();
    generate.args(["generate", "a.cdl", "a.zarr", "-k", "zarr3"]).current_dir(folder.path());
    assert!(generate.output().unwrap().status.success());
    let dry = plot(&["a.zarr", "t[:,5,5]", "--dry-run"], folder.path());
    assert!(printed(&dry).contains("would read 40 values: 40 requests"), "{}", printed(&dry));
    let asked = plot(&["a.zarr", "t[:,5,5]"], folder.path());
    assert_eq!(asked.status.code(), Some(9), "{}", messages(&asked));
    let wanted = ["more than 256 MiB", "--yes", "1 of 104 values along time is drawn, of 4096"];
    assert!(wanted.iter().all(|wanted| messages(&asked).contains(wanted)), "{}", messages(&asked));
    let all_missing = plot(&["a.zarr", "t[:,5,5]", "--yes"], folder.path());
    assert!(messages(&all_missing).contains("all selected values are missing"), "{}", messages(&all_missing));
}
