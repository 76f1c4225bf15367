//! All results of this module for a file, as text.
use crate::address::FileAddress;
use crate::group::{LinkTarget, links};
use crate::object::{HeaderMessage, ObjectRef, header, kind, resolve};
use crate::superblock::load;
use crate::testing::KEY;
use ncirrus_layout::{Error, Step, View, join_each};
use ncirrus_testkit::ObjectView;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// The superblock, then level by level every target of hard links: its messages and links, or its error.
pub(super) fn describe(view: &dyn View) -> Step<String> {
    let file = load(view, &ObjectView::id(KEY))?;
    let mut text = format!(
        "{:?} {:?} {:?} {:?} {:?}\n",
        file.sizes, file.ranks, file.shared, file.warnings, file.losses
    );
    let mut level = vec![file.root];
    let mut seen = BTreeSet::from([file.root]);
    while !level.is_empty() {
        let objects =
            join_each(&level, |addr| object(view, &ObjectRef { file: Arc::clone(&file), addr: *addr }))?;
        let mut next = Vec::new();
        for (addr, object) in level.iter().zip(objects) {
            match object {
                Ok((described, children)) => {
                    _ = writeln!(text, "{addr:?} {described}");
                    next.extend(children.into_iter().filter(|child| seen.insert(*child)));
                }
                Err(error) => _ = writeln!(text, "{addr:?} error: {error}"),
            }
        }
        level = next;
    }
    Ok(text)
}

fn object(view: &dyn View, object: &ObjectRef) -> Step<(String, Vec<FileAddress>)> {
    let header = header(view, object)?;
    let message = |message: &HeaderMessage| Ok((message.kind, resolve(view, &object.file, message)?.body));
    let messages: Vec<Result<_, Error>> = join_each(&header.messages, message)?;
    let mut text = format!("{messages:?} {:?}", header.losses);
    let group =
        [kind::LINK_INFO, kind::SYMBOL_TABLE, kind::LINK].iter().any(|kind| header.find(*kind).is_some());
    let mut children = Vec::new();
    if group {
        let links = links(view, object)?;
        _ = write!(text, " {:?} {:?}", links.list, links.losses);
        children.extend(links.list.iter().filter_map(|link| match link.target {
            LinkTarget::Hard(addr) => Some(addr),
            _ => None,
        }));
    }
    Ok((text, children))
}
