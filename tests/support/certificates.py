"""Certificates of a CA that a test makes for itself with openssl."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

NAME = "agent.example"
"""The host that the certificates are for; no real host has this name."""
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True)
class Authority:
    """A CA. Its folder contains its certificate and those it has signed."""

    folder: Path

    @property
    def certificate(self) -> Path:
        """The certificate that a client trusts."""
        return self.folder / "ca.pem"

    def issue(self, names: str, days: int = 2) -> tuple[Path, Path]:
        """A certificate and its key for names such as `DNS:agent.example,IP:127.0.0.1`; with 0 days, it has expired."""
        stem = self.folder / f"{abs(hash(names))}-{days}"
        request, certificate, key, extension = (stem.with_suffix(end) for end in (".csr", ".pem", ".key", ".ext"))
        extension.write_text(f"subjectAltName={names}\n")
        _openssl("req", *_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={NAME}")
        signing = ("-CA", self.certificate, "-CAkey", self.folder / "ca.key", "-extfile", extension)
        _openssl("x509", "-req", "-in", request, *signing, "-days", days, "-out", certificate)
        return certificate, key

    def context(self, names: str, days: int = 2) -> ssl.SSLContext:
        """For a server that presents this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(names, days))
        return context


def authority(folder: Path) -> Authority:
    """A new CA. Skips the test if openssl isn't installed."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made with openssl, which isn't installed")
    _openssl(
        "req",
        "-x509",
        *_KEY,
        "-keyout",
        folder / "ca.key",
        "-out",
        folder / "ca.pem",
        "-subj",
        "/CN=a test's CA",
        "-addext",
        "keyUsage=critical,keyCertSign",  # as Python wants it from 3.13 on
    )
    return Authority(folder)


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)
