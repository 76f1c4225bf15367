//! The order in which profile, credentials, region and server are looked for.
use super::*;
use ncirrus_store::Credentials;
use rstest::rstest;

const CONFIG: &str = "\
[default]
region = eu-north-1
[profile one]
region = eu-west-1
endpoint_url = http://one:1
[profile role]
role_arn = arn:aws:iam::1:role/r
source_profile = one
[profile circle]
role_arn = arn:aws:iam::1:role/r
source_profile = round
[profile round]
role_arn = arn:aws:iam::1:role/r
source_profile = circle
[profile sso]
sso_session = s
sso_account_id = 12
sso_role_name = reader
[sso-session s]
sso_region = eu-west-2
sso_start_url = https://x
[profile program]
credential_process = /bin/keys --now
[profile empty]
region = eu-west-3
[profile half]
aws_access_key_id = AKIA
[profile code]
role_arn = a
source_profile = one
mfa_serial = m
[profile served]
services = local
aws_access_key_id = AKIASERVED
aws_secret_access_key = hunter2
[services local]
s3 =
  endpoint_url = http://served:2
";
const CREDENTIALS: &str = "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = hunter2\n\
    [one]\naws_access_key_id = AKIAONE1\naws_secret_access_key = hunter2\n\
    [two]\naws_access_key_id = AKIATWO2\naws_secret_access_key = hunter2\naws_session_token = hunter2\n";

const AWS: [(&str, &str); 2] = [(".aws/config", CONFIG), (".aws/credentials", CREDENTIALS)];
const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKIAENVI"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
const RC: (&str, &str) = (".ncrc", "AWS.PROFILE=two\nAWS.REGION=rc-1\n");

/// Rows: address, whether netCDF's file is there, variables; credentials and why; region; whether unsigned follows.
#[rstest]
#[case("s3://b/k#aws.profile=one", true, &[("AWS_PROFILE", "sso")], "access key ***ONE1", "aws.profile of the URL", "eu-west-1", false)]
#[case("s3://b/k#mode=bytes,awsprofile=one", true, &[], "access key ***ONE1", "awsprofile of the URL", "eu-west-1", false)]
#[case("s3://b/k#aws.profile=code", false, &[], "role a assumed by access key ***ONE1, with a code of m", "aws.profile of the URL", "eu-north-1", false)]
#[case("s3://b/k", true, &[("AWS_PROFILE", "one")], "access key ***TWO2 with a session token", "AWS.PROFILE in ~/.ncrc:1", "rc-1", false)]
#[case("s3://b/k", false, &[("AWS_PROFILE", "one")], "access key ***ONE1", "AWS_PROFILE", "eu-west-1", false)]
#[case("s3://b/k", false, &[], "access key ***AULT", "profile \"default\" in", "eu-north-1", true)]
#[case("s3://b/k", false, &KEYS, "access key ***ENVI", "AWS_ACCESS_KEY_ID", "eu-north-1", true)]
#[case("s3://b/k#aws.region=url-1", false, &[KEYS[0], KEYS[1], ("AWS_REGION", "env-1")], "access key ***ENVI", "AWS_ACCESS_KEY_ID", "url-1", true)]
#[case("s3://b/k", false, &[KEYS[0], KEYS[1], ("AWS_REGION", "env-1"), ("AWS_DEFAULT_REGION", "env-2")], "access key ***ENVI", "AWS_ACCESS_KEY_ID", "env-1", true)]
#[case("https://b.s3.host-1.amazonaws.com/k#aws.region=url-1", false, &[], "access key ***AULT", "profile", "host-1", true)]
#[case("s3://b/k#aws.profile=one&aws.region=url-1", true, &[("AWS_REGION", "env-1")], "access key ***ONE1", "profile \"one\"", "url-1", false)]
#[case("s3://b/k#aws.profile=role", false, &[], "role arn:aws:iam::1:role/r assumed by access key ***ONE1", "profile \"role\"", "eu-north-1", false)]
#[case("s3://b/k#aws.profile=sso", false, &[], "role reader of account 12, by single sign-on", "profile \"sso\"", "eu-north-1", false)]
#[case("s3://b/k#aws.profile=program", false, &[], "the program /bin/keys", "profile \"program\"", "eu-north-1", false)]
#[case("s3://b/k#aws.profile=none", true, &KEYS, "anonymous: requests are not signed", "aws.profile of the URL", "rc-1", false)]
#[case("s3://b/k#aws.profile=no", false, &KEYS, "anonymous: requests are not signed", "aws.profile of the URL", "eu-north-1", false)]
#[case("s3://b/k", false, &[("AWS_PROFILE", "anonymous")], "anonymous: requests are not signed", "AWS_PROFILE", "eu-north-1", false)]
#[case("s3://b/k", false, &[KEYS[0], KEYS[1], ("AWS_NO_SIGN_REQUEST", "true")], "anonymous: requests are not signed", "AWS_NO_SIGN_REQUEST", "eu-north-1", false)]
#[case("s3://b/k#aws.profile=empty", false, &KEYS, "access key ***ENVI", "AWS_ACCESS_KEY_ID", "eu-west-3", false)]
fn whose_name_is_used_and_why(
    #[case] address: &str,
    #[case] has_rc: bool,
    #[case] variables: &[(&str, &str)],
    #[case] credentials: &str,
    #[case] why: &str,
    #[case] region: &str,
    #[case] unsigned_retry: bool,
) {
    let mut files = AWS.to_vec();
    files.extend(has_rc.then_some(RC));
    let home = home(&files);
    let found = identity(address, &context(&home, variables)).unwrap();
    assert_eq!(found.credentials.value, credentials);
    assert!(shown(&found.credentials.why, &home).contains(why), "{}", found.credentials.why);
    assert_eq!(found.region.as_ref().unwrap().value, region, "{:?}", found.region);
    assert_eq!(found.unsigned_retry, unsigned_retry);
    assert!(!format!("{found:?}").contains("hunter2"));
}

#[rstest]
#[case(&[], "anonymous: requests are not signed", "no credentials were found")]
#[case(&KEYS, "access key ***ENVI", "AWS_ACCESS_KEY_ID")]
#[case(&[("AWS_PROFILE", "default")], "anonymous: requests are not signed", "no credentials were found")]
#[case(&[("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"), ("AWS_ROLE_ARN", "arn")], "role arn, with the web identity token in /t", "AWS_WEB_IDENTITY_TOKEN_FILE")]
#[case(&[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/c")], "the container's own credentials", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")]
#[case(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://m")], "the machine's own credentials (instance metadata)", "this machine runs at Amazon")]
#[case(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://m"), ("AWS_EC2_METADATA_DISABLED", "true")], "anonymous: requests are not signed", "no credentials were found")]
fn without_files_the_rest_of_the_chain_follows(
    #[case] variables: &[(&str, &str)],
    #[case] credentials: &str,
    #[case] why: &str,
) {
    let home = home(&[]);
    let found = identity("s3://b/k", &context(&home, variables)).unwrap();
    assert_eq!((found.credentials.value.as_str(), found.credentials.why.as_str()), (credentials, why));
    assert_eq!(found.region.unwrap().value, "us-east-1");
}

#[test]
fn machines_of_amazon_are_known_by_their_maker() {
    let ask = |maker: &str| {
        let config = Arc::new(ConfigSettings::of_environment(ProcessEnvironment::default().made_by(maker)));
        let network = NetworkContext { config, ..NetworkContext::default() };
        identity("s3://b/k", &network.into()).unwrap().anonymous
    };
    assert!(!ask("Amazon EC2\n"));
    assert!(ask("Somebody"));
}

#[rstest]
#[case("s3://b/k#aws.profile=nowhere", &KEYS, "there is no profile \"nowhere\" in ~/.aws/config, ~/.aws/credentials (named by aws.profile of the URL)")]
#[case("s3://b/k", &[("AWS_PROFILE", "nowhere"), KEYS[0], KEYS[1]], "there is no profile \"nowhere\" in ~/.aws/config, ~/.aws/credentials (named by AWS_PROFILE)")]
#[case("s3://b/k#aws.profile=empty", &[], "profile \"empty\" has no credentials (named by aws.profile of the URL)")]
#[case("s3://b/k#aws.profile=half", &[], "profile \"half\" has only one of the two keys")]
#[case("s3://b/k", &[KEYS[0]], "AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY")]
fn incomplete_credentials_are_an_error_and_no_other_source_is_used(
    #[case] address: &str,
    #[case] variables: &[(&str, &str)],
    #[case] message: &str,
) {
    let home =
        home(&[(".aws/config", CONFIG), (".aws/credentials", CREDENTIALS.split_once("[one]").unwrap().1)]);
    let error = identity(address, &context(&home, variables)).unwrap_err();
    assert_eq!(shown(error.message(), &home), message);
}

#[test]
fn circles_of_roles_are_found() {
    let home = home(&AWS);
    let error = identity("s3://b/k#aws.profile=circle", &context(&home, &[])).unwrap_err();
    assert!(error.message().contains("forms a cycle"), "{error}");
}

const TOML: &str = "endpoint = \"https://toml.example.org\"\n[hosts.store]\nurl = \"http://store:9000\"\n\
    access_key = \"AKIASTORE\"\nsecret_key = \"hunter2\"\nregion = \"here\"\nrequester_pays = true\n\
    [hosts.open]\nurl = \"https://open.example.org\"\nanonymous = true\n";

#[rstest]
#[case("s3://b/k", &[], "https://toml.example.org", "endpoint in ~/.config/ncirrus/config.toml:1")]
#[case("s3://b/k", &[("AWS_ENDPOINT_URL", "http://all:1")], "http://all:1", "AWS_ENDPOINT_URL")]
#[case("s3://b/k", &[("AWS_ENDPOINT_URL", "http://all:1"), ("AWS_ENDPOINT_URL_S3", "http://s3:2/")], "http://s3:2", "AWS_ENDPOINT_URL_S3")]
#[case("s3://b/k#aws.profile=one", &[], "http://one:1", "profile \"one\" in ~/.aws/config:5")]
#[case("s3://b/k#aws.profile=one", &[("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")], "https://toml.example.org", "endpoint in ~/.config/ncirrus/config.toml:1")]
#[case("s3://b/k", &[("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"), ("AWS_ENDPOINT_URL", "http://all:1")], "https://s3.eu-north-1.amazonaws.com", "Amazon's own")]
#[case("s3://b/k#aws.profile=served", &[], "http://served:2", "services of profile \"served\"")]
#[case("s3://b/k#aws.profile=one", &[("AWS_ENDPOINT_URL", "http://all:1")], "http://all:1", "AWS_ENDPOINT_URL")]
#[case("http://h:9/b/k#mode=s3", &[("AWS_ENDPOINT_URL", "http://all:1")], "http://h:9", "the url")]
#[case("s3://localhost:9000/b/k", &[], "http://localhost:9000", "the url")]
#[case("https://b.s3.eu-west-1.amazonaws.com/k", &[("AWS_ENDPOINT_URL", "http://all:1")], "https://s3.eu-west-1.amazonaws.com", "the url")]
#[case("https://s3.amazonaws.com/b/k#aws.profile=one", &[], "https://s3.eu-west-1.amazonaws.com", "the url")]
#[case("s3://store/b/k", &[], "http://store:9000", "alias \"store\" in ~/.config/ncirrus/config.toml:2")]
fn servers_are_looked_for_in_one_order(
    #[case] address: &str,
    #[case] variables: &[(&str, &str)],
    #[case] endpoint: &str,
    #[case] why: &str,
) {
    let mut files = AWS.to_vec();
    files.push((".config/ncirrus/config.toml", TOML));
    let home = home(&files);
    let found = identity(address, &context(&home, variables)).unwrap();
    assert_eq!((found.endpoint.value.as_str(), shown(&found.endpoint.why, &home).as_str()), (endpoint, why));
}

#[test]
fn a_profile_that_is_not_there_is_no_matter_where_the_alias_says_who_asks() {
    let home = home(&[(".config/ncirrus/config.toml", TOML)]);
    let context = context(&home, &[("AWS_PROFILE", "nobody-has-it")]);
    for address in ["s3://store/b/k", "s3://open/b/k"] {
        assert!(identity(address, &context).is_ok(), "{address}");
    }
    for address in ["s3://bucket/k", "s3://store/b/k#aws.profile=nobody-has-it"] {
        assert_eq!(identity(address, &context).unwrap_err().kind(), ncirrus_layout::ErrorKind::Invalid);
    }
}

#[test]
fn aliases_bring_their_own_keys() {
    let home = home(&[(".config/ncirrus/config.toml", TOML), AWS[0], AWS[1]]);
    let context = context(&home, &KEYS);
    let url = Url::parse("s3://store/b/dir/k").unwrap();
    let (bucket, found) = BucketIdentity::of(&url, &context).unwrap().unwrap();
    assert_eq!((bucket.name.as_str(), bucket.key.as_str()), ("b", "dir/k"));
    assert_eq!(found.credentials.value, "access key ***TORE");
    assert_eq!(found.region.unwrap().value, "here");
    assert!(found.requester_pays.unwrap().value);
    assert!(!found.unsigned_retry);
    assert!(identity("s3://open/b/k", &context).unwrap().anonymous);
    let same_server = identity("http://store:9000/b/k#mode=s3", &context).unwrap();
    assert_eq!(same_server.credentials.value, "access key ***TORE");
}

#[rstest]
#[case("s3://store/b/k#aws.profile=one", "access key ***ONE1", "profile \"one\": aws.profile of the URL")]
#[case(
    "s3://store/b/k#mode=s3,awsprofile=none",
    "anonymous: requests are not signed",
    "profile \"none\": awsprofile of the URL"
)]
#[case(
    "http://store:9000/b/k#mode=s3&aws.profile=one",
    "access key ***ONE1",
    "profile \"one\": aws.profile of the URL"
)]
#[case("s3://open/b/k#aws.profile=one", "access key ***ONE1", "profile \"one\": aws.profile of the URL")]
#[case(
    "s3://store/b/k#aws.profile=empty",
    "access key ***TORE",
    "alias \"store\" in ~/.config/ncirrus/config.toml:2"
)]
fn a_profile_in_the_url_goes_before_the_keys_of_the_alias(
    #[case] address: &str,
    #[case] credentials: &str,
    #[case] why: &str,
) {
    let home = home(&[(".config/ncirrus/config.toml", TOML), AWS[0], AWS[1]]);
    let found = identity(address, &context(&home, &KEYS)).unwrap();
    assert_eq!(
        (found.credentials.value.as_str(), shown(&found.credentials.why, &home).as_str()),
        (credentials, why)
    );
    assert!(!found.unsigned_retry);
}

#[test]
fn a_bucket_at_amazon_has_another_name_than_its_namesake_at_the_usual_server() {
    let home = home(&[]);
    let address = |url: &str, variables: &[(&str, &str)]| {
        let url = Url::parse(url).unwrap();
        context(&home, variables).network.config.bucket(&url).unwrap().unwrap().address()
    };
    let (at_amazon, usual) = ("https://b.s3.amazonaws.com/k", "s3://b/k");
    assert_eq!(address(at_amazon, &[]), address(usual, &[]));
    let elsewhere = [("AWS_ENDPOINT_URL", "http://all:1")];
    assert_ne!(address(at_amazon, &elsewhere), address(usual, &elsewhere));
}

#[test]
fn what_is_neither_alias_nor_bucket_is_an_error_that_names_the_file() {
    let home = home(&[(".config/ncirrus/config.toml", TOML)]);
    let error = identity("s3://my+store/b/k", &context(&home, &[])).unwrap_err();
    let expected =
        "\"my+store\" is not a bucket, and no alias in ~/.config/ncirrus/config.toml, ~/.s3nc.json";
    assert_eq!(shown(error.message(), &home), expected);
}

#[test]
fn the_program_goes_first() {
    let home = home(&AWS);
    let settings =
        [("AWS_ACCESS_KEY_ID", "AKIAPROG"), ("aws_secret_access_key", "hunter2"), ("aws_region", "prog-1")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut given = context(&home, &KEYS);
    given.network.options.settings = settings;
    let found = identity("s3://b/k#aws.profile=one", &given).unwrap();
    assert_eq!(
        (found.credentials.value.as_str(), found.region.unwrap().value.as_str()),
        ("access key ***PROG", "prog-1")
    );
    given.network.options.credentials = Credentials::Anonymous;
    assert!(identity("s3://b/k#aws.profile=one", &given).unwrap().anonymous);
}

#[test]
fn others_have_their_own_orders() {
    let home = home(&[(".config/gcloud/application_default_credentials.json", "{}")]);
    let found = identity("gs://b/k", &context(&home, &[])).unwrap();
    assert_eq!(shown(&found.credentials.why, &home), "~/.config/gcloud/application_default_credentials.json");
    assert!(identity("gs://b/k", &context(&super::home(&[]), &[])).unwrap().anonymous);
    let found = identity(
        "abfs://box@acc.dfs.core.windows.net/k",
        &context(&home, &[("AZURE_STORAGE_KEY", "hunter2")]),
    )
    .unwrap();
    assert_eq!(found.credentials.value, "the account's key");
    assert_eq!(found.endpoint.value, "https://acc.blob.core.windows.net");
}
