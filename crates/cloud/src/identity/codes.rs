//! Codes that somebody reads off a device and types, for roles that want one.
use ncirrus_layout::Result;
use std::fmt;
use std::sync::Arc;

type CodePrompt = dyn Fn(&str) -> Result<String> + Send + Sync;

/// Who is asked for the codes that profiles with `mfa_serial` want; clones ask the same one.
#[derive(Clone, Default)]
pub struct MfaCodes(Option<Arc<CodePrompt>>);

impl MfaCodes {
    /// Asks `ask`, which is given the device (the value of `mfa_serial`), each time that a code is wanted. It may wait for
    /// somebody.
    pub fn by(ask: impl Fn(&str) -> Result<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(ask)))
    }

    /// A code of a device; none when nobody is to be asked.
    pub(super) async fn ask(&self, device: &str) -> Option<Result<String>> {
        let (ask, device) = (Arc::clone(self.0.as_ref()?), device.to_owned());
        let answer = tokio::task::spawn_blocking(move || ask(&device)).await;
        Some(answer.unwrap_or_else(|_| Err(ncirrus_layout::Error::internal("asking for a code ended"))))
    }
}

impl fmt::Debug for MfaCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Codes(asked)" } else { "Codes" })
    }
}
