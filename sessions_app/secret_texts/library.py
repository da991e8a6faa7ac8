"""The detectors of ``bc-detect-secrets`` that know a secret by its own form.

They are asked about the surroundings of a literal that each form contains, so that a long text costs as
much as looking for literals does; its detectors of mere entropy are not asked, for they take every digest
and image for a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

from sessions_app.secret_texts.spans import Span, stands_alone


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector by its module and class. ``anchors`` are literals of which one stands in every such
    secret or beside it, in lower case; ``before`` and ``after`` how much around one is looked at."""

    module: str
    name: str
    kind: str
    anchors: tuple[str, ...]
    before: int = 0
    after: int = 200


DETECTORS: Final = (
    Detector("artifactory", "ArtifactoryDetector", "Artifactory token", ("akc",), 1),
    Detector("aws", "AWSKeyDetector", "AWS key", ("aws", "a3t", "abia", "acca"), 1, 160),
    Detector("cloudant", "CloudantDetector", "Cloudant credentials", ("cloudant",), 100),
    Detector(
        "discord", "DiscordBotTokenDetector", "Discord bot token", ("discord", "bot "), 80, 160
    ),
    Detector("ibm_cloud_iam", "IbmCloudIamDetector", "IBM Cloud key", ("ibm",), 1, 160),
    Detector("ibm_cos_hmac", "IbmCosHmacDetector", "IBM COS secret", ("secret",), 20, 160),
    Detector("mailchimp", "MailchimpDetector", "Mailchimp key", ("-us",), 33, 6),
    Detector("npm", "NpmDetector", "npm token", ("_authtoken", "npm_token"), 0, 100),
    Detector("slack", "SlackDetector", "Slack webhook", ("https://hooks.slack.com/",), 0, 120),
    Detector("softlayer", "SoftlayerDetector", "SoftLayer key", ("softlayer",), 20, 160),
    Detector("square_oauth", "SquareOAuthDetector", "Square secret", ("sq0csp-",), 0, 60),
    Detector("twilio", "TwilioKeyDetector", "Twilio key", ("twilio",), 120, 160),
)

_WEB_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_+/-])eyJ[A-Za-z0-9_=-]{8,16000}\.[A-Za-z0-9_=-]{8,16000}"
    r"(?:\.[A-Za-z0-9_.+/=-]{0,16000})?"
)


def known_in(text: str, plain: str, lower: str) -> Iterator[Span]:
    """What the library finds; ``plain`` and ``lower`` have ASCII for each character."""
    for detector in DETECTORS:
        for start, end in _windows(detector, lower):
            yield from _asked(detector, text, start, end)
    yield from _web_tokens(text, plain)


def _windows(detector: Detector, lower: str) -> Iterator[tuple[int, int]]:
    """The surroundings of the anchors; those that overlap are one, so that none is read twice."""
    places = sorted(at for anchor in detector.anchors for at in _places(lower, anchor))
    start = end = -1
    for at in places:
        if start >= 0 and at - detector.before <= end:
            end = at + detector.after
            continue
        if start >= 0:
            yield start, end
        start, end = max(at - detector.before, 0), at + detector.after
    if start >= 0:
        yield start, end


def _places(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def _asked(detector: Detector, text: str, start: int, end: int) -> Iterator[Span]:
    window = text[start:end]
    after = 0
    for value in _plugin(detector.module, detector.name).analyze_string(window):
        at = window.find(value, after) if isinstance(value, str) and len(value) >= 8 else -1
        if at < 0:
            continue
        after = at + len(value)
        if stands_alone(text, start + at, start + after):
            yield Span(start + at, start + after, detector.kind)


def _web_tokens(text: str, plain: str) -> Iterator[Span]:
    """JSON Web Tokens: the library says whether what looks like one is one. Its own pattern looks at
    every beginning in a long run of letters, so that only whole runs are given to it."""
    at = plain.find("eyJ")
    while at >= 0:
        found = _WEB_TOKEN.match(text, at)
        end = found.end() if found else at + 3
        if found and any(_plugin("jwt", "JwtTokenDetector").analyze_string(found[0])):
            yield Span(at, end, "JSON Web Token")
        at = plain.find("eyJ", end)


@cache
def _plugin(module: str, name: str) -> Any:
    """Loaded with the first text that may hold such a secret: the library takes half a second."""
    return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
