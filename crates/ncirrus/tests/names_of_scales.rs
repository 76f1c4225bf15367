//! `CLASS` and `NAME` in HDF5 files: of dimension scales they are hidden, of other objects they are attributes like all others.
use crate::support::{open, session, temp};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DatasetView, DimensionLen, Kind, OpenOptions, Result,
};
use std::path::Path;

/// Names and texts of the attributes of the root and of `image`.
fn shown(dataset: &Dataset) -> [Vec<(String, String)>; 2] {
    let lists =
        [dataset.root().attributes().unwrap(), dataset.variable("image").unwrap().attributes().unwrap()];
    lists.map(|list| list.iter().map(|one| (one.name.clone(), one.as_text().unwrap_or_default())).collect())
}

fn image(path: &Path) -> Result<()> {
    let create = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &create, &session())?;
    let root = dataset.root();
    root.add_dimension("y", DimensionLen::Fixed(2))?;
    root.add_dimension("x", DimensionLen::Fixed(3))?;
    let image = root.add_variable("image", Atomic::Int, &["y", "x"])?;
    root.add_variable("x", Atomic::Int, &["x"])?;
    root.set_attribute(Attribute::text("CLASS", "GROUP"))?;
    image.set_attribute(Attribute::text("CLASS", "IMAGE"))?;
    image.set_attribute(Attribute::text("NAME", "a name"))?;
    image.write_all(&[1i32, 2, 3, 4, 5, 6])?;
    dataset.close()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn names_of_scales_are_shown_of_other_objects_and_can_change() -> Result<()> {
    let (session, (_folder, temp)) = (session(), temp());
    let path = temp.join("image.nc");
    image(&path)?;
    let own = [pairs(&[("CLASS", "GROUP")]), pairs(&[("CLASS", "IMAGE"), ("NAME", "a name")])];
    assert_eq!(shown(&open(&path, &session)?), own);
    assert!(open(&path, &session)?.variable("x")?.attributes()?.is_empty(), "a scale");
    // netCDF-C hides them by their names.
    let options = OpenOptions::default().view(DatasetView::NetcdfC);
    assert_eq!(shown(&Dataset::open_with(path.to_str().unwrap(), &options, &session)?), [vec![], vec![]]);

    let dataset = Dataset::update_with(path.to_str().unwrap(), &OpenOptions::default(), &session)?;
    dataset.variable("image")?.set_attribute(Attribute::text("CLASS", "PALETTE"))?;
    dataset.root().set_attribute(Attribute::text("NAME", "root"))?;
    dataset.close()?;
    let changed =
        [pairs(&[("CLASS", "GROUP"), ("NAME", "root")]), pairs(&[("CLASS", "PALETTE"), ("NAME", "a name")])];
    assert_eq!(shown(&open(&path, &session)?), changed);
    Ok(())
}

#[test]
fn scales_have_none_of_their_own_and_nothing_becomes_a_scale_by_an_attribute() -> Result<()> {
    let (session, (_folder, temp)) = (session(), temp());
    for (number, (variable, class)) in
        [("x", "IMAGE"), ("image", "DIMENSION_SCALE"), ("image", "DIMENSION_SCALE\0")].into_iter().enumerate()
    {
        for is_new in [true, false] {
            let path = temp.join(format!("{number}{is_new}.nc"));
            let dataset = if is_new {
                let create = CreateOptions::new().kind(Kind::Nc4);
                let dataset = Dataset::create_with(path.to_str().unwrap(), &create, &session)?;
                dataset.root().add_dimension("x", DimensionLen::Fixed(3))?;
                dataset.root().add_variable("x", Atomic::Int, &["x"])?;
                dataset.root().add_variable("image", Atomic::Int, &["x"])?;
                dataset
            } else {
                image(&path)?;
                Dataset::update_with(path.to_str().unwrap(), &OpenOptions::default(), &session)?
            };
            let set = dataset.variable(variable)?.set_attribute(Attribute::text("CLASS", class));
            let closed = set.and_then(|()| dataset.close());
            assert!(
                closed.is_err_and(|error| error.message().contains("CLASS")),
                "{variable} {class} {is_new}"
            );
        }
    }
    Ok(())
}

#[test]
fn a_variable_that_becomes_a_scale_keeps_what_makes_it_one() -> Result<()> {
    let (session, (_folder, temp)) = (session(), temp());
    for removes in [true, false] {
        let path = temp.join(format!("line{removes}.nc"));
        let create = CreateOptions::new().kind(Kind::Nc4);
        let dataset = Dataset::create_with(path.to_str().unwrap(), &create, &session)?;
        dataset.root().add_dimension("y", DimensionLen::Fixed(2))?;
        let line = dataset.root().add_variable("line", Atomic::Int, &["y"])?;
        line.set_attribute(Attribute::text("CLASS", "IMAGE"))?;
        line.set_attribute(Attribute::text("NAME", "a name"))?;
        line.write_all(&[1i32, 2])?;
        dataset.root().add_variable("other", Atomic::Int, &["y"])?;
        dataset.close()?;

        let dataset = Dataset::update_with(path.to_str().unwrap(), &OpenOptions::default(), &session)?;
        let line = dataset.variable("line")?;
        line.remove_attribute("CLASS")?;
        line.remove_attribute("NAME")?;
        if !removes {
            // With the same values at the same place they count as renamed.
            line.set_attribute(Attribute::text("kind", "IMAGE"))?;
            line.set_attribute(Attribute::text("called", "a name"))?;
        }
        line.rename("y")?;
        dataset.close()?;

        let dataset = open(&path, &session)?;
        let kept: Vec<String> =
            dataset.variable("y")?.attributes()?.iter().map(|one| one.name.clone()).collect();
        let own: &[&str] = if removes { &[] } else { &["kind", "called"] };
        assert_eq!(kept, own, "{removes}");
        assert_eq!(dataset.variable("other")?.dimensions()[0].name, "y");
        assert_eq!(*dataset.variable("y")?.read::<i32>()?, [1, 2], "{removes}");
        let file = std::fs::read(&path).unwrap();
        assert!(file.windows(15).any(|bytes| bytes == b"DIMENSION_SCALE"), "{removes}");
    }
    Ok(())
}
