"""Settings are read from CB_ variables, and every mistake is named at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from app.config import (
    BadConfiguration,
    Settings,
    configuration_page,
    load_settings,
    unknown_variables,
    variable_of,
)

ROOT = Path(__file__).parents[2]
Load = Callable[[dict[str, str]], Settings]
Mistakes = Callable[..., tuple[str, ...]]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CB_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    def with_variables(variables: dict[str, str]) -> Settings:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return load_settings()

    return with_variables


@pytest.fixture
def mistakes(load: Load) -> Mistakes:
    def of(**variables: str) -> tuple[str, ...]:
        with pytest.raises(BadConfiguration) as caught:
            load({f"CB_{name}": value for name, value in variables.items()})
        return caught.value.mistakes

    return of


def test_nothing_set_is_the_embedded_database_and_the_local_model_on_loopback(load: Load) -> None:
    settings = load({})
    assert settings.database_url is None
    assert settings.direct_url is None
    assert (settings.host, settings.port, settings.workers) == ("127.0.0.1", 8000, 1)
    assert (settings.embedding_provider, settings.local_admin) == ("local", False)
    assert (settings.max_body, settings.max_document) == (16_777_216, 65_536)
    assert settings.data_dir.is_absolute()


def test_variables_are_read_with_their_types(load: Load) -> None:
    settings = load(
        {
            "CB_DATABASE_URL": "postgresql://me:p%40ss@db:5433/base",
            "CB_DATA_DIR": "~/папка",
            "CB_PORT": "0",
            "CB_CORS_ORIGINS": "https://a.example, http://localhost:3000",
            "CB_MAX_BODY": "1MiB",
            "CB_LOG_LEVEL": "WARNING",
            "CB_DB_JIT": "true",
            "CB_LOCALE": "",
        }
    )
    assert settings.direct_url == "postgresql://me:p%40ss@db:5433/base"
    assert settings.data_dir == Path.home() / "папка"
    assert settings.cors_origins == ("https://a.example", "http://localhost:3000")
    assert (settings.port, settings.max_body, settings.log_level) == (0, 1_048_576, "warning")
    assert settings.db_jit
    assert settings.locale == "auto"


def test_every_mistake_is_named_in_one_go(mistakes: Mistakes) -> None:
    found = mistakes(
        PORT="80000", WORKERS="none", DATABASE_URL="mysql://root:hunter2@db/base", FUSION="best",
        CORS_ORIGINS="example.org/path", HOST="0.0.0.0", LOCAL_ADMIN="yes",
    )  # fmt: skip
    assert {line.split(":")[0] for line in found} == {
        "CB_PORT", "CB_WORKERS", "CB_DATABASE_URL", "CB_FUSION", "CB_CORS_ORIGINS", "CB_LOCAL_ADMIN",
    }  # fmt: skip
    assert all("\n" not in line for line in found)
    assert not any("hunter2" in line for line in found)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_the_local_administrator_is_refused_beyond_loopback(host: str, mistakes: Mistakes) -> None:
    assert "CB_HOST" in mistakes(LOCAL_ADMIN="1", HOST=host)[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_the_local_administrator_is_allowed_on_loopback(host: str, load: Load) -> None:
    assert load({"CB_LOCAL_ADMIN": "1", "CB_HOST": host}).local_admin


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql://db:port/base"),
        ("DATABASE_URL", "postgresql://db"),
        ("DATABASE_DIRECT_URL", "postgresql://db/base"),
        ("OPENAI_BASE_URL", "api.example.org"),
        ("FTS_CONFIG", "russian; drop"),
        ("EMBEDDING_TIMEOUT", "0"),
        ("EMBEDDING_TIMEOUT", "nan"),
        ("EMBEDDING_DIMENSIONS", "4001"),
        ("EMBEDDING_MODEL", "another"),
        ("MAX_BODY", "-1"),
        ("POOL_SIZE", "0"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(name: str, value: str, mistakes: Mistakes) -> None:
    assert [line.split(":")[0] for line in mistakes(**{name: value})] == [f"CB_{name}"]


def test_openai_needs_a_key_or_another_server(mistakes: Mistakes, load: Load) -> None:
    assert mistakes(EMBEDDING_PROVIDER="openai")[0].startswith("CB_OPENAI_API_KEY: ")
    assert load({"CB_EMBEDDING_PROVIDER": "openai", "CB_OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    assert load({"CB_EMBEDDING_PROVIDER": "openai", "CB_OPENAI_API_KEY": "sk-1", "CB_EMBEDDING_MODEL": "m"})


def test_a_chat_model_is_named_and_has_a_server_or_a_key(load: Load, mistakes: Mistakes) -> None:
    assert load({}).llm_provider == "echo"
    assert [line.partition(":")[0] for line in mistakes(LLM_PROVIDER="openai")] == ["CB_LLM_MODEL", "CB_OPENAI_API_KEY"]
    assert mistakes(LLM_PROVIDER="openai", OPENAI_API_KEY="sk-1")[0].startswith("CB_LLM_MODEL: ")
    assert mistakes(LLM_PROVIDER="none")[0].startswith("CB_LLM_PROVIDER: ")
    for given in ({"CB_OPENAI_API_KEY": "sk-1"}, {"CB_OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}):
        assert load({"CB_LLM_PROVIDER": "OpenAI", "CB_LLM_MODEL": "m", **given}).llm_model == "m"


def test_secrets_are_not_shown(load: Load) -> None:
    shown = repr(load({"CB_OPENAI_API_KEY": "sk-hidden", "CB_DATABASE_URL": "postgresql://u:hidden@h/b"}))
    assert "hidden" not in shown


def test_a_misspelt_variable_is_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CB_DATABSE_URL", "x")
    monkeypatch.setenv("CB_PORT", "1")
    monkeypatch.setenv("CB_TOKEN", "ctxql_1")
    assert unknown_variables() == ["CB_DATABSE_URL is not a setting; did you mean CB_DATABASE_URL?"]


def test_every_setting_is_described() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name


def test_the_page_about_configuration_is_up_to_date() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert page == configuration_page(), "run: .venv/bin/python -m app.config > docs/configuration.md"
    assert set(re.findall(r"^\| `(CB_\w+)`", page, re.M)) == {variable_of(name) for name in Settings.model_fields}


JWT = {"JWT_ISSUER": "https://login.example.org", "JWT_AUDIENCE": "kb, bot", "JWT_JWKS_URL": "https://login.example.org/keys"}


def test_an_issuer_of_signed_tokens_is_read_whole(load: Load) -> None:
    settings = load({f"CB_{name}": value for name, value in JWT.items()})
    assert (settings.jwt_audience, settings.jwt_algorithms) == (("kb", "bot"), ("RS256", "PS256", "ES256", "EdDSA"))
    assert load({"CB_JWT_JWKS_URL": "http://127.0.0.1:8080/keys"}).jwt_jwks_url == "http://127.0.0.1:8080/keys"


@pytest.mark.parametrize("issuer", ["https://login.example.org/realms/kb", "http://127.0.0.1:8080/"])
def test_an_issuer_that_is_an_address_names_its_keys_itself(load: Load, issuer: str) -> None:
    settings = load({"CB_JWT_ISSUER": issuer, "CB_JWT_AUDIENCE": "kb"})
    assert (settings.jwt_issuer, settings.jwt_jwks_url) == (issuer, None)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"JWT_ISSUER": "x"}, ["CB_JWT_AUDIENCE", "CB_JWT_JWKS_URL"]),
        ({"JWT_ISSUER": "http://login.example.org", "JWT_AUDIENCE": "kb"}, ["CB_JWT_JWKS_URL"]),
        ({"JWT_ISSUER": "login", "JWT_AUDIENCE": "kb"}, ["CB_JWT_JWKS_URL"]),
        ({"JWT_AUDIENCE": "x"}, ["CB_JWT_AUDIENCE"]),
        ({**JWT, "JWT_ISSUER": ""}, ["CB_JWT_AUDIENCE", "CB_JWT_JWKS_URL"]),
        ({**JWT, "JWT_JWKS_URL": "http://login.example.org/keys"}, ["CB_JWT_JWKS_URL"]),
        ({**JWT, "JWT_JWKS_URL": "file:///etc/keys"}, ["CB_JWT_JWKS_URL"]),
        ({**JWT, "JWT_JWKS_URL": "https://user:password@login.example.org/"}, ["CB_JWT_JWKS_URL"]),
        ({**JWT, "JWT_ALGORITHMS": "RS256,none"}, ["CB_JWT_ALGORITHMS"]),
        ({**JWT, "JWT_ALGORITHMS": "HS256"}, ["CB_JWT_ALGORITHMS"]),
        ({**JWT, "JWT_ALGORITHMS": ","}, ["CB_JWT_ALGORITHMS"]),
        ({**JWT, "JWT_LEEWAY": "3600", "JWT_MAX_GROUPS": "0"}, ["CB_JWT_LEEWAY", "CB_JWT_MAX_GROUPS"]),
    ],
)
def test_settings_of_signed_tokens_are_judged_together(mistakes: Mistakes, given: dict[str, str], named: list[str]) -> None:
    assert [line.partition(":")[0] for line in mistakes(**given)] == named


def test_what_stands_before_the_server_is_named_properly(load: Load, mistakes: Mistakes) -> None:
    settings = load({"CB_TRUSTED_PROXIES": "10.0.0.7, 2001:db8::/32", "CB_BASE_PATH": "/tools/kb"})
    assert (settings.trusted_proxies, settings.base_path) == (("10.0.0.7", "2001:db8::/32"), "/tools/kb")
    for path in ("kb", "/kb/", "/../kb", "//", "/k b", "/{kb}", "https://kb"):
        assert [line.partition(":")[0] for line in mistakes(BASE_PATH=path)] == ["CB_BASE_PATH"]
    assert "10.0.0.0/24" in mistakes(TRUSTED_PROXIES="proxy.example.org")[0]
