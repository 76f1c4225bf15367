//! The files of the corpus: datatypes, dataspaces and attributes beside what another reader found, and all of it in
//! files that are damaged or arrive in pieces.
mod cases;
mod damage;
mod regions;
mod truth;
mod truth_text;

use crate::cursor::ByteCursor;
use crate::datatypes::{Datatype, RawAttribute, attributes, dataspace, datatype, fill, values};
use crate::file::Hdf5File;
use crate::group::{LinkTarget, links};
use crate::object::{ObjectHeader, ObjectRef, header, kind, resolve};
use crate::testing::object;
use bytes::Bytes;
use ncirrus_layout::{Error, Needs, Stall, Step, View, join_each, settle};
use ncirrus_model::Values;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Every object by its path, following hard links; an object that contains itself is left out there.
fn objects(view: &dyn View, root: &ObjectRef) -> Vec<(String, ObjectRef)> {
    let mut found = vec![("/".to_owned(), root.clone())];
    let mut groups = vec![(String::new(), root.clone(), vec![root.addr])];
    while let Some((path, group, above)) = groups.pop() {
        let Ok(links) = links(view, &group) else { continue };
        for link in &links.list {
            let LinkTarget::Hard(addr) = link.target else { continue };
            if above.contains(&addr) || found.len() > 5000 {
                continue;
            }
            let path = format!("{path}/{}", link.name);
            let target = object(&group.file, addr.0);
            found.push((path.clone(), target.clone()));
            groups.push((path, target, [above.as_slice(), &[addr]].concat()));
        }
    }
    found
}

/// The datatype and the lengths of a dataset, or the datatype of a committed type.
fn described(view: &dyn View, object: &ObjectRef, header: &ObjectHeader) -> Step<(Arc<Datatype>, Vec<u64>)> {
    let missing = || Error::malformed("no datatype");
    let ty = datatype(view, &object.file, header.find(kind::DATATYPE).ok_or_else(missing)?)?;
    let Some(space) = header.find(kind::DATASPACE) else { return Ok((ty, Vec::new())) };
    let space = resolve(view, &object.file, space)?.body;
    Ok((ty, dataspace(&space, object.file.sizes)?.dims().to_vec()))
}

fn attribute_values(view: &dyn View, file: &Hdf5File, raw: &RawAttribute) -> Step<Values> {
    let count = usize::try_from(raw.space.count()).unwrap_or(usize::MAX);
    values(view, file, &raw.datatype, &raw.data, count, &HashMap::new())
}

/// The stored elements of a dataset in its header or in one run; `None` for those in chunks.
fn stored_bytes(view: &dyn View, object: &ObjectRef, header: &ObjectHeader, len: u64) -> Step<Option<Bytes>> {
    let body = header.find(kind::LAYOUT).map(|message| &message.body[..]);
    match body {
        Some([3 | 4, 0, _, _, data @ ..]) => Ok(Some(Bytes::copy_from_slice(data))),
        Some([3 | 4, 1, place @ ..]) => {
            let mut cursor = ByteCursor::new(place, "layout");
            let Some(addr) = cursor.addr(object.file.sizes)? else { return Ok(None) };
            object.file.exact(view, addr, len).map(Some)
        }
        _ => Ok(None),
    }
}

/// All results of this module for a file, as text; errors too.
fn everything(view: &dyn View, root: &ObjectRef) -> Step<String> {
    let mut seen = HashSet::new();
    let mut text = Vec::new();
    let mut needs = Needs::default();
    let mut note = |step: Step<String>| match settle(step) {
        Ok(done) => text.push(format!("{done:?}")),
        Err(more) => needs.merge(more),
    };
    let mut queue = vec![root.clone()];
    while let Some(object) = queue.pop() {
        if !seen.insert(object.addr) || seen.len() > 500 {
            continue;
        }
        note(one_object(view, &object));
        note(links(view, &object).map(|links| {
            let hard = links.list.iter().filter_map(|link| match link.target {
                LinkTarget::Hard(addr) => Some(crate::testing::object(&object.file, addr.0)),
                _ => None,
            });
            queue.extend(hard);
            format!("{:?}", links.list)
        }));
    }
    if !needs.is_empty() { Err(Stall::Need(needs)) } else { Ok(text.join("\n")) }
}

fn one_object(view: &dyn View, object: &ObjectRef) -> Step<String> {
    let header = header(view, object)?;
    let mut text = vec![format!("{:?}", settle(fill(view, object)).map_err(Stall::Need)?)];
    let described = settle(described(view, object, &header)).map_err(Stall::Need)?;
    text.push(format!("{described:?}"));
    let list = attributes(view, object)?;
    let found = join_each(list.iter().flatten(), |raw| attribute_values(view, &object.file, raw))?;
    text.push(format!("{list:?} {found:?}"));
    Ok(text.join("\n"))
}
