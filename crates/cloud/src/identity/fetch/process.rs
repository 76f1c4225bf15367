//! Credentials that a program prints (`credential_process`).
use super::answer::{FreshCredentials, keys_of};
use ncirrus_layout::{Error, ErrorKind, Result};
use std::process::{Command, Stdio};

/// Runs a program and parses its output.
pub(super) async fn run(command: &str) -> Result<FreshCredentials> {
    let words = words(command);
    let Some(program) = words.first().cloned() else {
        return Err(Error::invalid("credential_process is empty"));
    };
    let failed = |why: String| {
        Error::new(ErrorKind::Denied, format!("no credentials from the program {program}: {why}"))
    };
    let name = program.clone();
    let started = tokio::task::spawn_blocking(move || {
        let arguments = words.iter().skip(1);
        Command::new(name).args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    });
    let output = match started.await {
        Ok(output) => output.map_err(|error| failed(error.to_string()))?,
        Err(error) => return Err(failed(error.to_string())),
    };
    if !output.status.success() {
        return Err(failed(format!("it ended with {}", output.status)));
    }
    read(&output.stdout)
        .ok_or_else(|| failed("its output is not in the credential_process format".to_owned()))
}

/// Version 1 of the output, the only one.
fn read(printed: &[u8]) -> Option<FreshCredentials> {
    let json: serde_json::Value = serde_json::from_slice(printed).ok()?;
    let is_known = json.get("Version").and_then(serde_json::Value::as_u64) == Some(1);
    keys_of(&json, ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"]).filter(|_| is_known)
}

/// Words separated by blanks; quotes keep blanks. A backslash escapes the next character as in the shell, except on
/// Windows, where it is part of paths.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) if !cfg!(windows) => {
                let is_kept = |next: &char| quote.is_none() || matches!(next, '"' | '\\' | '$' | '`');
                word.get_or_insert_default().push(letters.next_if(is_kept).unwrap_or(letter));
            }
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_words_with_quotes() {
        assert_eq!(words("run \"a b\" 'c \"d' e ''"), ["run", "a b", "c \"d", "e", ""]);
        assert_eq!(words("  "), [""; 0]);
    }

    #[cfg(not(windows))]
    #[test]
    fn backslashes_keep_letters_as_in_the_shell() {
        let command = r#"sh -c "echo '{\"Version\": 1}' \n" a\ b 'c\d' e\"#;
        assert_eq!(words(command), ["sh", "-c", r#"echo '{"Version": 1}' \n"#, "a b", r"c\d", r"e\"]);
    }

    #[test]
    fn what_is_printed_is_read() {
        let printed =
            br#"{"Version": 1, "AccessKeyId": "AKIA", "SecretAccessKey": "hunter2", "SessionToken": "t",
            "Expiration": "2026-01-02T03:04:05Z"}"#;
        let fresh = read(printed).unwrap();
        assert_eq!(fresh.credential.key_id, "AKIA");
        assert!(!fresh.is_good(std::time::SystemTime::now() + std::time::Duration::from_secs(1 << 32)));
        assert!(!format!("{fresh:?}").contains("hunter2"));
        for end in 0..printed.len() {
            assert!(read(&printed[..end]).is_none());
        }
        assert!(read(br#"{"Version": 2, "AccessKeyId": "A", "SecretAccessKey": "s"}"#).is_none());
    }
}
