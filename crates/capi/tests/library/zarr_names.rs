//! Attributes that the writer of Zarr refuses are refused by the call that puts them: all else that a program defines is
//! in the file.
use super::calls::compiled;
use super::{Library, printed};

#[test]
fn attributes_that_zarr_has_no_place_for_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "zarr_names");
    let target = format!("file://{}/d.zarr#mode=nczarr,file", folder.path().display());
    let said = printed(Library::Own, folder.path(), &program, &[&target]);
    let refused: Vec<&str> = said.lines().filter(|line| line.contains("= -")).collect();
    let mut expected = Vec::new();
    for name in ["_nczarr_own", "_NCZARR_ATTR", "_ncirrus"] {
        expected.extend(["put", "renamed", "copied"].map(|how| format!("{name} {how} = -42")));
    }
    expected.extend(
        [
            r#"nc_put_att_text(ncid, s, "_nczarr_maxstrlen", 4, "four") = -36"#,
            r#"nc_put_att_int(ncid, s, "_nczarr_maxstrlen", NC_INT, 1, &none) = -36"#,
            r#"nc_rename_att(ncid, s, "from", "_nczarr_maxstrlen") = -36"#,
            r#"nc_put_att_text(ncid, NC_GLOBAL, "_nczarr_default_maxstrlen", 4, "four") = -36"#,
        ]
        .map(str::to_owned),
    );
    assert_eq!(refused, expected, "{said}");
    assert!(said.contains("witness is 7\nnc_get_att_int") && said.contains("length is 4\n"), "{said}");
}

/// Debian's has `_NCZARR_ATTR` among its names for all formats, but for renaming.
#[test]
fn files_of_hdf5_may_have_them() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "zarr_names");
    let shown = |library, file| {
        let said = printed(library, folder.path(), &program, &[file]);
        let lines =
            said.lines().filter(|line| !line.starts_with("_NCZARR_ATTR") && !line.contains(", v, \"from\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = shown(Library::Debian, "debian.nc");
    assert!(expected.iter().any(|line| line == "_nczarr_own put = 0"), "{expected:?}");
    assert_eq!(shown(Library::Own, "own.nc"), expected);
}
