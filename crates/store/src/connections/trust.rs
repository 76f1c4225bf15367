//! Whom connections trust, and through whom they go.
use crate::StoreOptions;
use crate::config::Key;
use ncirrus_layout::{Error, Result};
use reqwest::{ClientBuilder, NoProxy, Proxy};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use std::sync::Arc;

/// Certificates as the system trusts them, and others; those that browsers trust where the system has none.
pub(super) fn tls(others: Vec<CertificateDer<'static>>) -> std::result::Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    match Verifier::new_with_extra_roots(others.clone(), provider) {
        Ok(verifier) => {
            let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
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
pub(super) fn certificates(options: &StoreOptions) -> Result<Vec<CertificateDer<'static>>> {
    let Some(path) = options.config.path(Key::HttpCertificates) else { return Ok(Vec::new()) };
    let failed = |why: &dyn std::fmt::Display| {
        let told = options.config.told(Key::HttpCertificates);
        Error::invalid(format!("certificates cannot be read: {why} ({told})")).at_object(path.display())
    };
    let all: std::result::Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| failed(&error))?.collect();
    match all {
        Ok(all) if all.is_empty() => Err(failed(&"there is none")),
        Ok(all) => Ok(all),
        Err(error) => Err(failed(&error)),
    }
}

/// The proxy that the configuration names; without, what the environment says is asked.
pub(super) fn proxied(builder: ClientBuilder, options: &StoreOptions) -> Result<ClientBuilder> {
    let http = options.config.http();
    // The client does not take the star for hosts that are numbers.
    if options.config.excepted().is_some_and(|hosts| hosts.split(',').any(|host| host.trim() == "*")) {
        return Ok(builder.no_proxy());
    }
    let Some(proxy) = &http.proxy else { return Ok(builder) };
    let wrong = |_| Error::invalid("the proxy of the configuration is no url");
    let except = http.no_proxy.as_deref().and_then(NoProxy::from_string);
    Ok(builder.proxy(Proxy::all(proxy.exposed()).map_err(wrong)?.no_proxy(except)))
}
