"""The words of fsspec and its file systems for credentials and places, and the project's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ncirrus.errors import InvalidError

# By the names of the variables of the environment that the stores know.
_NAMES = {
    "key": "aws_access_key_id",
    "username": "aws_access_key_id",
    "access_key": "aws_access_key_id",
    "aws_access_key_id": "aws_access_key_id",
    "access_key_id": "aws_access_key_id",
    "secret": "aws_secret_access_key",
    "password": "aws_secret_access_key",
    "secret_key": "aws_secret_access_key",
    "aws_secret_access_key": "aws_secret_access_key",
    "secret_access_key": "aws_secret_access_key",
    "aws_session_token": "aws_session_token",
    "session_token": "aws_session_token",
    "profile": "aws_profile",
    "aws_profile": "aws_profile",
    "endpoint_url": "aws_endpoint_url",
    "endpoint": "aws_endpoint_url",
    "aws_endpoint_url": "aws_endpoint_url",
    "region": "aws_region",
    "region_name": "aws_region",
    "aws_region": "aws_region",
    "account_name": "azure_storage_account_name",
    "account_key": "azure_storage_account_key",
    "sas_token": "azure_storage_sas_key",
    "tenant_id": "azure_storage_tenant_id",
    "client_id": "azure_storage_client_id",
    "client_secret": "azure_storage_client_secret",
    "account_host": "azure_storage_endpoint",
    "service_account": "google_service_account",
}
_ANONYMOUS = ("anon", "anonymous", "skip_signature")
# What other libraries need to know of themselves, and changes nothing here.
_WITHOUT_EFFECT = (
    "asynchronous",
    "loop",
    "use_listings_cache",
    "listings_expiry_time",
    "max_paths",
    "skip_instance_cache",
    "default_block_size",
    "default_fill_cache",
    "default_cache_type",
    "cache_regions",
    "use_ssl",
    "max_concurrency",
)


def settings_of(options: Mapping[str, Any]) -> tuple[dict[str, str], str | None]:
    """Settings of stores by the names of their variables, and whose credentials are used.

    `token` is a session's with Amazon, and with Google a file of a service account, or `anon`.
    """
    settings: dict[str, str] = {}
    whose: str | None = None
    for name, value in options.items():
        if value is None or name in _WITHOUT_EFFECT:
            continue
        if name in _ANONYMOUS:
            whose = "anonymous" if value else whose
        elif name == "credentials" and value in ("auto", "chain", "anonymous"):
            whose = str(value)
        elif name in ("requester_pays", "aws_request_payer"):
            settings["aws_request_payer"] = "requester" if value in (True, "requester", "true") else "false"
        elif name == "token":
            whose = _token(value, settings, whose)
        elif name == "client_kwargs":
            inner, _ = settings_of(value)
            settings.update(inner)
        elif name in _NAMES:
            settings[_NAMES[name]] = str(value)
        elif not (name == "config_kwargs" and not value):
            raise InvalidError(
                f"storage_options: unknown key {name!r}",
                hint="key, secret, token, anon, profile, endpoint_url, region, requester_pays, account_name, ...",
            )
    return settings, whose


def _token(value: Any, settings: dict[str, str], whose: str | None) -> str | None:
    if value == "anon":
        return "anonymous"
    if isinstance(value, str) and value.endswith(".json"):
        settings["google_service_account"] = value
    elif isinstance(value, str):
        settings["aws_session_token"] = value
    else:
        raise InvalidError("storage_options: token is not a text", hint="a session's token, a path to a JSON file, or 'anon'")
    return whose
