//! Self-signed certificates named in the configuration.
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Trusts a server whose own certificate is configured as trusted, even if it is marked as a CA certificate, as
/// OpenSSL makes them by default. Everything else is left to the inner verifier.
#[derive(Debug)]
pub(super) struct NamedCertificate<V> {
    pub(super) inner: V,
    pub(super) named: Vec<CertificateDer<'static>>,
}

impl<V: ServerCertVerifier> ServerCertVerifier for NamedCertificate<V> {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Its validity period was checked before.
            Err(error) if is_authority(&error) && self.named.iter().any(|named| named == end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Whether a certificate was refused only for being a CA certificate.
fn is_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(why)) = error else { return false };
    matches!(why.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::pem::PemObject;
    use rustls_platform_verifier::Verifier;
    use std::sync::Arc;
    use std::time::Duration;

    /// Self-signed, for localhost, until the year 2126.
    const PEM: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBmzCCAUGgAwIBAgIUIWlZA9KYYqvzDKEaES/mgTcud+UwCgYIKoZIzj0EAwIw\n\
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjAyMjg0MloYDzIxMjYxMDI5\n\
MDIyODQyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO\n\
PQMBBwNCAAQhoSp/WxYturUp3+H33EWCerrcx6JNizwRh6QGNtAYGvTgRx+Yfl6L\n\
io4tCNoej4B4lwYcga6mi8NTMXxhhLe4o28wbTAdBgNVHQ4EFgQUALVbXmD0YX09\n\
gkvKWUqcLSxWj6AwHwYDVR0jBBgwFoAUALVbXmD0YX09gkvKWUqcLSxWj6AwDwYD\n\
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI\n\
zj0EAwIDSAAwRQIhAJ/d2F6zVcAjdAjiRuukeOY737sqv16CU2gEHKvN1z0VAiBQ\n\
VTJv/Xjiuyn6G5jrR+nJGRsqvYya5LpPnKpZ7ohGSA==\n\
-----END CERTIFICATE-----\n\
";

    #[test]
    fn a_certificate_that_signs_itself_is_trusted_when_it_is_named_for_its_own_host_and_time() {
        let certificate = CertificateDer::from_pem_slice(PEM.as_bytes()).unwrap();
        let day = |day: u64| UnixTime::since_unix_epoch(Duration::from_secs(day * 86_400));
        let is_trusted = |named: Vec<CertificateDer<'static>>, host: &str, now: UnixTime| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let inner = Verifier::new_with_extra_roots(named.clone(), provider).unwrap();
            let host = ServerName::try_from(host.to_owned()).unwrap();
            NamedCertificate { inner, named }.verify_server_cert(&certificate, &[], &host, &[], now).is_ok()
        };
        let named = || vec![certificate.clone()];
        assert!(is_trusted(named(), "localhost", day(30_000)));
        assert!(!is_trusted(named(), "elsewhere.example.org", day(30_000)));
        assert!(!is_trusted(named(), "localhost", day(80_000)));
        assert!(!is_trusted(Vec::new(), "localhost", day(30_000)));
    }
}
