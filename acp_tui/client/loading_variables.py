"""Environment variables that determine which code a program runs, as data. Doesn't know who sets them or who is told.

A harmless-looking command runs something else if one of these is set for it: a library that is loaded into it, a folder
in which programs or modules are found, a program that it starts internally, or an index of packages. The list is a seat
belt: a program may have variables of its own that do the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from acp_tui.client.secrets.masking import masked_text
from acp_tui.client.secrets.names import is_secret_name
from acp_tui.client.secrets.questions import asks_for_secret
from acp_tui.client.settings.mcp import Server, ServerVariable, readings
from acp_tui.conversation.facts import StdioServer
from acp_tui.conversation.tool_calls import ToolCall
from acp_tui.values import dataclass

_WORDS: Final = frozenset({"key", "keys", "pat", "auth", "creds", "cred", "pass", "dsn", "session", "jwt"})
"""These count only in the names of variables, because they're ambiguous elsewhere."""


@dataclass(frozen=True, slots=True)
class VariableRow:
    """One fact about a server."""

    text: str
    """Contains text from the file that hasn't been made visible yet."""
    is_warning: bool


def rows_of(server: Server, environ: Mapping[str, str]) -> tuple[VariableRow, ...]:
    """The variables that are read for the server and where their values go, secrets first; then what loads code."""
    read = sorted((_row_of(reading, environ) for reading in readings(server)), key=lambda row: not row.is_warning)
    env = server.env if isinstance(server, StdioServer) else ()
    loading = [VariableRow(f"{name} {effect}", True) for name, _ in env if (effect := loading_effect(name))]
    return (*read, *loading)


def may_be_secret(name: str, value: str) -> bool:
    """Whether a variable looks like a secret, by its name or its value."""
    words = name.lower().split("_")
    has_word = words[-1].endswith("pass") or not _WORDS.isdisjoint(words)
    return has_word or is_secret_name(name) or asks_for_secret(name) or masked_text(value) != value


def _row_of(reading: ServerVariable, environ: Mapping[str, str]) -> VariableRow:
    name, value = reading.variable, environ.get(reading.variable)
    is_secret = may_be_secret(name, value or "")
    kind = ", which looks like a secret," if is_secret else ""
    unset = "" if value else "; it is empty or not set now"
    return VariableRow(f"reads your variable {name}{kind} into {reading.goes_to}{unset}", is_secret)


LOADING: Final[Mapping[str, tuple[str, ...]]] = {
    "loads code into every program": ("LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "GLIBC_TUNABLES"),
    "decides which programs are run": ("PATH", "SHELL", "IFS", "CDPATH", "EXECIGNORE", "COMSPEC", "PATHEXT"),
    "is read or run by every shell that starts": (
        "BASH_ENV", "ENV", "ZDOTDIR", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "SHELLOPTS", "BASHOPTS",
        "BASH_FUNC_*", "FPATH",
    ),
    "decides where programs find their settings": (
        "HOME", "XDG_CONFIG*", "XDG_DATA*", "USERPROFILE", "APPDATA", "*_CONFIG", "*_CONFIG_FILE", "*_CONFIG_DIR",
        "*_CONFIG_PATH", "CONDARC", "PSQLRC", "PGSERVICEFILE", "PGSYSCONFDIR", "MYSQL_HOME", "ODBC*", "SCREENRC",
        "ACKRC", "TIGRC_*", "PYLINTRC", "KSHRC", "GNUPGHOME", "KREW_ROOT", "COMPOSER_HOME", "STACK_YAML",
        "CONTAINERS_CONF", "COMPOSE_FILE", "TF_CLI_*", "AWS_SHARED_CREDENTIALS_FILE",
    ),
    "loads code into Python": (
        "PYTHON*", "IPYTHONDIR", "JUPYTER_*", "PYTEST_*", "COVERAGE_PROCESS_START", "MYPYPATH", "FLASK_APP",
        "DJANGO_SETTINGS_MODULE", "GUNICORN_CMD_ARGS", "UWSGI_*", "PYENV_*", "PYSPARK_*",
    ),
    "loads code into Node.js": (
        "NODE_*", "ELECTRON_RUN_AS_NODE", "BUN_*", "DENO_*", "COREPACK_*", "ESBUILD_*", "TS_NODE_*", "TSX_*", "NYC_*",
        "BABEL_*", "ELECTRON_OVERRIDE_*", "NVM_*", "VOLTA_*", "SASS_PATH",
    ),
    "loads code into Perl": ("PERL5*", "PERLLIB", "PERL_*", "PERLDB_OPTS", "PERLIO*"),
    "loads code into Ruby": (
        "RUBYOPT", "RUBYLIB", "RUBYSHELL", "RUBYGEMS_*", "GEM_*", "BUNDLE_*", "RBENV_*", "RAKE*", "SPEC_OPTS",
    ),
    "loads code into Java": (
        "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "JAVA_HOME", "CLASSPATH", "MAVEN_*",
        "GRADLE_*", "*_OPTS", "*_JAVA_OPTIONS", "ANT_*", "KOTLIN_*",
    ),
    "loads code into other interpreters": (
        "PHPRC", "PHP_INI_SCAN_DIR", "LUA_*", "R_PROFILE*", "R_ENVIRON*", "R_LIBS*", "JULIA_*", "TCL*", "TK_LIBRARY",
        "ERL_*", "ELIXIR_*", "DOTNET_*", "CORECLR_*", "COR_*", "COMPlus_*", "MONO_*", "GUILE_*", "AWKPATH",
        "AWKLIBPATH", "EMACSLOADPATH", "VIMINIT", "EXINIT", "MYVIMRC", "VIM", "VIMRUNTIME", "NVIM_*", "INPUTRC",
        "TERMINFO*", "TERMCAP", "PSMODULEPATH", "FISH_*", "NULLCMD", "READNULLCMD", "BASH_LOADABLES_PATH", "GHC*",
        "CABAL_*", "OCAML*", "CAML_*", "OPAM*", "MIX_*", "HEX_*", "REBAR_*", "DART_*", "PUB_*", "PLT*", "RACKET_*",
        "SBCL_*", "SWIPL_*", "OCTAVE_*", "MATLABPATH", "JQ_LIBRARY_PATH", "CRYSTAL_*", "ZIG_*", "TEXINPUTS", "TEXMF*",
        "MSBUILD*",
    ),
    "loads code into programs with a screen, and into what they draw with": (
        "GTK*", "GIO_*", "GDK_PIXBUF_*", "QT_*", "QML*", "GST_*", "VK_*", "LIBGL_*", "ALSA_*", "OCL_*",
        "CUDA_INJECTION*", "OMP_TOOL_*", "MAGICK_*", "DBUS_*", "WINE*", "QEMU_*", "VALGRIND_*", "FAKECHROOT_*",
        "*_PRELOAD", "*_PLUGIN_PATH", "*_PLUGIN_DIR", "*_PLUGINS", "*_MODULE_PATH", "*_MODULES", "*_LIBRARY_PATH",
        "*_DRIVER_PATH",
    ),
    "makes git run a program or read other settings": ("GIT_*", "SSH_ASKPASS*", "SSH_SK_*", "*_ASKPASS*"),
    "is run as a program": (
        "EDITOR", "VISUAL", "FCEDIT", "HGEDITOR", "*_EDITOR", "PAGER", "MANPAGER", "*_PAGER", "LESS", "LESSOPEN",
        "LESSCLOSE", "LESSKEY*", "SYSTEMD_LESS", "MORE", "MANOPT", "BROWSER", "*_BROWSER", "OPENER", "*_OPENER",
        "*_WRAPPER", "*_LAUNCHER", "*_BINARY", "*_BINARY_PATH", "*_EXECUTABLE_PATH", "*_RUNNER", "*_EXTERNAL_DIFF",
        "MAILCAPS", "SENDMAIL", "MAILER", "RSYNC_CONNECT_PROG", "ZIPOPT", "UNZIP", "CHROME_BIN", "CHROME_PATH", "HG",
        "HGRCPATH", "HGPLUGIN*", "SVN_SSH", "CVS_RSH", "RSYNC_RSH", "RSH", "MAKE", "MAKEFLAGS", "MFLAGS",
        "GNUMAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD", "AR", "AS", "NM", "CPP", "FC", "CMAKE_*", "CCACHE_*",
        "DISTCC_*", "PKG_CONFIG*", "RUSTC*", "RUSTDOC*", "RUSTFLAGS", "RUSTUP_*", "CARGO*", "GOFLAGS", "GOROOT",
        "GOTOOLCHAIN", "GOENV", "GOBIN", "GOPATH", "GOAUTH", "GOCACHEPROG", "CGO_*", "CFLAGS", "CXXFLAGS", "CPPFLAGS",
        "LDFLAGS", "GCC_EXEC_PREFIX", "COMPILER_PATH", "CPATH", "*_INCLUDE_PATH", "LIBRARY_PATH", "CONFIG_SITE",
        "CONFIG_SHELL", "AUTOM4TE", "AUTOCONF", "ACLOCAL_PATH", "M4*", "SWIFT_EXEC", "DEVELOPER_DIR", "SDKROOT",
        "TOOLCHAINS", "CLOUDSDK_PYTHON*", "PERF_*", "NNN_*", "HELM_*", "TAR_OPTIONS", "MAKESHELL", "FZF_*",
        "RIPGREP_CONFIG_PATH", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "KUBECONFIG", "DOCKER_*",
        "ANSIBLE_*", "AWS_CONFIG_FILE",
    ),
    "decides where packages come from": (
        "NPM_*", "YARN_*", "PNPM_*", "PIP_*", "PIPX_*", "PIPENV_*", "UV_*", "UVX_*", "POETRY_*", "PDM_*", "CONDA_*",
        "MAMBA_*", "TWINE_*", "NIX_*", "GUIX_*", "BAZELISK_*", "USE_BAZEL_VERSION", "NUGET_*", "HF_ENDPOINT",
        "*_REGISTRY", "*_INDEX_URL", "HOMEBREW_*", "GOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOPRIVATE",
        "GOINSECURE", "GONOPROXY",
    ),
    "redirects or exposes its network traffic": (
        "*_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "*_CA_BUNDLE", "*_BASE_URL", "*_ENDPOINT_URL", "GH_HOST",
        "CONTAINER_HOST", "BUILDKIT_HOST", "SSH_AUTH_SOCK", "KRB5_CONFIG", "CURL_HOME", "WGETRC", "RES_OPTIONS",
        "HOSTALIASES", "LOCALDOMAIN", "SSLKEYLOGFILE",
    ),
}  # fmt: skip
"""What variables do, and their names.

A `*` matches any ending or beginning. Case doesn't matter, because npm, proxies, and Windows ignore it.
"""

HARMLESS: Final = (
    "NODE_ENV", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_AUTHOR_*", "GIT_COMMITTER_*", "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONHASHSEED", "PYTHONFAULTHANDLER",
    "QT_QPA_PLATFORM", "PYTEST_CURRENT_TEST", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "DOCKER_BUILDKIT", "CARGO_TERM_*",
    "CARGO_INCREMENTAL", "DOTNET_NOLOGO", "DOTNET_CLI_TELEMETRY_OPTOUT",
)  # fmt: skip
"""Exceptions that agents often set and that load nothing. Pointless warnings would be ignored."""

_NAMES: Final = {name.upper(): effect for effect, names in LOADING.items() for name in names if "*" not in name}
_PARTS: Final = tuple(
    (name.upper().split("*"), effect) for effect, names in LOADING.items() for name in names if "*" in name
)
"""What is before, between, and after the asterisks."""
_HARMLESS: Final = re.compile("|".join(name.replace("*", ".*") for name in HARMLESS))
_ASSIGNED: Final = re.compile(r"(?<![\w$-])([A-Za-z_]\w*)\+?=")
_ENVIRONMENT: Final = re.compile(r"(?i)env|variables|\bvars?\b|exports?")
_MAX_VALUES: Final = 5_000
"""Limit for the values of a report, outermost first."""
_MAX_NAME: Final = 200
"""Characters."""
_MAX_CHARACTERS: Final = 100_000
"""Characters of a line to check, because the user is waiting."""


def loading_effect(name: str) -> str:
    """The effect of a variable with this name on programs; "" if none is known."""
    upper = name.upper()
    if _HARMLESS.fullmatch(upper):
        return ""
    if upper in _NAMES:
        return _NAMES[upper]
    return next((effect for parts, effect in _PARTS if _fits(upper, *parts)), "")


def _fits(name: str, start: str, *inner_and_end: str) -> bool:
    *inner, end = inner_and_end
    return name.startswith(start) and name.endswith(end) and all(part in name for part in inner)


def loading_warnings(names: Iterable[str], line: str = "") -> tuple[str, ...]:
    """A sentence for each variable in `names`, or assigned in the shell line, that determines what runs."""
    every = dict.fromkeys([*names, *_assigned(line)])
    return tuple(f"Warning: {name} {effect}." for name in every if (effect := loading_effect(name)))


def call_warnings(call: ToolCall) -> tuple[str, ...]:
    """Like `loading_warnings`, for an agent's report of a call: its input, and the title if it executes something.

    Agents write an environment as an object, as a list of names with values, or as `NAME=value`. Elsewhere, only
    uppercase names count as variables, because `path` and `home` are ordinary words.
    """
    names: list[str] = []
    lines = [call.shown_title] if call.kind == "execute" else []
    values: list[tuple[Any, bool]] = [(call.raw_input, False)]
    for value, is_environment in values:  # grows during the loop
        room = max(_MAX_VALUES - len(values), 0)
        if isinstance(value, Mapping):
            for key, inner in islice(value.items(), room):
                if is_environment or key.isupper():
                    names.append(key)
                values.append((inner, is_environment or _ENVIRONMENT.search(key) is not None))
        elif isinstance(value, list | tuple):
            values += [(inner, is_environment) for inner in value[:room]]
        elif isinstance(value, str):
            if is_environment:
                names.append(value)
            if is_environment or call.kind == "execute":
                lines.append(value)
    return loading_warnings((name for name in names if len(name) <= _MAX_NAME), "\n".join(lines))


def _assigned(line: str) -> Iterator[str]:
    """The names before a `=`, including in quotes and in inner lines. If in doubt, one too many."""
    plain = re.sub(r"[\\\"']", "", line[:_MAX_CHARACTERS])
    for found in _ASSIGNED.finditer(plain):
        name = found[1]
        if "_" in name or not name.islower():  # `path=` is an ordinary word of many commands
            yield name
