//! The file of users and passwords that `ftp` and `curl` read.
use super::SecretText;
use std::collections::BTreeMap;

/// A user and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NetrcLogin {
    pub(super) user: String,
    pub(super) password: Option<SecretText>,
}

/// Users and passwords by host; the first entry of each host wins. `default` is left out, because it would send a
/// password to any server.
pub(super) fn parse(text: &str) -> BTreeMap<String, NetrcLogin> {
    let mut found = BTreeMap::new();
    let mut entry: Option<(String, NetrcLogin)> = None;
    let mut words = NetrcWords(text);
    while let Some(word) = words.next() {
        let is_value = matches!(word.as_str(), "machine" | "login" | "password" | "account");
        let value = if is_value { words.value() } else { None };
        match (word.as_str(), value) {
            ("machine", host) => {
                keep(&mut found, entry.take());
                let new = NetrcLogin { user: String::new(), password: None };
                entry = host.map(|host| (host.to_ascii_lowercase(), new));
            }
            ("default", _) => keep(&mut found, entry.take()),
            // A macro extends to the next empty line.
            ("macdef", _) => words.skip_to("\n\n"),
            ("login", Some(user)) => entry.iter_mut().for_each(|(_, login)| login.user.clone_from(&user)),
            ("password", Some(password)) => {
                entry
                    .iter_mut()
                    .for_each(|(_, login)| login.password = Some(SecretText::new(password.as_str())));
            }
            _ => {}
        }
    }
    keep(&mut found, entry);
    found
}

fn keep(found: &mut BTreeMap<String, NetrcLogin>, entry: Option<(String, NetrcLogin)>) {
    if let Some((host, login)) = entry.filter(|(_, login)| !login.user.is_empty()) {
        found.entry(host).or_insert(login);
    }
}

/// Words separated by blanks, or in double quotes with backslashes; comments go from `#` at the start of a keyword to
/// the end of the line.
struct NetrcWords<'a>(&'a str);

impl NetrcWords<'_> {
    fn skip_to(&mut self, end: &str) {
        self.0 = self.0.split_once(end).map_or("", |(_, rest)| rest);
    }
}

impl Iterator for NetrcWords<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        while self.0.starts_with('#') {
            self.skip_to("\n");
            self.0 = self.0.trim_start();
        }
        self.value()
    }
}

impl NetrcWords<'_> {
    /// The next word, whatever it starts with.
    fn value(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        if self.0.starts_with('"') {
            return Some(self.quoted());
        }
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

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
