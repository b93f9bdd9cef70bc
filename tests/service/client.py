"""A running service and requests to it, with Python's standard library alone."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time


class Service:
    """keepfit serve on a port of its own on this machine; ended by its process number."""

    def __init__(self, keepfit, folder, *options, **more):
        self.keepfit, self.folder, self.options = keepfit, folder, list(options)
        self.journal = os.path.join(folder, "journal")
        self.port = 0
        self.env = more.get("env")
        self.process = None
        self.start()

    def start(self, wait=True):
        log = tempfile.NamedTemporaryFile("w+", dir=self.folder, prefix="log-", delete=False)
        words = [self.keepfit, "serve", "--listen", "127.0.0.1:%d" % self.port, "--journal", self.journal, *self.options]
        self.process = subprocess.Popen(words, stderr=log, stdout=subprocess.PIPE, env=self.env)
        self.log = log.name
        log.close()
        self.await_line("listening on http")
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", self.logged()).group(1))
        if wait:
            self.await_line('"ready"')
        return self

    def logged(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def await_line(self, words, seconds=30):
        until = time.time() + seconds
        while words not in self.logged():
            if self.process.poll() is not None or time.time() > until:
                raise AssertionError("no '%s' (exit %s): %s" % (words, self.process.poll(), self.logged()))
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=60)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.kill()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, body=None, type="application/json", connection=None, raw=False, **headers):
        """Status, headers and body; JSON comes as what it stands for, or as its bytes (`raw`)."""
        own = connection or self.connect()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent["Content-Type"] = type
        own.request(method, path, body, sent)
        answer = own.getresponse()
        data = answer.read()
        if not connection:
            own.close()
        if not raw and (answer.getheader("Content-Type") or "").startswith("application/json"):
            data = json.loads(data)
        return answer.status, dict(answer.getheaders()), data

    def push(self, body, type="application/json", **headers):
        return self.ask("POST", "/v1/points", body, type, **headers)

    def predict(self, body, type="application/json", **headers):
        return self.ask("POST", "/v1/predict", body, type, **headers)

    def raw(self, text, seconds=10):
        """What comes back for these bytes, until the other side closes or nothing comes any more."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as wire:
            wire.sendall(text if isinstance(text, bytes) else text.encode())
            got = b""
            try:
                while True:
                    piece = wire.recv(65536)
                    if not piece:
                        return got
                    got += piece
                    head, _, body = got.partition(b"\r\n\r\n")
                    length = re.search(rb"(?i)content-length: (\d+)", head)
                    if length and len(body) >= int(length.group(1)):
                        return got
            except (TimeoutError, ConnectionResetError):
                return got
