//! The file of users and passwords that `ftp` and `curl` read.
use super::Secret;
use std::collections::BTreeMap;

/// A user and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: Option<Secret>,
}

/// Users and passwords by host. `default` is left out: it would give a password to whoever asks.
pub(super) fn parse(text: &str) -> BTreeMap<String, Login> {
    let mut found = BTreeMap::new();
    let mut host: Option<String> = None;
    let mut words = Words(text);
    while let Some(word) = words.next() {
        match word.as_str() {
            "machine" => host = words.next().map(|name| name.to_ascii_lowercase()),
            "default" => host = None,
            // A macro goes to the next empty line.
            "macdef" => words.skip_to("\n\n"),
            "login" | "password" | "account" => {
                let Some(value) = words.next() else { break };
                let Some(host) = &host else { continue };
                let new = || Login { user: String::new(), password: None };
                let login: &mut Login = found.entry(host.clone()).or_insert_with(new);
                match word.as_str() {
                    "login" => login.user = value,
                    "password" => login.password = Some(Secret::new(value)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found.retain(|_, login| !login.user.is_empty());
    found
}

/// Words between blanks, or in double quotes with backslashes; comments go from `#` at the start of a word to the end of
/// the line.
struct Words<'a>(&'a str);

impl Words<'_> {
    fn skip_to(&mut self, end: &str) {
        self.0 = self.0.split_once(end).map_or("", |(_, rest)| rest);
    }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            self.0 = self.0.trim_start();
            match self.0.chars().next()? {
                '#' => self.skip_to("\n"),
                '"' => return Some(self.quoted()),
                _ => break,
            }
        }
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word.to_owned())
    }
}

impl Words<'_> {
    fn quoted(&mut self) -> String {
        let mut word = String::new();
        let mut letters = self.0.chars();
        letters.next();
        while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
            match letter {
                '\\' => word.extend(letters.next()),
                letter => word.push(letter),
            }
        }
        self.0 = letters.as_str();
        word
    }
}
