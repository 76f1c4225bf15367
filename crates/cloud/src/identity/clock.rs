//! Signatures with the server's clock, if this machine's differs too much.
use chrono::{DateTime, Utc};
use ncirrus_store::query_encoded;
use object_store::HeaderValue;
use object_store::aws::AwsCredential;
use object_store::client::HttpRequest;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use ring::{digest, hmac};
use std::time::{SystemTime, UNIX_EPOCH};

/// Signs a signed request again for a time that many seconds ahead of this machine's clock. The client signs (AWS
/// Signature Version 4) with this machine's time only. `place` is region and service.
pub(super) fn sign_for(
    request: &mut HttpRequest,
    credential: &AwsCredential,
    place: (&str, &str),
    ahead: i64,
) -> Option<()> {
    let time = time(SystemTime::now(), ahead).filter(|_| ahead != 0)?;
    let authorization = sign(request, credential, place, &time.format("%Y%m%dT%H%M%SZ").to_string())?;
    request.headers_mut().insert(AUTHORIZATION, authorization);
    Some(())
}

fn time(now: SystemTime, ahead: i64) -> Option<DateTime<Utc>> {
    let seconds = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
    DateTime::from_timestamp(i64::try_from(seconds).ok()?.checked_add(ahead)?, 0)
}

/// The parts of the authorization header of a request whose time is replaced.
fn sign(
    request: &mut HttpRequest,
    credential: &AwsCredential,
    (region, service): (&str, &str),
    time: &str,
) -> Option<HeaderValue> {
    request.headers_mut().insert("x-amz-date", HeaderValue::from_str(time).ok()?);
    let url: Url = request.uri().to_string().parse().ok()?;
    let headers = request.headers();
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let names = text("authorization")?.split_once("SignedHeaders=")?.1.split_once(',')?.0.to_owned();
    let canonical = format!(
        "{}\n{}\n{}\n{}\n{names}\n{}",
        request.method(),
        url.path(),
        query(&url),
        signed_headers(headers, &names, &url),
        text("x-amz-content-sha256")?
    );
    let day = time.get(..8)?;
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let digest = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let secret = format!("AWS4{}", credential.secret_key).into_bytes();
    let parts = [day, region, service, "aws4_request", &to_sign];
    let signature = hex(&parts.iter().fold(secret, |key, part| keyed(&key, part)));
    let id = &credential.key_id;
    let header =
        format!("AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}");
    HeaderValue::from_str(&header).ok()
}

/// Names and values of the query in canonical form.
fn query(url: &Url) -> String {
    let mut pairs: Vec<String> = url
        .query_pairs()
        .map(|(name, value)| format!("{}={}", query_encoded(&name), query_encoded(&value)))
        .collect();
    pairs.sort_unstable();
    pairs.join("&")
}

/// A line for each header that is signed.
fn signed_headers(headers: &HeaderMap, names: &str, url: &Url) -> String {
    let line = |name: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let values = values.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "));
        let values: Vec<String> =
            if name == "host" { vec![url.authority().to_owned()] } else { values.collect() };
        format!("{name}:{}\n", values.join(","))
    };
    names.split(';').map(line).collect()
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::aws::AwsAuthorizer;
    use object_store::client::HttpRequestBody;

    #[test]
    fn signatures_are_those_of_the_client() {
        let credential = AwsCredential {
            key_id: "AKIDEXAMPLE".to_owned(),
            secret_key: "hunter2".to_owned(),
            token: Some("to/ken".to_owned()),
        };
        for (service, method, address) in [
            ("s3", "GET", "http://127.0.0.1:4000/bucket/a%20b/%C2%B5?versionId=1"),
            (
                "s3",
                "GET",
                "https://s3.eu-west-1.amazonaws.com/b?prefix=a%2Fb%3D%20c&list-type=2&delimiter=%2F",
            ),
            ("s3", "POST", "https://b.s3.amazonaws.com/key?uploads"),
            ("sts", "GET", "https://sts.eu-west-1.amazonaws.com/?Action=AssumeRole&RoleArn=arn%3Aaws"),
        ] {
            let mut request = HttpRequest::new(HttpRequestBody::from(bytes::Bytes::from_static(b"body")));
            *request.method_mut() = method.parse().unwrap();
            *request.uri_mut() = address.parse().unwrap();
            request.headers_mut().insert("if-none-match", HeaderValue::from_static("*"));
            request.headers_mut().insert("x-amz-meta-a", HeaderValue::from_static(" two   words "));
            AwsAuthorizer::new(&credential, service, "eu-west-1").try_authorize(&mut request, None).unwrap();
            let theirs = request.headers().get(AUTHORIZATION).unwrap().clone();
            let time = request.headers()["x-amz-date"].to_str().unwrap().to_owned();
            let place = ("eu-west-1", service);
            assert_eq!(sign(&mut request, &credential, place, &time).unwrap(), theirs, "{address}");
        }
    }

    #[test]
    fn clocks_that_agree_change_nothing() {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        let credential = AwsCredential { key_id: String::new(), secret_key: String::new(), token: None };
        assert_eq!(sign_for(&mut request, &credential, ("r", "s3"), 0), None);
        assert!(request.headers().is_empty());
        assert_eq!(sign_for(&mut request, &credential, ("r", "s3"), i64::MIN), None, "no such time");
    }
}
