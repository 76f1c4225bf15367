//! `ncirrus serve`: hands datasets on over HTTP.
mod descriptors;

use super::{finish, parse_size};
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Error, Result, Session};
use ncirrus_serve::{AccessLog, PageOptions, ServerBuilder, ServerLimits};
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

/// Serve datasets over HTTP, read only: DAP2, DAP4, Zarr, netCDF, a catalogue, pages.
#[derive(ClapArgs)]
#[command(
    before_long_help = "Examples:
  ncirrus serve data/                                    all datasets in a directory
  ncirrus serve sst.nc s3://bucket/era5.zarr --bind 0.0.0.0:8080
  ncirrus serve era5=s3://bucket/2024 --base-path /data --behind-proxy",
    after_long_help = "For a dataset NAME:
  /dap/NAME.dds, .das, .dods, .ascii  DAP2
  /dap/NAME.dmr, .dap                 DAP4
  /zarr/NAME, /zarr2/NAME             Zarr v3, Zarr v2
  /nc/NAME?var=..&time=..&lat=..      a subset as netCDF
  /catalog.xml                        the catalogue of THREDDS
  /view/                              pages in the browser, as those of `ncirrus view`
  /metrics                            counters for Prometheus

SIGTERM or Ctrl-C ends the server when the responses that were begun are complete."
)]
pub(crate) struct Args {
    /// Paths or URLs of datasets and directories, or NAME=ADDRESS.
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// Listen at this address; port 0 is a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    bind: String,
    /// Serve everything below this path.
    #[arg(long, value_name = "PATH", default_value = "")]
    base_path: String,
    /// Leave out the pages below /view/.
    #[arg(long)]
    no_pages: bool,
    /// A proxy in front of the server sends X-Forwarded-For and X-Forwarded-Prefix.
    #[arg(long, hide_short_help = true)]
    behind_proxy: bool,
    /// Write a line for each response to this file, - for standard output, or none.
    #[arg(long, value_name = "FILE", default_value = "-")]
    log: String,
    /// Maximum size of a response.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "4G")]
    max_response: usize,
    /// Maximum time of a response, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, hide_short_help = true)]
    max_time: u64,
    /// Maximum number of responses at the same time.
    #[arg(long, value_name = "N", default_value_t = 256, hide_short_help = true)]
    max_responses: usize,
    /// Maximum number of responses at the same time for one client.
    #[arg(long, value_name = "N", default_value_t = 64, hide_short_help = true)]
    max_per_client: usize,
    /// Maximum number of open connections.
    #[arg(long, value_name = "N", default_value_t = 16384, hide_short_help = true)]
    max_connections: usize,
    /// Cut a client off that neither reads nor sends for this many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, hide_short_help = true)]
    idle_time: u64,
    /// Number of datasets that are kept open.
    #[arg(long, value_name = "N", default_value_t = 64, hide_short_help = true)]
    open_datasets: usize,
    /// Use lists and open datasets for this many seconds without checking whether they changed.
    #[arg(long, value_name = "SECONDS", default_value_t = 2, hide_short_help = true)]
    recheck: u64,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let bind = resolve(&args.bind)?;
    let mut server = ServerBuilder::new(args.addresses.clone(), session)
        .limits(args.limits())
        .base_path(&args.base_path)
        .behind_proxy(args.behind_proxy)
        .log(args.access_log()?);
    if !args.no_pages {
        // Hints are for those who can change the command line.
        server = server.pages(PageOptions { coastlines: super::view::COASTLINES, ..PageOptions::default() });
    }
    let server = server.build()?;
    let base = server.state().base_path().to_owned();
    let mut printed = Ok(());
    server.run_until_signal(bind, |address| {
        let mut out = io::stdout().lock();
        printed = writeln!(out, "listening on http://{address}{base}/").and_then(|()| out.flush());
    })?;
    finish(printed)
}

impl Args {
    fn limits(&self) -> ServerLimits {
        let mut limits = ServerLimits::default();
        limits.response_bytes = self.max_response as u64;
        limits.response_time = Duration::from_secs(self.max_time.max(1));
        limits.idle_time = Duration::from_secs(self.idle_time.max(1));
        limits.responses = self.max_responses;
        limits.responses_per_client = self.max_per_client;
        limits.connections = descriptors::max_connections(self.max_connections);
        limits.open_datasets = self.open_datasets;
        limits.recheck = Duration::from_secs(self.recheck);
        limits
    }

    fn access_log(&self) -> Result<AccessLog> {
        match self.log.as_str() {
            "none" => Ok(AccessLog::none()),
            "-" => Ok(AccessLog::to(io::stdout())),
            file => {
                let path = PathBuf::from(file);
                let opened = std::fs::OpenOptions::new().create(true).append(true).open(&path);
                let opened = opened.map_err(|error| {
                    let kind = ncirrus::ErrorKind::Io { retryable: false };
                    Error::new(kind, format!("the access log: {error}")).at_object(file)
                })?;
                Ok(AccessLog::to(opened))
            }
        }
    }
}

/// The address to listen at.
fn resolve(text: &str) -> Result<SocketAddr> {
    let found = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.ok_or_else(|| Error::invalid(format!("{text:?} is not HOST:PORT, such as 127.0.0.1:8080")))
}
