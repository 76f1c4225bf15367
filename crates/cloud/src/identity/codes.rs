//! MFA codes that a user reads off a device and types, for roles that require one.
use ncirrus_layout::Result;
use std::fmt;
use std::sync::Arc;

type CodePrompt = dyn Fn(&str) -> Result<String> + Send + Sync;

/// Provides the codes for profiles with `mfa_serial`; clones share the callback.
#[derive(Clone, Default)]
pub struct MfaCodes(Option<Arc<CodePrompt>>);

impl MfaCodes {
    /// Calls `ask` with the device (the value of `mfa_serial`) each time a code is needed. It may block while the
    /// user types.
    pub fn by(ask: impl Fn(&str) -> Result<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(ask)))
    }

    /// A code of a device; `None` if there is no callback.
    pub(super) async fn ask(&self, device: &str) -> Option<Result<String>> {
        let (ask, device) = (Arc::clone(self.0.as_ref()?), device.to_owned());
        let answer = tokio::task::spawn_blocking(move || ask(&device)).await;
        Some(
            answer
                .unwrap_or_else(|_| Err(ncirrus_layout::Error::internal("the prompt for a code was closed"))),
        )
    }
}

impl fmt::Debug for MfaCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Codes(asked)" } else { "Codes" })
    }
}
