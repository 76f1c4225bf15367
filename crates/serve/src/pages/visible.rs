//! Facts that pages show to all users: without addresses, and without messages of stores, which may contain addresses.
use super::parameters::Call;
use ncirrus::{Dataset, ReadPlan, Result};
use ncirrus_tools::Info;

/// Why something is not shown.
pub(super) const UNREADABLE: &str = "it cannot be read";

/// The summary of a dataset.
pub(super) fn info(call: &Call, dataset: &Dataset) -> Result<Info> {
    let mut info = ncirrus_tools::info(dataset)?;
    if !call.options.is_local {
        hide_addresses(&mut info);
    }
    Ok(info)
}

fn hide_addresses(info: &mut Info) {
    // Warnings concern the operator.
    info.url.clear();
    info.warnings.clear();
    for left_out in &mut info.left_out {
        UNREADABLE.clone_into(&mut left_out.reason);
    }
    for group in &mut info.groups {
        hide_reason(group.fault.as_mut());
        hide_faults(&mut group.attributes);
        for variable in &mut group.variables {
            hide_reason(variable.fault.as_mut());
            hide_faults(&mut variable.attributes);
            if let Some(fragments) = &mut variable.fragments {
                (fragments.first, fragments.last) = (None, None);
            }
        }
    }
}

fn hide_reason(reason: Option<&mut String>) {
    if let Some(reason) = reason {
        UNREADABLE.clone_into(reason);
    }
}

/// The summary shows an attribute that cannot be read as this word and the reason.
fn hide_faults(attributes: &mut [(String, String)]) {
    for (_, value) in attributes.iter_mut().filter(|(_, value)| value.starts_with("unreadable: ")) {
        "unreadable".clone_into(value);
    }
}

/// The plan of a read: its requests name objects.
pub(super) fn plan(call: &Call, mut plan: ReadPlan) -> ReadPlan {
    if !call.options.is_local {
        plan.examples.clear();
        plan.source_examples.clear();
    }
    plan
}

/// CDL, in which comments say what cannot be read, and why.
pub(super) fn cdl(call: &Call, text: String, has_faults: bool) -> String {
    if call.options.is_local || !has_faults {
        return text;
    }
    let is_reason = |line: &&str| {
        let comment = line.trim_start().strip_prefix("//");
        comment.is_some_and(|comment| !comment.trim_end().ends_with("attributes:"))
    };
    text.split_inclusive('\n').filter(|line| !is_reason(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus::{Atomic, CreateOptions, LeftOut, OpenOptions, Session};
    use ncirrus_tools::FragmentsInfo;

    #[test]
    fn a_summary_for_others_has_no_address() {
        let session = Session::new().unwrap();
        let dataset = Dataset::create_with("memory://pages/a.nc", &CreateOptions::new(), &session).unwrap();
        dataset.root().add_variable("v", Atomic::Int, &[]).unwrap();
        dataset.close().unwrap();
        let dataset = Dataset::open_with("memory://pages/a.nc", &OpenOptions::default(), &session).unwrap();
        let mut info = ncirrus_tools::info(&dataset).unwrap();
        let secret = || "/secret/a.nc: no such codec".to_owned();
        let attributes = || {
            vec![("a".to_owned(), format!("unreadable: {}", secret())), ("b".to_owned(), "text".to_owned())]
        };
        (info.url, info.warnings) = (secret(), vec![secret()]);
        info.left_out = vec![LeftOut { path: "/w".to_owned(), reason: secret() }];
        let group = &mut info.groups[0];
        (group.fault, group.attributes) = (Some(secret()), attributes());
        let variable = &mut group.variables[0];
        (variable.fault, variable.attributes) = (Some(secret()), attributes());
        let [first, last] = [Some(secret()), Some(secret())];
        variable.fragments = Some(FragmentsInfo { convention: "CFA", count: 1, shape: vec![1], first, last });
        hide_addresses(&mut info);
        let shown = info.to_json().to_string();
        assert!(!shown.contains("secret") && shown.contains("text") && shown.contains(UNREADABLE), "{shown}");
    }
}
