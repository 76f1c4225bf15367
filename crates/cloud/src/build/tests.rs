use super::*;
use ncirrus_config::{ConfigFormat, ConfigSettings};
use ncirrus_http::NetworkContext;
use ncirrus_store::Url;
use std::path::Path;
use std::time::Duration;

#[test]
fn a_server_has_settings_of_its_own_by_alias_and_by_address() {
    let text = "[hosts.lab]\nurl = \"https://lab.org:9000\"\npart_size = \"20M\"\nparts = 2\nconnect_timeout = 3\n\
        timeout = 7\nmultipart_upload = false\n";
    let mut settings = ConfigSettings::default();
    settings.read(ConfigFormat::Own, text, Path::new("config.toml")).unwrap();
    let network = NetworkContext { config: Arc::new(settings), ..NetworkContext::default() };
    let context = CloudContext::from(network);
    let of = |address: &str| {
        let bucket = context.network.config.bucket(&Url::parse(address).unwrap()).unwrap().unwrap();
        transfer(&bucket, &context)
    };
    for address in ["s3://lab/bucket/x", "https://lab.org:9000/bucket/x#mode=s3"] {
        let transfer = of(address);
        assert_eq!((transfer.part_bytes(), transfer.at_once()), (Some(20 << 20), Some(2)), "{address}");
        assert!(!transfer.sends_parts());
        let waits = with_waits(&context, &transfer).network.options;
        assert_eq!(waits.retry_policy.connect, Duration::from_secs(3));
        assert_eq!(waits.timeout, Duration::from_secs(7));
    }
    assert_eq!(of("s3://bucket/x"), TransferSettings::default());
    let waits = with_waits(&context, &TransferSettings::default()).network.options;
    assert_eq!(
        (waits.timeout, waits.retry_policy),
        (context.network.options.timeout, context.network.options.retry_policy)
    );
}

#[test]
fn a_container_without_an_account_is_reported_with_the_ways_to_name_one() {
    let config = Arc::new(ConfigSettings::default());
    let network = NetworkContext { config: Arc::clone(&config), ..NetworkContext::default() };
    let context = CloudContext::from(network);
    let reported = |address: &str| {
        let url = Url::parse(address).unwrap();
        let bucket = config.bucket(&url).unwrap().unwrap();
        connect(&bucket, url.fragment(), &context).err().map(|error| error.message().to_owned())
    };
    assert_eq!(reported("az://box/x").as_deref(), Some(NO_ACCOUNT));
    assert_eq!(reported("abfs://box@acc.dfs.core.windows.net/x"), None);
}
