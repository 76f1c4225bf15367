//! A small server that stores objects like Amazon's, including multipart uploads, for tests. It keeps them in files.
#![expect(clippy::unwrap_used, reason = "a test cannot go on without its server")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The server, until the end of the test.
#[derive(Debug, Clone)]
pub struct S3 {
    /// `http://host:port`.
    pub address: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    /// Method and query of every request.
    seen: Mutex<Vec<(String, String)>>,
}

/// A request without its body.
struct Head {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
}

impl S3 {
    /// Keeps objects below a folder.
    pub fn start(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared { folder: folder.to_owned(), seen: Mutex::default() });
        let server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                std::thread::spawn(move || server.serve(stream));
            }
        });
        Self { address, shared }
    }

    /// Method and query of the requests since the last call.
    pub fn requests(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.shared.seen.lock().unwrap())
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut stream = stream;
        loop {
            let head = head(&mut reader)?;
            let query: Vec<String> =
                head.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
            self.seen.lock().unwrap().push((head.method.clone(), query.join("&")));
            let len = head.headers.get("content-length").map_or(0, |len| len.parse().unwrap());
            let mut body = reader.by_ref().take(len);
            let answer = self.answer(&head, &mut body);
            std::io::copy(&mut body, &mut std::io::sink()).ok()?;
            stream.write_all(&answer).ok()?;
        }
    }

    fn answer(&self, head: &Head, body: &mut dyn Read) -> Vec<u8> {
        let object = self.file(head.path.trim_start_matches('/'));
        let part = |id: &str, number: &str| self.folder.join(format!("{id}.{number}"));
        match (head.method.as_str(), head.query.get("uploadId"), head.query.get("partNumber")) {
            ("POST", None, _) if head.query.contains_key("uploads") => {
                let xml =
                    "<InitiateMultipartUploadResult><UploadId>up</UploadId></InitiateMultipartUploadResult>";
                reply("200 OK", "", xml.as_bytes())
            }
            ("PUT", Some(id), Some(number)) => {
                std::io::copy(body, &mut File::create(part(id, number)).unwrap()).unwrap();
                reply("200 OK", &format!("ETag: \"{number}\"\r\n"), b"")
            }
            ("POST", Some(id), _) if !part(id, "1").exists() => {
                reply("404 Not Found", "", b"<Error><Code>NoSuchUpload</Code></Error>")
            }
            ("POST", Some(id), _) => {
                let mut file = File::create(&object).unwrap();
                let mut count = 0;
                for number in
                    (1..).map(|number| part(id, &number.to_string())).take_while(|path| path.exists())
                {
                    std::io::copy(&mut File::open(&number).unwrap(), &mut file).unwrap();
                    fs::remove_file(number).unwrap();
                    count += 1;
                }
                fs::write(parts(&object), count.to_string()).unwrap();
                let tag = tag(&object).unwrap();
                let xml = format!(
                    "<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
                );
                reply("200 OK", "", xml.as_bytes())
            }
            ("DELETE", Some(id), _) => {
                (1..)
                    .map(|number| part(id, &number.to_string()))
                    .take_while(|part| fs::remove_file(part).is_ok())
                    .count();
                reply("204 No Content", "", b"")
            }
            ("PUT", None, _) if head.is_refused(tag(&object).as_deref()) => {
                reply("412 Precondition Failed", "", b"")
            }
            ("PUT", None, _) => {
                let _ = fs::remove_file(parts(&object));
                std::io::copy(body, &mut File::create(&object).unwrap()).unwrap();
                reply("200 OK", &format!("ETag: {}\r\n", tag(&object).unwrap()), b"")
            }
            ("DELETE", None, _) => {
                let _ = fs::remove_file(&object);
                reply("204 No Content", "", b"")
            }
            ("POST", None, _) if head.query.contains_key("delete") => {
                let mut xml = String::new();
                body.read_to_string(&mut xml).unwrap();
                self.delete(head.path.trim_matches('/'), &xml)
            }
            ("GET", None, _) if head.query.contains_key("list-type") => self.list(head),
            ("GET" | "HEAD", None, _) => read(&object, head),
            (method, ..) => reply(&format!("405 No {method}"), "", b""),
        }
    }
}

impl Shared {
    /// The file of an object at an address of bucket and key, in the form that URLs have.
    fn file(&self, address: &str) -> PathBuf {
        self.folder.join(decoded(address).replace('/', "%"))
    }

    fn delete(&self, bucket: &str, xml: &str) -> Vec<u8> {
        let keys = xml.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        let mut deleted = String::new();
        for key in keys {
            let _ = fs::remove_file(self.folder.join(format!("{bucket}/{key}").replace('/', "%")));
            deleted.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
        }
        reply("200 OK", "", format!("<DeleteResult>{deleted}</DeleteResult>").as_bytes())
    }

    /// All keys below a prefix, or the names up to the delimiter.
    fn list(&self, head: &Head) -> Vec<u8> {
        let value = |name: &str| head.query.get(name).map(|value| decoded(value)).unwrap_or_default();
        let (prefix, delimiter) = (value("prefix"), value("delimiter"));
        let bucket = format!("{}%", head.path.trim_matches('/'));
        let files = fs::read_dir(&self.folder).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let keys = names.filter_map(|name| Some(name.strip_prefix(&bucket)?.replace('%', "/")));
        let keys: BTreeSet<String> =
            keys.filter(|key| key.starts_with(&prefix) && !key.ends_with(".parts")).collect();
        let (mut contents, mut prefixes) = (String::new(), BTreeSet::new());
        for key in &keys {
            match key[prefix.len()..].split_once('/').filter(|_| !delimiter.is_empty()) {
                Some((name, _)) => _ = prefixes.insert(format!("{prefix}{name}/")),
                None => {
                    let file = self.folder.join(format!("{bucket}{}", key.replace('/', "%")));
                    let (size, tag) = (fs::metadata(&file).unwrap().len(), tag(&file).unwrap());
                    contents.push_str(&format!(
                        "<Contents><Key>{key}</Key><Size>{size}</Size><ETag>{tag}</ETag>\
                         <LastModified>2000-01-01T00:00:00.000Z</LastModified></Contents>"
                    ));
                }
            }
        }
        for prefix in prefixes {
            contents.push_str(&format!("<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>"));
        }
        reply("200 OK", "", format!("<ListBucketResult>{contents}</ListBucketResult>").as_bytes())
    }
}

/// The text with percent-encoded characters decoded.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(out).unwrap()
}

/// The file that records in how many parts an object was uploaded.
fn parts(object: &Path) -> PathBuf {
    let mut name = object.as_os_str().to_owned();
    name.push(".parts");
    name.into()
}

impl Head {
    /// Whether the object is not in the state that the request requires.
    fn is_refused(&self, now: Option<&str>) -> bool {
        let wanted = self.headers.get("if-match").map(String::as_str);
        wanted.is_some_and(|wanted| now != Some(wanted))
            || (self.headers.contains_key("if-none-match") && now.is_some())
    }
}

/// The tag of the object's state, quoted.
fn tag(object: &Path) -> Option<String> {
    let metadata = fs::metadata(object).ok()?;
    let changed = metadata.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    let parts = fs::read_to_string(parts(object)).map(|count| format!("-{count}")).unwrap_or_default();
    Some(format!("\"{:x}.{:x}{parts}\"", metadata.len(), changed.as_nanos()))
}

fn head(reader: &mut impl BufRead) -> Option<Head> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let mut words = lines.first()?.split(' ').map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let headers = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
    Some(Head {
        method,
        path: path.to_owned(),
        query: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect(),
    })
}

fn read(object: &Path, head: &Head) -> Vec<u8> {
    let Ok(mut file) = File::open(object) else { return reply("404 Not Found", "", b"") };
    let size = file.metadata().unwrap().len();
    let tag = format!("ETag: {}\r\nLast-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n", tag(object).unwrap());
    if head.method == "HEAD" {
        return format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n{tag}\r\n").into_bytes();
    }
    let range = head.headers.get("range").map(|range| range.trim_start_matches("bytes=").to_owned());
    let (start, end) = match range.as_deref().and_then(|range| range.split_once('-')) {
        Some(("", last)) => (size.saturating_sub(last.parse().unwrap()), size),
        Some((first, last)) => {
            (first.parse().unwrap(), last.parse().map_or(size, |last: u64| size.min(last + 1)))
        }
        None => (0, size),
    };
    if start >= end && size > 0 {
        return reply("416 Range Not Satisfiable", "", b"");
    }
    let mut body = Vec::new();
    file.seek(SeekFrom::Start(start)).unwrap();
    file.take(end - start).read_to_end(&mut body).unwrap();
    let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
    let last = end.saturating_sub(1);
    reply(status, &format!("{tag}Content-Range: bytes {start}-{last}/{size}\r\n"), &body)
}

fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let len = body.len();
    let mut bytes = format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\n{headers}\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
