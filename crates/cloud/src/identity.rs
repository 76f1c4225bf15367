//! The credentials, region and server used for a bucket, and why (`docs/credentials.md`).
mod amazon;
mod azure;
mod bucket;
mod clock;
mod codes;
mod context;
mod fetch;
mod google;
mod known;
mod place;
mod shared_key;
mod sign;
mod source;
#[cfg(test)]
mod tests;

pub use bucket::{BucketIdentity, SourcedValue};
pub use codes::MfaCodes;
pub use context::CloudContext;
pub(crate) use fetch::FixedConnector;
pub(crate) use google::file as google_file;
pub use known::CredentialRegistry;
pub(crate) use shared_key::SharedKey;
pub(crate) use sign::BucketSigner;

use crate::profile::ProfileFiles;
use ncirrus_layout::Result;
use ncirrus_store::{BucketUrl, CloudProvider, Url, UrlFragment};

impl BucketIdentity {
    /// The credentials that would be used for an address; `None` if it is not in an object store. No request is sent.
    ///
    /// # Errors
    /// As for opening the address: profiles that do not exist, settings that contradict each other.
    pub fn of(url: &Url, context: &CloudContext) -> Result<Option<(BucketUrl, Self)>> {
        let Some(bucket) = context.network.config.bucket(url)? else { return Ok(None) };
        let identity = Self::resolve(&bucket, url.fragment(), context)?;
        Ok(Some((bucket, identity)))
    }

    /// The credentials used for a bucket.
    pub(crate) fn resolve(
        bucket: &BucketUrl,
        fragment: &UrlFragment,
        context: &CloudContext,
    ) -> Result<Self> {
        match bucket.provider {
            CloudProvider::S3 => {
                let profiles = ProfileFiles::read(context.network.config.environment());
                amazon::IdentityQuery { bucket, fragment, context, profiles: &profiles }.resolve()
            }
            CloudProvider::Gcs => Ok(google::resolve(bucket, context)),
            CloudProvider::Azure => Ok(azure::resolve(bucket, context)),
        }
    }
}
