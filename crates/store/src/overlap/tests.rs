use super::*;

fn check(source: &str, target: &str, shape: DatasetShape, context: &StoreContext) -> Option<String> {
    let reported = check_apart(source, target, shape, context).err()?;
    assert_eq!(reported.kind(), ErrorKind::Conflict, "{reported}");
    Some(reported.to_string())
}

/// What is refused, with an error that names both.
#[track_caller]
fn refused(source: &str, target: &str, context: &StoreContext) {
    let reported = check(source, target, DatasetShape::Tree, context).expect("refused");
    let shown = |address: &str| Url::parse(address).expect("an address").to_string();
    assert!(reported.contains(&shown(source)) && reported.contains(&shown(target)), "{reported}");
}

#[track_caller]
fn allowed(source: &str, target: &str, context: &StoreContext) {
    assert_eq!(check(source, target, DatasetShape::Tree, context), None, "{source} {target}");
}

#[test]
fn a_path_inside_another_is_known_however_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    fs::create_dir_all(at("x.zarr/group")).expect("folders");
    fs::create_dir_all(at("other")).expect("a folder");
    fs::write(at("x.nc"), "").expect("a file");
    let context = StoreContext::default();
    let (x, url) = (at("x.zarr"), format!("file://{}", at("x.zarr")));
    for inside in ["x.zarr/in.zarr", "x.zarr/in.zarr/", "x.zarr/group/../in.nc", "other/../x.zarr/group"] {
        refused(&x, &at(inside), &context);
        refused(&url, &at(inside), &context);
        refused(&at(inside), &format!("{url}/#mode=nczarr,file"), &context);
    }
    refused(&x, &format!("file://{}", at("x.zarr/in.zarr#mode=zarr,file")), &context);
    for apart in ["x.zarr2", "x.zar", "other/x.zarr", "x.zarr/absent/in.zarr", "x.nc", "x.zarr", "x.zarr/"] {
        allowed(&x, &at(apart), &context);
    }
    // A file is replaced when the new one is complete.
    allowed(&at("x.nc"), &at("x.nc"), &context);
    allowed(&x, "memory://x.zarr/in.zarr", &context);
}

#[cfg(unix)]
#[test]
fn links_hide_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    fs::create_dir_all(at("x.zarr")).expect("a folder");
    std::os::unix::fs::symlink("x.zarr", at("link")).expect("a link");
    refused(&at("x.zarr"), &at("link/in.zarr"), &StoreContext::default());
    refused(&at("link"), &at("x.zarr/in.zarr"), &StoreContext::default());
    allowed(&at("link"), &at("in.zarr"), &StoreContext::default());
}

#[test]
fn prefixes_in_memory_and_of_own_stores_are_compared_by_their_segments() {
    let context = StoreContext::default();
    refused("memory://m/x.zarr", "memory://m/x.zarr/in.zarr", &context);
    refused("memory://m/a/x.zarr/", "memory://m/a", &context);
    allowed("memory://m/x.zarr", "memory://m/x.zarr", &context);
    allowed("memory://m/x.zarr", "memory://n/x.zarr/in.zarr", &context);
    refused("own://h/x", "own://h/x/y", &context);
    refused("own://h/x", "own://h/x/", &context);
    allowed("own://h/x", "own://h/xy", &context);
}
