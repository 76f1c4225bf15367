//! Trusted certificates and the proxy of connections.
use super::named::NamedCertificate;
use ncirrus_config::{ConfigKey, ConfigSettings};
use ncirrus_layout::{Error, Result};
use reqwest::{ClientBuilder, NoProxy, Proxy};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The system's trusted certificates, and configured ones; those of browsers if the system has none.
pub(super) fn tls(others: Vec<CertificateDer<'static>>) -> std::result::Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    match Verifier::new_with_extra_roots(others.clone(), provider) {
        Ok(verifier) => {
            let verifier = Arc::new(NamedCertificate { inner: verifier, named: others });
            let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
            Ok(builder.with_no_client_auth())
        }
        Err(_) => {
            let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            roots.add_parsable_certificates(others);
            Ok(builder.with_root_certificates(roots).with_no_client_auth())
        }
    }
}

/// The certificates that the configuration names.
pub(super) fn certificates(config: &ConfigSettings) -> Result<Vec<CertificateDer<'static>>> {
    let Some(path) = config.path(ConfigKey::HttpCertificates) else { return Ok(Vec::new()) };
    let failed = |why: &dyn std::fmt::Display| {
        let reported = config.described(ConfigKey::HttpCertificates);
        Error::invalid(format!("certificates cannot be read: {why} ({reported})")).at_object(path.display())
    };
    let mut all = Vec::new();
    for file in files(path).map_err(|error| failed(&error))? {
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| failed(&error))? {
            all.push(certificate.map_err(|error| failed(&error))?);
        }
    }
    if all.is_empty() { Err(failed(&"there is none")) } else { Ok(all) }
}

/// The file itself, or the files in a folder.
fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let paths: Vec<PathBuf> = entries.collect::<std::io::Result<_>>()?;
    Ok(paths.into_iter().filter(|path| path.is_file()).collect())
}

/// The configured proxy; without one, the environment is used.
pub(super) fn proxied(builder: ClientBuilder, config: &ConfigSettings) -> Result<ClientBuilder> {
    let http = config.http();
    // The client does not accept the star for IP addresses.
    if config.excepted().is_some_and(|hosts| hosts.split(',').any(|host| host.trim() == "*")) {
        return Ok(builder.no_proxy());
    }
    let Some(proxy) = &http.proxy else { return Ok(builder) };
    let wrong = |_| Error::invalid("the configured proxy is not a URL");
    let except = http.no_proxy.as_deref().and_then(NoProxy::from_string);
    Ok(builder.proxy(Proxy::all(proxy.exposed()).map_err(wrong)?.no_proxy(except)))
}
