"""What every sandbox covers, shows, and hides, and the variables in it. Paths may start with ~."""

from __future__ import annotations

from typing import Final

COVERED: Final = ("/home", "/root", "/Users", "/run", "/media", "/mnt", "/Volumes")
"""Other people's files, other systems' disks, and the sockets of services."""
SCRATCH: Final = ("~/.cache", "~/.npm")
"""Caches of tools, private and empty: without them, builds fail. What is in the user's own stays out of reach."""
SHARED_TMP: Final = ("/tmp", "/var/tmp")
TOOLS: Final = (
    *(
        "~/.gitconfig",
        "~/.config/git",
        "~/.rustup",
        "~/.nvm",
        "~/.pyenv",
        "~/.rbenv",
        "~/.asdf",
        "~/.sdkman",
        "~/.volta",
    ),
    *("~/.local/bin", "~/.local/lib", "~/.local/share/mise", "~/.local/share/uv", "~/.local/share/pipx"),
    *("~/.local/share/fnm", "~/.local/share/pnpm", "~/.config/mise"),
)
"""Tool chains in the home folder, which agents build and test with, and the user's name for commits."""
SECRETS: Final = (
    *(
        "~/.ssh",
        "~/.gnupg",
        "~/.aws",
        "~/.azure",
        "~/.kube",
        "~/.docker",
        "~/.netrc",
        "~/_netrc",
        "~/.npmrc",
        "~/.pypirc",
    ),
    *("~/.git-credentials", "~/.config/git/credentials", "~/.config/gh", "~/.config/glab-cli", "~/.config/gcloud"),
    *("~/.config/op", "~/.config/rclone", "~/.config/sops", "~/.vault-token", "~/.terraform.d", "~/.databrickscfg"),
    *("~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.m2/settings.xml", "~/.pgpass"),
    *("~/.password-store", "~/.local/share/keyrings", "~/.local/share/kwalletd", "~/Library/Keychains"),
    *("~/.mozilla", "~/.thunderbird", "~/.config/google-chrome", "~/.config/chromium", "~/.config/BraveSoftware"),
    *("~/.config/microsoft-edge", "~/.config/vivaldi", "~/.config/opera", "~/.var/app", "~/snap"),
    *("~/Library/Application Support/Google/Chrome", "~/Library/Application Support/Firefox", "~/Library/Cookies"),
    *("~/.bash_history", "~/.zsh_history", "~/.python_history", "~/.local/share/fish", "~/.Xauthority"),
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/etc/ssl/private", "/etc/krb5.keytab", "/etc/wireguard", "/etc/NetworkManager/system-connections"),
    *("~/.local/share/uv/credentials", "~/.config/mise/age.txt", "~/.fly/config.yml", "~/.pulumi/credentials.json"),
    *("/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key"),
    *("/var/lib/incus", "/var/lib/lxd", "/var/snap"),
    *("/etc/letsencrypt", "/var/lib/docker", "/var/lib/containerd", "/var/spool/cron", "/var/mail", "/var/spool/mail"),
)
"""Keys, tokens, and what the user did elsewhere. Hidden even where the home folder is a session's folder."""
RUNS_LATER: Final = (
    *(".envrc", ".vscode", ".idea", ".zed", ".fleet", ".husky", ".githooks", ".github", ".gitlab-ci.yml", ".circleci"),
    *(".devcontainer", ".pre-commit-config.yaml", "lefthook.yml", ".mcp.json", ".cursor", ".windsurf", ".acp-tui.toml"),
    *(".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".gemini/settings.json"),
    *(
        ".codex/config.toml",
        ".qwen/settings.json",
        ".opencode",
        "opencode.json",
        ".npmrc",
        ".yarnrc.yml",
        ".bunfig.toml",
    ),
    *("mise.toml", ".mise.toml", ".tool-versions", "flake.nix", "shell.nix", ".python-version", ".gitmodules"),
)
"""What editors, shells, git, and other agents read in a folder without being asked. It is read-only where it exists."""
ENVIRONMENT: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "EDITOR", "VISUAL", "PAGER"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NVM_*", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_*", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "JAVA_HOME"),
    *("PNPM_HOME", "VOLTA_HOME", "BUN_INSTALL", "DENO_INSTALL", "SDKMAN_DIR", "GIT_AUTHOR_*", "GIT_COMMITTER_*"),
    *("npm_config_script_shell", "ACP_TUI_FOLDER", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
)
"""Variables that every agent gets. The others may be keys."""
