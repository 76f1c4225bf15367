//! Responses in progress: all of them, and those of each client.
use crate::HttpError;
use axum::http::StatusCode;
use ncirrus::layout::LockExt;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// Counts responses in progress.
pub(crate) struct Clients {
    max: usize,
    max_per_client: usize,
    now: Mutex<InProgress>,
}

#[derive(Default)]
struct InProgress {
    all: usize,
    of: HashMap<IpAddr, usize>,
}

/// A response in progress.
pub(crate) struct ClientPermit {
    clients: Arc<Clients>,
    client: Option<IpAddr>,
}

impl Clients {
    pub(crate) fn new(max: usize, max_per_client: usize) -> Arc<Self> {
        Arc::new(Self { max, max_per_client, now: Mutex::default() })
    }

    /// Number of responses in progress.
    pub(crate) fn count(&self) -> usize {
        self.now.guard().all
    }

    /// Begins a response.
    pub(crate) fn enter(self: &Arc<Self>, client: Option<IpAddr>) -> Result<ClientPermit, HttpError> {
        let mut now = self.now.guard();
        if now.all >= self.max {
            return Err(HttpError::busy("the server is busy: try again later"));
        }
        if let Some(client) = client {
            let count = now.of.entry(client).or_default();
            if *count >= self.max_per_client {
                let message = "too many requests at the same time from this address";
                return Err(HttpError {
                    retry_after: Some(1),
                    ..HttpError::new(StatusCode::TOO_MANY_REQUESTS, message)
                });
            }
            *count += 1;
        }
        now.all += 1;
        Ok(ClientPermit { clients: Arc::clone(self), client })
    }
}

impl Drop for ClientPermit {
    fn drop(&mut self) {
        let mut now = self.clients.now.guard();
        now.all -= 1;
        let Some(client) = self.client else { return };
        if let Some(count) = now.of.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                now.of.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_cannot_take_all_places() {
        let clients = Clients::new(3, 2);
        let (a, b) = (Some(IpAddr::from([10, 0, 0, 1])), Some(IpAddr::from([10, 0, 0, 2])));
        let first = clients.enter(a).unwrap();
        let _second = clients.enter(a).unwrap();
        assert_eq!(clients.enter(a).err().unwrap().status, StatusCode::TOO_MANY_REQUESTS);
        let _third = clients.enter(b).unwrap();
        assert_eq!(clients.enter(b).err().unwrap().status, StatusCode::SERVICE_UNAVAILABLE);
        drop(first);
        assert!(clients.enter(a).is_ok());
        assert_eq!(clients.count(), 2);
    }
}
