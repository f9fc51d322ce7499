"""Sending one prepared request: bounded in size and time, redirects followed without giving credentials away.

The only module that opens a connection to a target.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies

from contracts.session.exchange import Answer

#: A longer body is cut: no answer that the interface describes comes near it, but for attachments we uploaded.
LARGEST_BODY = 64 * 1024 * 1024
_CHUNK = 64 * 1024
_MOST_REDIRECTS = 5
_CREDENTIALS = ("Authorization", "Realm", "Cookie")


class TransportFault(Exception):
    """No answer: the connection, the wire or the clock failed; the text says how in a few words.

    Args:
        sent: Whether the service may have received the request.
    """

    def __init__(self, text: str, *, sent: bool) -> None:
        super().__init__(text)
        self.sent = sent


class Transport:
    """A pooled connection to one target.

    Args:
        base_url: The target's base URL; decides which proxy of the usual variables is used.
        timeout: Seconds for connecting, between two bytes, and for a whole answer.
        ca_bundle: File with the certificates of a private authority, or None for the system's.
    """

    def __init__(self, base_url: str, timeout: float, ca_bundle: str | None = None) -> None:
        self._timeout = timeout
        self.http = requests.Session()
        # Netrc entries would replace the Authorization header of a case, and cookies would couple cases.
        self.http.trust_env = False
        self.http.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.http.headers.clear()
        self.http.headers["User-Agent"] = "registry-contracts"
        self.http.headers["Accept-Encoding"] = "gzip, deflate"
        self.http.proxies = dict(get_environ_proxies(base_url))
        self.http.verify = ca_bundle or True
        adapter = HTTPAdapter(pool_connections=4, pool_maxsize=32, max_retries=0)
        self.http.mount("http://", adapter)
        self.http.mount("https://", adapter)

    def send(self, request: requests.PreparedRequest) -> Answer:
        """Send a request and read its whole answer.

        Raises:
            TransportFault: no answer, or none within the time limit.
        """
        deadline = time.monotonic() + self._timeout
        hops = 0
        while True:
            answer = self._once(request, deadline, hops)
            onward = self._redirect(request, answer)
            if onward is None or hops == _MOST_REDIRECTS:
                return answer
            request, hops = onward, hops + 1

    def _once(self, request: requests.PreparedRequest, deadline: float, hops: int) -> Answer:
        try:
            response = self.http.send(
                request,
                stream=True,
                timeout=self._timeout,
                allow_redirects=False,
                verify=self.http.verify,
                proxies=self.http.proxies,
            )
            with response:
                content = self._read(response, deadline)
        except requests.exceptions.ConnectTimeout as error:
            raise TransportFault("no connection within the time limit", sent=False) from error
        except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise TransportFault("no answer within the time limit", sent=True) from error
        except requests.exceptions.SSLError as error:
            raise TransportFault("the TLS certificate or handshake was not accepted", sent=False) from error
        except requests.exceptions.ConnectionError as error:
            refused = "refused" in str(error) or "resolve" in str(error)
            raise TransportFault(_connection_words(error), sent=not refused) from error
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            raise TransportFault(f"the answer broke off ({type(error).__name__})", sent=True) from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, response.reason or "", headers, content, request.url or "", hops)

    def _read(self, response: requests.Response, deadline: float) -> bytes:
        """Read a body up to the size cap and the deadline, whatever length it claims."""
        chunks, size = [], 0
        for chunk in response.iter_content(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            if size > LARGEST_BODY:
                raise TransportFault(f"the answer is longer than {LARGEST_BODY} bytes", sent=True)
            if time.monotonic() > deadline:
                raise TransportFault("the answer did not end within the time limit", sent=True)
        return b"".join(chunks)

    def _redirect(self, request: requests.PreparedRequest, answer: Answer) -> requests.PreparedRequest | None:
        """The request that follows a redirect of a read; another host gets it without credentials."""
        location = answer.headers.get("location")
        if (
            request.method not in ("GET", "HEAD")
            or not location
            or answer.status not in (301, 302, 303, 307, 308)
        ):
            return None
        onward = request.copy()
        onward.url = urljoin(request.url or "", location)
        if _origin(onward.url) != _origin(request.url or ""):
            for name in _CREDENTIALS:
                onward.headers.pop(name, None)
        return onward


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _connection_words(error: Exception) -> str:
    text = str(error)
    words: Mapping[str, str] = {
        "refused": "the connection was refused",
        "resolve": "the host name does not resolve",
        "reset": "the connection was reset",
        "RemoteDisconnected": "the connection was closed without an answer",
        "Broken pipe": "the connection was closed while the request was sent",
    }
    return next((said for word, said in words.items() if word in text), "the connection failed")
