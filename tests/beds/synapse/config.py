"""What a homeserver for tests is told: no limits, no federation, cheap passwords, nothing from a cache."""

from __future__ import annotations

from pathlib import Path

Settings = dict[str, object]

_BOUNDLESS = {"per_second": 100_000, "burst_count": 100_000}
_LIMITS: Settings = {
    **{
        f"rc_{what}": _BOUNDLESS
        for what in (
            "message",
            "registration",
            "registration_token_validity",
            "admin_redaction",
            "joins_per_room",
            "room_creation",
            "key_requests",
            "media_create",
            "delayed_event_mgmt",
        )
    },
    "rc_login": dict.fromkeys(("address", "account", "failed_attempts"), _BOUNDLESS),
    "rc_joins": dict.fromkeys(("local", "remote"), _BOUNDLESS),
    "rc_invites": dict.fromkeys(("per_room", "per_user", "per_issuer"), _BOUNDLESS),
    "rc_presence": {"per_user": _BOUNDLESS},
}


def settings(folder: Path, port: int, secret: str, extra: Settings) -> Settings:
    """Everything in the file of settings; `extra` has the last word, key by key."""
    return {**_place(folder, port), **_secrets(folder, secret), **_behaviour(), **_LIMITS, **extra}


def logging(folder: Path) -> Settings:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(name)s %(levelname)s %(message)s"}},
        "handlers": {
            "file": {
                "class": "logging.FileHandler",
                "formatter": "line",
                "filename": str(folder / "homeserver.log"),
            }
        },
        "root": {"level": "WARNING", "handlers": ["file"]},
    }


def _place(folder: Path, port: int) -> Settings:
    return {
        "server_name": "localhost",
        "public_baseurl": f"http://127.0.0.1:{port}/",
        "listeners": [
            {
                "port": port,
                "bind_addresses": ["127.0.0.1"],
                "type": "http",
                "tls": False,
                "resources": [{"names": ["client", "media"], "compress": False}],
            }
        ],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "homeserver.db")}},
        "log_config": str(folder / "log.yaml"),
        "media_store_path": str(folder / "media"),
        "pid_file": str(folder / "homeserver.pid"),
    }


def _secrets(folder: Path, secret: str) -> Settings:
    return {
        "signing_key_path": str(folder / "signing.key"),
        "registration_shared_secret": secret,
        "macaroon_secret_key": secret,
        "form_secret": secret,
        "bcrypt_rounds": 4,
    }


def _behaviour() -> Settings:
    return {
        # Asking the same thing twice within two minutes would else be answered from memory, with an old token.
        "caches": {"sync_response_cache_duration": "0s"},
        "report_stats": False,
        "trusted_key_servers": [],
        "suppress_key_server_warning": True,
        "federation_domain_whitelist": [],
        "enable_registration": False,
        "enable_search": False,
        "presence": {"enabled": False},
        "url_preview_enabled": False,
        "user_directory": {"enabled": False, "search_all_users": True},
        "background_updates": {"background_update_duration_ms": 10, "sleep_enabled": False},
        "redaction_retention_period": None,
    }
