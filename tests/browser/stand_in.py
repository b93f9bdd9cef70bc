"""A service that only looks like one: it sends the live page what service/page/events.md says, made up, and breaks off when it is told."""
import http.server
import json
import math
import socketserver
import threading
import time

TOKEN = "a token for reading"


class State:
    """What the pretended service knows; the test changes it."""

    def __init__(self, page, policy):
        self.page, self.policy = page, policy
        self.stage, self.began = 1000, time.time()
        self.down = self.locked = False
        self.alarms, self.asked, self.streams = 0, [], 0
        self.seen = []  # Last-Event-ID of every stream

    def report(self):
        n, now = self.stage, time.time()
        wave = math.sin(n / 40)
        return {
            "model": "default", "stage": n, "points": n, "time": now, "bound": 6e-4 + 3e-4 * wave, "epsilon": 1e-3, "proved": n, "missed": 0,
            "unproved": 0, "objective": None, "loss": 0.41 + 20 / n, "error": 0.17, "windowed_loss": 0.4 + 0.05 * wave,
            "windowed_error": 0.16 + 0.02 * wave, "window": 1000, "auc": 0.91, "auc_off": 0.002, "gradients_per_point": 1.2 + wave ** 2,
            "microseconds_per_point": 3.5 + wave, "points_per_second": 8000 + 900 * wave, "predictions_per_second": 21000.4, "queue": 3,
            "queue_limit": 256, "errors_stage": n - 100, "ready": True,
            "calibration": [{"count": 100 * k, "predicted": k / 10 + 0.05, "happened": k / 10 + 0.04} for k in range(10)],
            "weights": [{"name": "feature <b>%d</b> & a long_name_of_a_column_%d" % (k, k), "class": None, "value": 2.5 / (k + 1) * (-1) ** k,
                         "error": 0.1, "robust": 0.12} for k in range(20)],
            "drift": {"level": 0.3 + 0.2 * wave, "alarms": self.alarms, "last": n if self.alarms else None,
                      "direction": "worse" if self.alarms else None, "before": 0.4, "after": 0.6, "blocks": 120},
            "bad_requests": [{"time": now - 60, "request": "POST /v1/points", "status": 400, "code": "bad_point",
                              "message": "point 3: feature 'amount': 'e000000' <script>alert(1)</script> is not a number"}],
        }

    def whole(self):
        report = self.report()
        old = [dict(report, time=report["time"] - 600 + k, stage=k, drift=0.2) for k in range(300)]
        return dict(report, version="1.0.0", models=["default", "other"], progressive_loss=report["loss"], loss="logistic", method="quadratic", **{
            "lambda": 1e-3, "features": 20, "classes": ["ok", "fraud"], "started": self.began, "history": old,
            "example": {"amount": 900.5, "country": "DE", "is new": True}})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None

    def log_message(self, *words):
        pass

    def send(self, status, kind, data, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def send_json(self, status, content):
        self.send(status, "application/json", json.dumps(content).encode())

    def may(self):
        state = self.state
        state.asked.append(self.path)
        if state.down:
            self.close_connection = True
            return False
        if self.path != "/" and state.locked and self.headers.get("Authorization") != "Bearer " + TOKEN:
            self.send_json(401, {"error": {"code": "token", "message": "a token is wanted", "at": ""}})
            return False
        return True

    def do_GET(self):
        state, path = self.state, self.path.split("?")[0]
        if not self.may():
            return
        if path == "/":
            self.send(200, "text/html; charset=utf-8", state.page, Content_Security_Policy=state.policy, Cache_Control="no-cache")
        elif path == "/v1/report":
            self.send_json(200, state.whole())
        elif path == "/v1/events":
            self.events()
        else:
            self.send_json(404, {"error": {"code": "no_such_thing", "message": "nothing is there", "at": path}})

    def events(self):
        state = self.state
        state.seen.append(self.headers.get("Last-Event-ID"))
        state.streams += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.close_connection = True
        try:
            while not state.down:
                state.stage += 10
                self.wfile.write(("id: %d\nevent: stage\ndata: %s\n\n" % (state.stage, json.dumps(state.report()))).encode())
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not self.may():
            return
        features = json.loads(body)["features"]
        if features.get("amount") == "much":
            self.send_json(400, {"error": {"code": "bad_point", "message": "amount: 'much' is not a number", "at": "amount"}})
            return
        parts = [{"name": name, "value": value if isinstance(value, float) else 1, "weight": 0.002, "contribution": 1.8 / (k + 1)}
                 for k, (name, value) in enumerate(features.items())]
        self.send_json(200, {"prediction": "fraud", "probabilities": {"fraud": 0.93, "ok": 0.07}, "stage": self.state.stage, "bound": 1e-4,
                             "explanation": {"class": "fraud", "intercept": -0.5, "contributions": parts, "rest": 0.01}})


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True


def start(page, policy):
    """On a free port of the loopback; returns the state and the address."""
    state = State(page, policy)
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"state": state}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return state, "http://127.0.0.1:%d/" % server.server_address[1]
