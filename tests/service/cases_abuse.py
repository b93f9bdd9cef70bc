"""What must not do harm: wrong, slow, hostile and too many requests."""
import os
import random
import socket
import subprocess
import threading
import time

from cases_requests import LOGISTIC, as_points, rows
from client import Service

MALFORMED = int(os.environ.get("SERVICE_MALFORMED", "300"))
SLOW = int(os.environ.get("SERVICE_SLOW", "60"))
HEAD = "Host: 127.0.0.1\r\nContent-Type: application/json\r\n"


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else None


def case_lengths_that_are_told_twice(keepfit, folder):
    body = '{"features":[1],"target":1}'
    with Service(keepfit, folder, *LOGISTIC) as service:
        for more in ("Content-Length: 27\r\nContent-Length: 27\r\n", "Content-Length: 27\r\nContent-Length: 5\r\n",
                     "Content-Length: 27\r\nTransfer-Encoding: chunked\r\n",
                     "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Content-Length: -1\r\n",
                     "Content-Length: 27x\r\n", "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: gzip\r\n"):
            answer = service.raw("POST /v1/points HTTP/1.1\r\n%s%s\r\n%s" % (HEAD, more, body))
            assert status_of(answer) is None or 400 <= status_of(answer) <= 501, (more, answer)
        assert service.ask("GET", "/v1/report")[2]["stage"] == 0
        pieces = "1b\r\n%s\r\n0\r\n\r\n" % body
        answer = service.raw("POST /v1/points HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n%s" % (HEAD, pieces))
        assert status_of(answer) == 200, answer


def case_limits(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC, "--max-body", "2000", "--max-points", "20") as service:
        status, _, answer = service.push(b" " * 2001)
        assert status == 413 and answer["error"]["code"] == "too_large"
        chunked = "".join("%x\r\n%s\r\n" % (500, " " * 500) for _ in range(5)) + "0\r\n\r\n"
        answer = service.raw("POST /v1/points HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n%s" % (HEAD, chunked))
        assert status_of(answer) == 413, answer
        assert service.push([{"features": [1], "target": 1}] * 21)[0] in (400, 413)
        assert service.push("1 1:1\n" * 21, "application/x-libsvm")[0] == 413
        answer = service.raw("GET /livez HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n" % ("x" * 60000))
        assert status_of(answer) in (413, 431), answer
        answer = service.raw("GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % ("x" * 60000))
        assert status_of(answer) in (414, 431, 413), answer
        assert service.push({"features": [1], "target": 1}, Content_Encoding="gzip")[0] == 415
        assert service.ask("GET", "/v1/report")[2]["stage"] == 0


def case_pages_from_elsewhere(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC) as service:
        for host, origin, expected in ((None, None, 200), ("localhost:%d" % service.port, None, 200), ("evil.example", None, 403),
                                       ("127.0.0.1.evil.example", None, 403), ("localhost.evil.example:80", None, 403),
                                       ("[::1]:80", None, 200),
                                       ("localhost:80", "http://localhost:80", 200), ("localhost:80", "http://evil.example", 403),
                                       ("localhost:80", "null", 403), ("localhost:80", "http://localhost:81", 403)):
            headers = {name: value for name, value in (("Host", host), ("Origin", origin)) if value}
            assert service.ask("GET", "/livez", **headers)[0] == expected, (host, origin)
        assert status_of(service.raw("GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")) == 400
        headers = service.ask("GET", "/")[1]
        assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff"


def case_tokens_are_for_what_they_say(keepfit, folder):
    tokens = os.path.join(folder, "tokens")
    with open(tokens, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("# who may what\nreader-0123456789ab read\nwriter-0123456789ab write\nforgets-0123456789a forget\n"
                   "admin-0123456789abc admin\n")
    with Service(keepfit, folder, *LOGISTIC, "--tokens", tokens) as service:
        point = {"features": [1, 2], "target": 1}
        wanted = {
            ("POST", "/v1/points"): ("writer-0123456789ab", point), ("POST", "/v1/predict"): ("reader-0123456789ab", {"features": [1, 2]}),
            ("DELETE", "/v1/points/1"): ("forgets-0123456789a", None), ("GET", "/v1/report"): ("reader-0123456789ab", None),
            ("GET", "/v1/model"): ("reader-0123456789ab", None), ("GET", "/metrics"): ("reader-0123456789ab", None),
        }
        service.push([point, dict(point, target=0)], Authorization="Bearer admin-0123456789abc")
        for (method, path), (right, body) in wanted.items():
            for token in (None, "nobody-0123456789ab", right[:-1], right + "x", "reader-0123456789ab", "writer-0123456789ab",
                          "forgets-0123456789a"):
                if token == right:
                    continue
                headers = {"Authorization": "Bearer " + token} if token else {}
                expected = 403 if token in ("reader-0123456789ab", "writer-0123456789ab", "forgets-0123456789a") else 401
                assert service.ask(method, path, body, **headers)[0] == expected, (method, path, token)
            assert service.ask(method, path, body, Authorization="Bearer " + right)[0] == 200, (method, path)
        for path in ("/livez", "/readyz", "/", "/v1/openapi.json"):
            assert service.ask("GET", path)[0] == 200, path


def case_no_token_no_open_address(keepfit, folder):
    def refused(*words):
        done = subprocess.run([keepfit, "serve", "--journal", os.path.join(folder, "j"), *words], capture_output=True, text=True,
                              timeout=30)
        assert done.returncode == 2, (words, done)
        return done.stderr
    assert "--tokens" in refused("--listen", "0.0.0.0:0")
    assert "--unix" in refused()
    assert "--listen" in refused()
    assert "reads all points" in refused("--listen", "127.0.0.1:0", "--scale", "columns")
    assert "unit norm" in refused("--listen", "127.0.0.1:0", "--scale", "rows")
    path = os.path.join(folder, "open")
    with open(path, "w", encoding="utf-8") as file:
        file.write("a-token-0123456789 read\n")
    os.chmod(path, 0o644)
    assert "chmod" in refused("--listen", "127.0.0.1:0", "--tokens", path)


def load(service, seconds, failures):
    """Points and predictions, which must go well."""
    connection = service.connect()
    until = time.time() + seconds
    done = 0
    try:
        while time.time() < until:
            status, _, answer = service.push({"features": [done % 3, 1], "target": done % 2}, connection=connection)
            if status != 200:
                failures.append(answer)
            status, _, answer = service.predict({"features": [1, 1]}, connection=connection)
            if status != 200:
                failures.append(answer)
            done += 1
    except Exception as reason:  # whatever it is, the load has failed
        failures.append(repr(reason))
    connection.close()


def memory_of(process):
    with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
        return int([line.split()[1] for line in file if line.startswith("VmRSS")][0])


def case_wrong_requests_beside_right_ones(keepfit, folder):
    source = random.Random(11)
    good = "POST /v1/points HTTP/1.1\r\n%sContent-Length: 29\r\n\r\n" % HEAD + '{"features":[1,2],"target":1}'
    with Service(keepfit, folder, *LOGISTIC) as service:
        service.push([{"features": [1, 1], "target": 1}, {"features": [0, 1], "target": 0}])
        failures = []
        worker = threading.Thread(target=load, args=(service, 2 + MALFORMED / 100, failures))
        worker.start()
        begin = None
        for k in range(MALFORMED):
            text = bytearray(good.encode())
            for _ in range(source.choice([1, 1, 3, 20])):
                at = source.randrange(len(text))
                how = source.randrange(3)
                if how == 0:
                    text[at] = source.randrange(256)
                elif how == 1:
                    del text[at:at + source.randrange(1, 30)]
                else:
                    text[at:at] = bytes(source.randrange(256) for _ in range(source.randrange(1, 30)))
                text = text or bytearray(b"x")
            with socket.create_connection(("127.0.0.1", service.port), timeout=0.5) as wire:
                try:
                    wire.sendall(bytes(text))
                    wire.shutdown(socket.SHUT_WR)
                    while wire.recv(4096):
                        pass
                except (ConnectionResetError, BrokenPipeError, TimeoutError):
                    pass
            if k == MALFORMED // 3:
                begin = memory_of(service.process)
        end = memory_of(service.process)
        worker.join(60)
        assert not failures, failures[:3]
        assert end < 1.1 * begin + 4096, "memory grew from %d kB to %d kB" % (begin, end)
        assert service.process.poll() is None and service.stop() == 0


def case_slow_connections_are_closed(keepfit, folder):
    """They cost nobody anything, and end: without a header, with half of one, with a body that drips."""
    with Service(keepfit, folder, *LOGISTIC, "--header-seconds", "1", "--body-rate", "1000000") as service:
        service.push([{"features": [1, 1], "target": 1}, {"features": [0, 1], "target": 0}])
        failures, wires = [], []
        worker = threading.Thread(target=load, args=(service, 4, failures))
        worker.start()
        begins = [b"", b"POST /v1/points HTTP/1.1\r\nHost: 127", ("POST /v1/points HTTP/1.1\r\n%sContent-Length: 1000000\r\n\r\n[" %
                                                                 HEAD).encode()]
        for k in range(SLOW):
            wire = socket.create_connection(("127.0.0.1", service.port), timeout=10)
            wire.sendall(begins[k % 3])
            wires.append(wire)
        until = time.time() + 20
        closed = 0
        for k, wire in enumerate(wires):
            while time.time() < until:
                try:
                    wire.settimeout(0.2)
                    if not wire.recv(4096):
                        closed += 1
                        break
                except TimeoutError:
                    try:
                        wire.sendall(b" " if k % 3 == 2 else b"1" if k % 3 == 1 else b"")
                    except OSError:
                        pass
                except OSError:
                    closed += 1
                    break
            wire.close()
        worker.join(60)
        assert closed == SLOW, "%d of %d slow connections were closed" % (closed, SLOW)
        assert not failures, failures[:3]


def case_too_many_are_told_to_come_back(keepfit, folder):
    """A queue of one: what does not fit is refused at once with 429, and nothing of it is learnt."""
    body = as_points(rows(3000))
    with Service(keepfit, folder, "--max-queue", "1", "--method", "exact") as service:
        told = []

        def send():
            told.append(service.push(body))

        threads = [threading.Thread(target=send) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        taken = [answer for status, _, answer in told if status == 200]
        busy = [(headers, answer) for status, headers, answer in told if status == 429]
        assert len(taken) + len(busy) == 16 and busy, [status for status, _, _ in told]
        assert all(int(headers["Retry-After"]) >= 1 and answer["error"]["code"] == "busy" for headers, answer in busy)
        assert service.ask("GET", "/v1/report")[2]["stage"] == 3000 * len(taken)


def case_predictions_do_not_wait_for_the_learner(keepfit, folder):
    """While one request is being learnt, predictions come from the model before it."""
    with Service(keepfit, folder, "--method", "exact") as service:
        service.push(as_points(rows(10)))
        worker = threading.Thread(target=service.push, args=(as_points(rows(20000)),))
        worker.start()
        stages = set()
        while worker.is_alive():
            stages.add(service.predict({"features": [1, 2, 3]})[2]["stage"])
        worker.join()
        assert 10 in stages and stages <= {10, 20010}, stages
        assert service.predict({"features": [1, 2, 3]})[2]["stage"] == 20010


def case_a_disk_that_is_full(keepfit, folder):
    """What was not made durable is not acknowledged; predictions go on, and it says that it is not ready."""
    limit = "ulimit -f 64; exec \"$0\" \"$@\""
    shell = os.path.join(folder, "limited")
    with open(shell, "w", encoding="utf-8") as file:
        file.write("#!/bin/bash\ntrap '' XFSZ\n%s\n" % limit.replace('"$0"', keepfit))
    os.chmod(shell, 0o755)
    with Service(shell, folder, *LOGISTIC) as service:
        status = answer = None
        for k in range(40):
            status, _, answer = service.push(as_points(rows(200, k)))
            if status != 200:
                break
        assert status == 500 and answer["error"]["code"] == "disk", (status, answer)
        assert service.ask("GET", "/readyz")[0] == 503
        assert service.predict({"features": [1, 2, 3]})[0] == 200
        assert service.push(as_points(rows(2)))[0] in (500, 503)
        assert service.stop() == 1
