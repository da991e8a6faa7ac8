"""How secrets that we hand out (links, invitations, tokens) are kept."""

from __future__ import annotations

from hashlib import sha256


def secret_digest(secret: str) -> str:
    """What is stored in a secret's place. It holds 256 random bits: there is nothing to guess, so a
    plain digest is enough."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
