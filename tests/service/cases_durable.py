"""What must hold over crashes: what was acknowledged is there once, nothing twice, and the model is that of a run never broken."""
import http.client
import os
import random
import signal
import socket
import stat
import subprocess
import threading
import time

from cases_requests import LOGISTIC, as_libsvm, as_points, rows, trained
from client import Service

KILLS = int(os.environ.get("SERVICE_KILLS", "4" if os.environ.get("KEEPFIT_TEST_QUICK") else "12"))


def case_a_key_makes_repeating_harmless(keepfit, folder):
    points = as_points(rows(10))
    with Service(keepfit, folder, *LOGISTIC) as service:
        first = service.push(points[:4], Idempotency_Key="one")
        assert first[0] == 200 and (first[2]["first"], first[2]["last"]) == (1, 4)
        again = service.push(points[:4], Idempotency_Key="one")
        assert again[0] == 200 and (again[2]["first"], again[2]["last"], again[2]["stage"]) == (1, 4, 4), again
        status, _, answer = service.push(points[4:5], Idempotency_Key="one")
        assert status == 409 and answer["error"]["code"] == "key_used", answer
        service.push(points[4:6], Idempotency_Key="two")
        for end in (service.kill, service.stop):  # from the notes one by one, and gathered
            end()
            service.start()
            for key, part, numbers in (("one", points[:4], (1, 4)), ("two", points[4:6], (5, 6))):
                status, _, answer = service.push(part, Idempotency_Key=key)
                assert status == 200 and (answer["first"], answer["last"], answer["stage"]) == (*numbers, 6), answer
        assert service.push(points[:1], Idempotency_Key="k" * 129)[0] == 400
        assert service.ask("GET", "/v1/report")[2]["stage"] == 6


def case_a_service_goes_on_with_the_keys_of_a_file(keepfit, folder):
    """Those that the journal of a table has are the points' ids; the table's column need not be there."""
    with open(os.path.join(folder, "log.csv"), "w", encoding="utf-8") as file:
        file.write("id,c,x,y\no1,a,1,2\no2,b,2,3\no3,a,3,5\n")
    said = ("--lambda", "0.1", "--target", "y")
    subprocess.run([keepfit, "train", "-q", *said, "--key", "id", "--journal", os.path.join(folder, "journal"),
                    os.path.join(folder, "log.csv")], check=True)
    with Service(keepfit, folder, "--target", "y") as service:
        status, _, answer = service.push([{"features": {"c": "b", "x": 1}, "target": 7, "id": "o2"}])
        assert status == 200 and answer["stage"] == 4, answer
        assert service.ask("GET", "/v1/report")[2]["points"] == 3
    for option in ("--key", "--time"):
        done = subprocess.run([keepfit, "serve", "--listen", "127.0.0.1:0", "--journal", os.path.join(folder, "other"), option, "id"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "%s is for files" % option in done.stderr, done


def case_a_refused_request_uses_no_key(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC) as service:
        assert service.push([{"features": [1], "target": 1}, {"features": [1e200], "target": 1}], Idempotency_Key="k")[0] == 422
        assert service.push([{"features": [1], "target": 1}], Idempotency_Key="k")[0] == 200


class Client(threading.Thread):
    """Sends batches with keys, each again until it is acknowledged; remembers which numbers they got."""

    def __init__(self, service, name, data, seed):
        super().__init__()
        self.service, self.name, self.data, self.source = service, name, data, random.Random(seed)
        self.told, self.failure = [], None

    def run(self):
        at = batch = 0
        until = time.time() + 240
        while at < len(self.data):
            size = self.source.choice([1, 2, 7, 30])
            part = self.data[at:at + size]
            key = "%s-%d" % (self.name, batch)
            while True:
                try:
                    status, _, answer = self.service.push(as_points(part), Idempotency_Key=key)
                    if status == 200:
                        break
                    if status not in (429, 503):
                        self.failure = (status, answer)
                        return
                except (OSError, ValueError, EOFError) as reason:
                    self.last = reason
                except Exception as reason:  # http.client's own
                    self.last = reason
                if time.time() > until:
                    self.failure = "gave up"
                    return
                time.sleep(0.01)
            self.told.append((answer["first"], answer["last"], part))
            at += size
            batch += 1


def case_kills_lose_nothing_and_double_nothing(keepfit, folder):
    """kill -9 under load; clients retry with their keys."""
    source = random.Random(5)
    data = rows(4000 if KILLS <= 20 else 200 * KILLS, 9)
    options = [*LOGISTIC, "--segment-bytes", "40000", "--checkpoint-gradients", "3000"]
    with Service(keepfit, folder, *options) as service:
        share = len(data) // 4
        clients = [Client(service, "c%d" % k, data[k * share:(k + 1) * share], k) for k in range(4)]
        for client in clients:
            client.start()
        kills = 0
        while kills < KILLS and any(client.is_alive() for client in clients):
            time.sleep(source.uniform(0.01, 0.15))
            service.kill()
            kills += 1
            service.start(wait=False)
        for client in clients:
            client.join(300)
        for client in clients:
            assert client.failure is None and not client.is_alive(), client.failure
        service.await_line('"ready"')
        stage = service.ask("GET", "/v1/report")[2]["stage"]
        assert stage == 4 * share, "%d points were acknowledged, %d are there" % (4 * share, stage)
        there = {}
        number = 1
        while number:
            page = service.ask("GET", "/v1/points?limit=1000&from=%d" % number)[2]
            there.update({one["number"]: (one["features"], one["target"]) for one in page["points"]})
            number = page["next"]
        for client in clients:
            for first, last, part in client.told:
                assert there[first] == (part[0][0], part[0][1]), "the first point of a request is not where it was said to be"
                assert there[last] == (part[-1][0], part[-1][1]), "nor is the last"
        sent, found = (sorted((tuple(map(float, values)), target) for values, target in points)
                       for points in (data[:4 * share], there.values()))
        assert sent == found, "points are lost or doubled"
        model = service.ask("GET", "/v1/model")[2]
        assert service.stop() == 0
    text = as_libsvm([there[k] for k in sorted(there)])
    assert model == trained(keepfit, folder, "unbroken.svm", text, *LOGISTIC), "the model is not that of an unbroken run"
    print("# %d kills" % kills)


def case_many_at_once_are_each_once(keepfit, folder):
    """Without kills: the numbers that clients are told cover the stages exactly once."""
    data = rows(600, 3)
    with Service(keepfit, folder, *LOGISTIC) as service:
        clients = [Client(service, "c%d" % k, data[k * 50:(k + 1) * 50], k) for k in range(12)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(60)
        told = sorted(number for client in clients for first, last, _ in client.told for number in range(first, last + 1))
        assert told == list(range(1, 601))


def case_a_signal_ends_it_in_order(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC, "--sync", "batch:100") as service:
        service.push(as_points(rows(50)))
        assert service.stop() == 0
        assert "stopped" in service.logged()
        service.start()
        assert service.ask("GET", "/v1/report")[2]["stage"] == 50
        assert service.stop(signal.SIGINT) == 0


def case_answers_say_what_is_safe(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC, "--sync", "batch:1000") as service:
        status, _, answer = service.push(as_points(rows(10)))
        assert status == 200 and answer["safe"] is False
        until = time.time() + 20
        while service.ask("GET", "/v1/report")[2]["safe"] < 10:  # at rest it becomes so
            assert time.time() < until
            time.sleep(0.1)


def case_hangup_reads_anew(keepfit, folder):
    log, tokens = os.path.join(folder, "log"), os.path.join(folder, "tokens")
    with open(tokens, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("first-token-of-all read write\n")
    with Service(keepfit, folder, *LOGISTIC, "--tokens", tokens) as service:
        assert service.ask("GET", "/v1/report", Authorization="Bearer first-token-of-all")[0] == 200
        with open(tokens, "w", encoding="utf-8") as file:
            file.write("other-token-of-all read\n")
        service.process.send_signal(signal.SIGHUP)
        service.await_line("read anew")
        assert service.ask("GET", "/v1/report", Authorization="Bearer first-token-of-all")[0] == 401
        assert service.ask("GET", "/v1/report", Authorization="Bearer other-token-of-all")[0] == 200
        with open(tokens, "w", encoding="utf-8") as file:
            file.write("short read\n")
        service.process.send_signal(signal.SIGHUP)
        service.await_line("the old tokens stay")
        assert service.ask("GET", "/v1/report", Authorization="Bearer other-token-of-all")[0] == 200
    assert not os.path.exists(log)


class Wire(http.client.HTTPConnection):
    """HTTP over a socket that is a file."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


def case_a_socket_that_is_a_file(keepfit, folder):
    """The same service by --unix: for owner and group alone, gone after an end in order, taken over after a kill, never from another."""
    path = os.path.join(folder, "here")
    with Service(keepfit, folder, *LOGISTIC, "--unix", path) as service:
        assert "listening on unix:" + path in service.logged()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
        wire = Wire(path)
        status, _, answer = service.ask("POST", "/v1/points", as_points(rows(20)), connection=wire)
        assert status == 200 and answer["last"] == 20, answer
        assert service.ask("GET", "/v1/model", connection=wire)[2] == service.ask("GET", "/v1/model")[2]
        other = os.path.join(folder, "other")

        def refused(words, journal=other):
            done = subprocess.run([keepfit, "serve", "--journal", journal, "--unix", words], capture_output=True, text=True, timeout=30)
            assert done.returncode not in (0, None), done
            return done.stderr
        assert "another process listens there" in refused(path)
        assert service.ask("GET", "/livez", connection=Wire(path))[0] == 200, "the one that was there is there"
        with open(other + ".txt", "w", encoding="utf-8") as file:
            file.write("a file")
        assert other + ".txt" in refused(other + ".txt") and open(other + ".txt", encoding="utf-8").read() == "a file"
        assert "at most 107 bytes" in refused(os.path.join(folder, "x" * 200))
        assert refused(os.path.join(folder, "none", "here"))
        wire.close()
        service.kill()
        assert os.path.exists(path)
        service.start()
        assert service.ask("GET", "/v1/report", connection=Wire(path))[2]["stage"] == 20
        assert service.stop() == 0 and not os.path.exists(path)
    alone = subprocess.Popen([keepfit, "serve", "--journal", service.journal, *LOGISTIC, "--unix", path], stderr=subprocess.PIPE, text=True)
    try:
        while '"ready"' not in (line := alone.stderr.readline()):
            assert line, "it has ended"
        assert Service.ask(service, "GET", "/v1/report", connection=Wire(path))[2]["stage"] == 20
    finally:
        alone.terminate()
        alone.communicate(timeout=60)
    assert alone.returncode == 0 and not os.path.exists(path)
