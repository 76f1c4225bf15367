"""What the configuration says, and which credentials are used."""

from __future__ import annotations

from typing import Any

from ncirrus.sessions import Session, default_session


def config_show(*, session: Session | None = None) -> list[dict[str, Any]]:
    """The values that count, and where each came from; secrets are masked."""
    shown = (session or default_session())._native().effective()
    return [{"name": name, "value": value, "origin": origin} for name, value, origin in shown]
