//! Futures: opening and reading without a blocked thread, and several reads at once.
use super::{Dataset, DatasetState, substituted};
use crate::{Error, OpenOptions, PointSelection, Result, Selection, Session, Values, VarId, Variable};
use bytes::Bytes;
use futures_util::future::join_all;
use ncirrus_store::Url;

impl Dataset {
    /// As [`open_with`](Self::open_with), as a future for any executor; dropping it cancels its requests.
    ///
    /// # Errors
    /// As [`open_with`](Self::open_with).
    pub fn open_async(
        url: impl Into<String>,
        options: OpenOptions,
        session: &Session,
    ) -> impl Future<Output = Result<Self>> + Send + 'static {
        let (url, session) = (url.into(), session.clone());
        async move {
            session.start_log(&url)?;
            let plain = Url::parse(&url)?;
            let error = match Self::open_at_async(plain.clone(), &url, &options, &session).await {
                Err(error) => error,
                opened => return opened,
            };
            let open = |address| Self::open_at_async(address, &url, &options, &session);
            session.engine.open_computed(&plain, error, open).await
        }
    }

    /// Opens what is at an address, for one that is shown.
    pub(super) async fn open_at_async(
        address: Url,
        url: &str,
        options: &OpenOptions,
        session: &Session,
    ) -> Result<Self> {
        let stores = session.stores.clone();
        // Stores may need the network in which they are opened.
        let opening = session.spawn(async move { ncirrus_store::open_url(&address, &stores).await })?;
        let opened = opening.await?;
        let options = substituted(options, &opened, session);
        let dataset = session.engine.open_opened(&opened, &session.drivers, &options).await?;
        Self::reading(session, url, opened.name, dataset, &options)
    }

    /// Values of several variables, in the requested order, each in the variable's own type. They are fetched together,
    /// in as many rounds of requests as the read that needs the most rounds.
    ///
    /// # Errors
    /// The first failure, as from [`Variable::values`].
    pub fn read_many(&self, wanted: &[(VarId, Selection)]) -> Result<Vec<Values>> {
        self.engine().wait(self.read_together(wanted))
    }

    /// Announces reads that come next, in this order, of a dataset that is being read: of variables whose values a server
    /// computes, small ones are then fetched together with the first of them. Without effect for others; no request is
    /// sent yet.
    pub fn announce_reads(&self, wanted: &[(VarId, Selection)]) {
        if let DatasetState::Reading(dataset) = self.state() {
            let wanted: Vec<(VarId, &Selection)> = wanted.iter().map(|(var, part)| (*var, part)).collect();
            let announced = self.engine().wait(async {
                dataset.announce(&wanted).await;
                Ok(())
            });
            // What is not announced is read all the same.
            _ = announced;
        }
    }

    /// As [`read_many`](Self::read_many), as a future for any executor; dropping it cancels its requests.
    ///
    /// # Errors
    /// As [`read_many`](Self::read_many).
    pub fn read_many_async(
        &self,
        wanted: Vec<(VarId, Selection)>,
    ) -> impl Future<Output = Result<Vec<Values>>> + Send + 'static {
        let dataset = self.clone();
        async move { dataset.read_together(&wanted).await }
    }

    async fn read_together(&self, wanted: &[(VarId, Selection)]) -> Result<Vec<Values>> {
        let wanted: Vec<(VarId, &Selection)> = wanted.iter().map(|(var, part)| (*var, part)).collect();
        let located = |(values, (var, _)): (Result<Values>, &(VarId, &Selection))| {
            values.map_err(|error| error.at_path(self.path_of(*var)))
        };
        match self.state() {
            DatasetState::Reading(dataset) => {
                dataset.read_many(&wanted).await.into_iter().zip(&wanted).map(located).collect()
            }
            DatasetState::Writing(open) => {
                let read = |(var, selection): &(VarId, &Selection)| {
                    let (var, selection) = (*var, (*selection).clone());
                    async move { self.written(open)?.read(var, &selection).await }
                };
                let values = join_all(wanted.iter().map(read)).await;
                values.into_iter().zip(&wanted).map(located).collect()
            }
        }
    }
}

impl Variable {
    /// As [`read_bytes_into`](Self::read_bytes_into), as a future for any executor, which owns the buffer and returns
    /// it. Dropping it cancels its requests.
    ///
    /// # Errors
    /// As [`read_bytes_into`](Self::read_bytes_into).
    pub fn read_bytes_owned<B: AsMut<[u8]> + Send + 'static>(
        &self,
        selection: Selection,
        mut buffer: B,
    ) -> impl Future<Output = Result<B>> + Send + 'static {
        let variable = self.clone();
        async move {
            let (var, dataset) = (variable.id(), variable.dataset());
            let read = match dataset.state() {
                DatasetState::Reading(dataset) => dataset.read_into(var, &selection, buffer.as_mut()).await,
                DatasetState::Writing(open) => {
                    dataset.written(open)?.read_into(var, &selection, buffer.as_mut()).await
                }
            };
            read.map_err(|error| error.at_path(variable.path()))?;
            Ok(buffer)
        }
    }

    /// As [`read_bytes_owned`](Self::read_bytes_owned), into a buffer of its own.
    ///
    /// # Errors
    /// As [`read_bytes_into`](Self::read_bytes_into); `Limit` if there is not enough memory.
    pub fn read_bytes_async(
        &self,
        selection: Selection,
    ) -> impl Future<Output = Result<Vec<u8>>> + Send + 'static {
        let variable = self.clone();
        async move {
            let count = selection.element_count().and_then(|count| usize::try_from(count).ok());
            let buffer = variable.buffer_for(count).map_err(|error| error.at_path(variable.path()))?;
            variable.read_bytes_owned(selection, buffer).await
        }
    }

    /// As [`write_bytes`](Self::write_bytes), as a future for any executor, which owns the bytes: with
    /// [`Session::spawn`] values are encoded while the caller goes on. What is stored as it is there is not copied. Of writes of the same elements that overlap in
    /// time, any one may be the last. What [`sync`](Dataset::sync) finds unfinished is not part of what it commits.
    ///
    /// # Errors
    /// As [`write_bytes`](Self::write_bytes).
    pub fn write_bytes_owned(
        &self,
        selection: Selection,
        bytes: impl Into<Bytes>,
    ) -> impl Future<Output = Result<()>> + Send + 'static {
        let (variable, bytes) = (self.clone(), bytes.into());
        async move {
            let (var, dataset) = (variable.id(), variable.dataset());
            let write = async {
                let writer = &dataset.open_for_writing()?.writer;
                let Some(ty) = variable.ty().filter(|_| variable.quantization().is_some()) else {
                    return writer.write_packed_bytes(var, &selection, &bytes).await;
                };
                let values = ncirrus_engine::convert::unpack(&dataset.snapshot(), ty, &bytes)?;
                writer.write(var, &selection, &*variable.as_held(&values)?).await
            };
            write.await.map_err(|error| error.at_path(variable.path()))
        }
    }

    /// As [`read_points_into`](Self::read_points_into), as a future for any executor, into a buffer of its own. Dropping
    /// it cancels its requests.
    ///
    /// # Errors
    /// As [`read_points_into`](Self::read_points_into); `Limit` when the memory does not hold them.
    pub fn read_points_async(
        &self,
        points: PointSelection,
    ) -> impl Future<Output = Result<Vec<u8>>> + Send + 'static {
        let variable = self.clone();
        async move {
            let read = async {
                let mut buffer = variable.buffer_for(Some(points.count()))?;
                let (var, dataset) = (variable.id(), variable.dataset());
                match dataset.state() {
                    DatasetState::Reading(dataset) => {
                        dataset.read_points_into(var, &points, &mut buffer).await
                    }
                    DatasetState::Writing(open) => {
                        dataset.written(open)?.read_points_into(var, &points, &mut buffer).await
                    }
                }
                .map(|()| buffer)
            };
            read.await.map_err(|error: Error| error.at_path(variable.path()))
        }
    }

    /// As [`point_values`](Self::point_values), as a future for any executor; dropping it cancels its requests.
    ///
    /// # Errors
    /// As [`point_values`](Self::point_values).
    pub fn point_values_async(
        &self,
        points: PointSelection,
    ) -> impl Future<Output = Result<Values>> + Send + 'static {
        let variable = self.clone();
        async move {
            let (var, dataset) = (variable.id(), variable.dataset());
            let read = match dataset.state() {
                DatasetState::Reading(dataset) => dataset.read_points(var, &points).await,
                DatasetState::Writing(open) => dataset.written(open)?.read_points(var, &points).await,
            };
            read.map_err(|error| error.at_path(variable.path()))
        }
    }

    /// Memory for so many elements.
    fn buffer_for(&self, count: Option<usize>) -> Result<Vec<u8>> {
        // If the type has no size, the read reports it.
        let len = self.packed_len().unwrap_or(0);
        let len = count.and_then(|count| count.checked_mul(len));
        let len = len.ok_or_else(|| Error::limit("the selection does not fit the memory"))?;
        let mut buffer = Vec::new();
        buffer
            .try_reserve_exact(len)
            .map_err(|error| Error::limit(format!("{len} bytes do not fit the memory")).because(error))?;
        buffer.resize(len, 0);
        Ok(buffer)
    }

    /// As [`values`](Self::values), as a future for any executor; dropping it cancels its requests.
    ///
    /// # Errors
    /// As [`values`](Self::values).
    pub fn values_async(
        &self,
        selection: Selection,
    ) -> impl Future<Output = Result<Values>> + Send + 'static {
        let wanted = self.dataset().read_many_async(vec![(self.id(), selection)]);
        async move {
            let values = wanted.await?.into_iter().next();
            values.ok_or_else(|| Error::internal("a read without values"))
        }
    }
}
