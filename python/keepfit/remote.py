"""A client of keepfit serve, with Python's standard library alone.

    from keepfit.remote import Remote

    remote = Remote("http://127.0.0.1:8377")
    remote.push([[1.0, 2.0], [0.5, -1.0]], [1, 0])
    remote.predict([{"amount": 12.5, "shop": "north"}])

What does not get through is sent again, points with the same key, so that nothing is learnt twice.
"""
import http.client
import json
import os
import time
import urllib.parse

__all__ = ["Remote", "RemoteError"]


class RemoteError(Exception):
    """What a service has refused, or that it could not be reached (status None)."""

    def __init__(self, status, code, message, at=""):
        super().__init__("%s%s" % (message, ", at " + at if at else ""))
        self.status, self.code, self.at = status, code, at


def _plain(value):
    """Numbers of NumPy and the like as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


class Remote:
    """A service at a URL. One thread at a time; the connection is kept open."""

    def __init__(self, url, token=None, retries=8, timeout=60):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("%r is no URL of a service" % url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._path, self._token, self._retries = parts.path.rstrip("/"), token, retries

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def _once(self, method, path, body, headers):
        try:
            self._connection.request(method, self._path + path, body, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise

    def ask(self, method, path, body=None, key=None):
        """The answer to one request: what its JSON stands for, or bytes."""
        headers = {"Authorization": "Bearer " + self._token} if self._token else {}
        if key:
            headers["Idempotency-Key"] = key
        if body is not None:
            body = json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        wait, reason = 0.1, None
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(wait)
                wait = min(2 * wait, 30)
            try:
                status, told, data = self._once(method, path, body, headers)
            except (OSError, http.client.HTTPException) as why:
                reason = RemoteError(None, "unreachable", str(why) or type(why).__name__)
                continue
            if told.get("Content-Type", "").startswith("application/json"):
                data = json.loads(data)
            if status == 200:
                return data
            error = data.get("error", {}) if isinstance(data, dict) else {}
            reason = RemoteError(status, error.get("code", ""), error.get("message", "status %d" % status), error.get("at", ""))
            if status not in (429, 503):
                break
            wait = max(wait, float(told.get("Retry-After") or 0))
        raise reason

    def push(self, rows, targets, weights=None, ids=None):
        """Learns from rows (lists of numbers, or dicts with names); the numbers of the points, the stage and its bound."""
        points = [{"features": _plain(row), "target": _plain(target)} for row, target in zip(rows, targets, strict=True)]
        for name, values in (("weight", weights), ("id", ids)):
            for point, value in zip(points, values if values is not None else (), strict=values is not None):
                point[name] = _plain(value)
        return self.ask("POST", "/v1/points", points, "%s-%d" % (os.urandom(12).hex(), os.getpid()))

    def predict(self, rows, ids=None, scores=False, explain=0):
        """A dict for each row: prediction, probabilities, stage, bound. Rows with ids wait for their labels."""
        asked = [{"features": _plain(row)} for row in rows]
        for one, name in zip(asked, ids if ids is not None else (), strict=ids is not None):
            one["id"] = name
        return self.ask("POST", "/v1/predict?scores=%d&explain=%d" % (scores, explain), asked)

    def label(self, labels):
        """The targets of rows that were predicted with ids: a dict of id and target."""
        return self.ask("POST", "/v1/labels", [{"id": name, "target": _plain(target)} for name, target in labels.items()])

    def forget(self, point):
        """Takes a point out: its number, or its id."""
        by = "key" if isinstance(point, str) else "number"
        return self.ask("DELETE", "/v1/points/%s?by=%s" % (urllib.parse.quote(str(point), safe=""), by))

    def report(self):
        return self.ask("GET", "/v1/report")

    def model(self):
        """The model's file, as bytes."""
        return self.ask("GET", "/v1/model")
