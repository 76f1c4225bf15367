//! Files are written with the same codes, and the same contents, as by Debian's library.
use super::calls::compiled;
use super::dumps::{CLASSIC, ENHANCED};
use super::{Library, printed, run};
use std::path::Path;

/// Dumps without what names the library that wrote the file; with how it is stored, where Debian's `ncdump` can tell.
fn dumped(folder: &Path, file: &str) -> String {
    let special = run(Library::Debian, folder, "ncdump", &["-n", "x", "-s", file]);
    let text = if special.status.success() {
        String::from_utf8(special.stdout).unwrap()
    } else {
        printed(Library::Debian, folder, "ncdump", &["-n", "x", file])
    };
    text.lines().filter(|line| !line.contains("_NCProperties")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn calls_return_and_files_hold_what_they_do_on_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "writing");
    let mut said = Vec::new();
    for (library, name) in [(Library::Debian, "debian"), (Library::Own, "own")] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        said.push(printed(library, folder.path(), &program, &[name]));
    }
    assert!(said[0].lines().count() > 1000, "{}", said[0]);
    for (number, (debian, own)) in said[0].lines().zip(said[1].lines()).enumerate() {
        assert_eq!(own, debian, "line {number}");
    }
    for kind in 0..5 {
        // What was not written into variables that are not filled is left out: all variables are.
        let (debian, own) = (format!("debian/{kind}.nc"), format!("own/{kind}.nc"));
        let plain = |file: &str| printed(Library::Debian, folder.path(), "ncdump", &["-n", "x", file]);
        assert_eq!(plain(&own), plain(&debian), "kind {kind}");
    }
}

/// Compiles a program of `tests/c` and runs it as [`assert_alike_on`] does.
fn assert_alike(name: &str, files: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    assert_alike_on(folder.path(), &compiled(folder.path(), name), files);
}

/// Runs a program on both libraries, each in a folder of its own: what it printed and the dumps of its files are equal.
pub(super) fn assert_alike_on(folder: &Path, program: &str, files: &[&str]) {
    let mut said = Vec::new();
    for (library, place) in [(Library::Debian, "debian"), (Library::Own, "own")] {
        std::fs::create_dir(folder.join(place)).unwrap();
        said.push(printed(library, folder, program, &[place]));
    }
    assert!(said[0].lines().count() > 30, "{}", said[0]);
    for (number, (debian, own)) in said[0].lines().zip(said[1].lines()).enumerate() {
        assert_eq!(own, debian, "line {number} of {program}");
    }
    assert_eq!(said[0].lines().count(), said[1].lines().count());
    for file in files {
        let dumps = ["debian", "own"].map(|place| dumped(folder, &format!("{place}/{file}")));
        assert_eq!(dumps[1], dumps[0], "{file}");
    }
}

#[test]
fn types_groups_and_storage_are_defined_as_by_debians_library() {
    assert_alike("defining_types", &["types.nc", "storage.nc", "copy.nc"]);
}

#[test]
fn the_interface_of_version_2_answers_as_debians() {
    assert_alike("version2", &["2.nc"]);
}

#[test]
fn records_are_read_and_written_as_by_debians_library() {
    assert_alike("records", &["rec0.nc", "rec1.nc"]);
}

#[test]
fn values_are_told_as_text_as_by_debians_library() {
    assert_alike("data_text", &[]);
}

#[test]
fn tables_of_user_defined_formats_are_called_as_by_debians_library() {
    assert_alike("user_formats", &[]);
}

#[test]
fn tables_are_asked_for_boxes_in_the_place_of_steps_and_maps() {
    assert_alike("default_slabs", &["direct.nc"]);
}

#[test]
fn what_was_not_written_keeps_the_fill_value_of_then() {
    let files: Vec<String> =
        (0..3).flat_map(|kind| (0..5).map(move |how| format!("{kind}{how}.nc"))).collect();
    assert_alike("late_fill", &files.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn fill_values_are_changed_and_taken_away_as_by_debians_library() {
    assert_alike("fill_changes", &[]);
}

#[test]
fn names_lead_to_files_as_with_debians_library() {
    assert_alike("file_names", &["a.nc", "b.nc"]);
}

#[test]
fn records_behind_the_end_of_variables_without_fill_value_have_the_default() {
    assert_alike("unfilled", &["unfilled1.nc", "unfilled4.nc"]);
}

#[test]
fn what_was_defined_and_given_up_is_found_again_as_by_debians_library() {
    assert_alike("found_again", &["again.nc", "text.nc"]);
}

#[test]
fn what_is_open_is_read_and_written_whatever_becomes_of_its_name() {
    assert_alike("moved", &[]);
}

#[test]
fn signals_are_handled_by_threads_of_the_program() {
    assert_alike("signals", &["signals.nc"]);
}

#[test]
fn locked_memory_has_the_changes_of_its_file() {
    assert_alike("locked", &[]);
}

#[test]
fn memory_that_a_program_lent_is_not_read_after_the_close() {
    assert_alike("lent", &[]);
}

#[test]
fn what_locked_memory_has_no_room_for_is_refused() {
    assert_alike("locked_room", &[]);
}

#[test]
fn maps_turn_axes_around_and_refused_records_leave_the_others() {
    assert_alike("found_by_hunting", &[]);
}

#[test]
fn a_new_file_that_cannot_be_closed_leaves_nothing_behind_when_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "found_by_hunting");
    let place = folder.path().join("files");
    std::fs::create_dir(&place).unwrap();
    let names =
        || -> Vec<_> { std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    let run_there = || printed(Library::Own, folder.path(), &program, &["files", "given_up"]);
    assert_eq!(run_there(), " nc_create(path, 0 nc_def_enum(n,  0 nc_close(n) -36\n");
    assert!(names().is_empty(), "{:?}", names());
    // What was there before stays.
    std::fs::write(place.join("hunted.nc"), "before").unwrap();
    assert!(run_there().ends_with("nc_close(n) -36\n"));
    assert_eq!(names(), ["hunted.nc"]);
    assert_eq!(std::fs::read_to_string(place.join("hunted.nc")).unwrap(), "before");
}

#[test]
fn filters_stay_and_stand_in_the_order_of_debians_library() {
    assert_alike("filters", &["filters0.nc", "filters1.nc"]);
}

#[test]
fn text_fill_values_and_shared_files_are_written_as_by_debians_library() {
    assert_alike("definitions", &["text.nc", "fill.nc", "shared.nc", "later.nc"]);
}

#[test]
fn files_are_found_by_other_names_and_from_other_folders() {
    assert_alike(
        "other_places",
        &["old.nc", "new.nc", "late.nc", "late4.nc", "here.nc", "here4.nc", "groups.nc"],
    );
}

#[test]
fn names_that_are_not_utf8_have_files_of_their_own() {
    assert_alike("bytes_of_names", &["0.nc", "1.nc", "2.nc", "3.nc"]);
}

#[test]
fn default_chunks_are_those_of_debians_library() {
    assert_alike("default_chunks", &[]);
}

#[test]
fn new_variables_of_nczarr_have_chunks_from_their_definition_on() {
    assert_alike("zarr_chunks", &[]);
}

#[test]
fn small_puts_are_there_for_whoever_reads_next() {
    let names = ["small", "records", "turns"].into_iter();
    let files: Vec<String> =
        names.flat_map(|name| (0..4).map(move |kind| format!("{name}{kind}.nc"))).collect();
    assert_alike("small_puts", &files.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn records_of_several_variables_take_no_more_writes_than_with_debians_library() {
    const RECORDS: u64 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "turns");
    let kinds = ["classic", "5", "netcdf4", "nczarr"];
    let writes = [Library::Debian, Library::Own].map(|library| {
        let said = printed(library, folder.path(), &program, &[".", &RECORDS.to_string()]);
        assert!(library == Library::Debian || !said.contains("failed"), "{said}");
        let count = |line: &str| line.split(' ').nth(1).and_then(|count| count.parse::<u64>().ok());
        said.lines().map(|line| count(line).unwrap_or_else(|| panic!("{line}"))).collect::<Vec<u64>>()
    });
    println!("{kinds:?}: {writes:?}");
    assert_eq!(writes.each_ref().map(Vec::len), [kinds.len(); 2]);
    for (kind, (debian, own)) in kinds.iter().zip(writes[0].iter().zip(&writes[1])).take(3) {
        assert!(own <= debian, "{kind}: {own} writes, of Debian's library {debian}");
    }
    // A chunk of 1024 records is an object, which is put once.
    assert!(writes[1][3] < 4 * RECORDS / 1024 * 2 + 40, "{writes:?}");
}

#[test]
fn doubles_beyond_the_floats_are_answered_as_by_debians_library() {
    let files: Vec<String> = (0..5).map(|kind| format!("narrowing{kind}.nc")).collect();
    assert_alike("narrowing", &files.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn the_four_sizes_of_enddef_shape_classic_files_as_by_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "enddef_sizes");
    let mut said = Vec::new();
    for (library, place) in [(Library::Debian, "debian"), (Library::Own, "own")] {
        std::fs::create_dir(folder.path().join(place)).unwrap();
        said.push(printed(library, folder.path(), &program, &[place, "23"]));
    }
    assert!(said[0].lines().count() > 1000, "{}", said[0]);
    for (debian, own) in said[0].lines().zip(said[1].lines()) {
        assert_eq!(own, debian);
    }
    assert_eq!(said[0].lines().count(), said[1].lines().count());
    // What was defined once is equal byte for byte; after data were moved, what is between the variables is not looked at.
    let once =
        std::fs::read_dir(folder.path().join("debian")).unwrap().map(|entry| entry.unwrap().file_name());
    let once: Vec<_> = once.filter(|name| !name.to_str().unwrap().starts_with("again")).collect();
    assert_eq!(once.len(), 252);
    for name in once {
        let [debian, own] =
            ["debian", "own"].map(|place| std::fs::read(folder.path().join(place).join(&name)).unwrap());
        assert!(own == debian, "{name:?}");
    }
}

#[test]
fn what_is_beyond_the_limits_is_answered_as_by_debians_library() {
    assert_alike("limits", &[]);
}

#[test]
fn wrong_pointers_and_counts_are_answered_with_codes() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "nulls");
    let said = printed(Library::Own, folder.path(), &program, &["."]);
    assert!(said.ends_with("done\n"), "{said}");
    // What has a right meaning in spite of a null pointer.
    let right = ["nc_create(path", "nc_close(n) = 0", "nc_sync(n) = 0", "NULL) = 0", "nc_def_enum("];
    let wrong =
        said.lines().filter(|line| line.ends_with(" = 0") && !right.iter().any(|part| line.contains(part)));
    let wrong: Vec<&str> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn files_are_where_debians_library_has_them() {
    assert_alike("places", &["0.nc", "1.nc", "2.nc", "3.nc"]);
}

#[test]
fn debians_ncgen_writes_the_same_on_both_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = ["classic", "64-bit offset", "cdf5", "netCDF-4 classic model", "netCDF-4"];
    for (kind, text) in kinds.iter().map(|kind| (*kind, CLASSIC)).chain([("netCDF-4", ENHANCED)]) {
        std::fs::write(folder.path().join("text.cdl"), text).unwrap();
        printed(Library::Debian, folder.path(), "ncgen", &["-k", kind, "-o", "debian.nc", "text.cdl"]);
        printed(Library::Own, folder.path(), "ncgen", &["-k", kind, "-o", "own.nc", "text.cdl"]);
        assert_eq!(dumped(folder.path(), "own.nc"), dumped(folder.path(), "debian.nc"), "{kind}");
    }
}

#[test]
fn debians_nccopy_writes_the_same_on_both_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[&[&str]]); 2] = [
        (CLASSIC, &[&[], &["-k", "classic"], &["-k", "nc7"], &["-d1", "-s"], &["-c", "x/2"], &["-u"]]),
        (ENHANCED, &[&[], &["-u"]]),
    ];
    for (text, options) in cases {
        std::fs::write(folder.path().join("text.cdl"), text).unwrap();
        printed(Library::Debian, folder.path(), "ncgen", &["-k", "netCDF-4", "-o", "from.nc", "text.cdl"]);
        for options in options {
            for (library, target) in [(Library::Debian, "debian.nc"), (Library::Own, "own.nc")] {
                let arguments: Vec<&str> = options.iter().copied().chain(["from.nc", target]).collect();
                printed(library, folder.path(), "nccopy", &arguments);
            }
            assert_eq!(dumped(folder.path(), "own.nc"), dumped(folder.path(), "debian.nc"), "{options:?}");
        }
    }
}
