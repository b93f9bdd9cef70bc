"""The HTML pages in a real browser, as TAP: pages.py KEEPFIT

Each report is opened in headless Chromium at the width of a desk and of a phone, in light and in dark. It must say nothing on the
console, ask for nothing but itself, not be wider than the window, follow the preference for the dark, and have its pictures.
Skipped, with a message, where Chromium is not installed. Every wait is bounded.

The browser is spoken to in its own protocol (DevTools) over two pipes: a line of JSON ends with a zero byte.
"""
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 60
WINDOWS = [(1200, "light"), (1200, "dark"), (390, "light"), (390, "dark")]
count = failures = 0


def check(good, name, details=()):
    global count, failures
    count += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)
    for line in list(details)[:10] if not good else []:
        print("# %s" % line)


class Browser:
    def __init__(self, program, folder):
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def places():  # the protocol's pipes are 3 and 4
            os.dup2(to_browser, 103)
            os.dup2(from_browser, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir=" + folder],
            preexec_fn=places, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.number, self.events = b"", 0, []

    def next_message(self, end):
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.input, 65536) if ready else b""
            if not piece:
                raise SystemExit("Bail out! the browser does not answer")
            self.pending += piece
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            answer = self.next_message(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit("Bail out! %s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def answers(self):
        try:
            return "product" in self.call("Browser.getVersion")
        except (OSError, SystemExit):
            return False

    def wait_for(self, method):
        end = time.monotonic() + SECONDS
        while not any(event["method"] == method for event in self.events):
            self.events.append(self.next_message(end))

    def close(self):
        try:  # asked to, it ends its own helper processes; killed, they would go on writing into the profile for a while
            os.write(self.output, json.dumps({"id": self.number + 1, "method": "Browser.close"}).encode() + b"\0")
            self.process.wait(SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        os.close(self.output)


def evaluate(browser, session, expression):
    return browser.call("Runtime.evaluate", session, expression=expression, returnByValue=True)["result"].get("value")


def look(browser, path, width, scheme):
    """Opens the page in a new tab and checks it."""
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable", session)
    browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.events = []
    address = pathlib.Path(path).as_uri()
    browser.call("Page.navigate", session, url=address)
    browser.wait_for("Page.loadEventFired")
    name = "%s, %d wide, %s" % (os.path.basename(os.path.dirname(path)), width, scheme)
    spoken = [event["params"] for event in browser.events
              if event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    check(not spoken, name + ": nothing on the console", spoken)
    asked = [event["params"]["request"]["url"] for event in browser.events if event["method"] == "Network.requestWillBeSent"]
    others = [url for url in asked if url != address and not url.startswith("data:")]
    check(address in asked and not others, name + ": asks for nothing but itself", others)
    wide = evaluate(browser, session, "document.documentElement.scrollWidth")
    check(wide is not None and wide <= width, name + ": not wider than the window", ["%s wide" % wide])
    colour = evaluate(browser, session, "getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3]) > 380
    check(light == (scheme == "light"), name + ": follows the preference", [colour])
    broken = evaluate(browser, session, "[...document.querySelectorAll('svg.plot')].filter(p => p.getBoundingClientRect().width "
                                        "< 200 || p.querySelectorAll('path.line').length < 2).length")
    pictures = evaluate(browser, session, "document.querySelectorAll('svg.plot').length")
    check(pictures > 0 and broken == 0, name + ": its %s pictures are drawn" % pictures, ["%s are not" % broken])
    browser.call("Target.closeTarget", targetId=target)


def make_reports(keepfit, folder):
    def run(*words):
        return subprocess.run([keepfit, *words], cwd=folder, check=True, capture_output=True, timeout=SECONDS * 5).stdout

    with open(os.path.join(folder, "stream.svm"), "wb") as file:
        file.write(run("generate", "--rows", "200", "--features", "5"))
    run("compare", "--methods", "auto,sgd,svrg", "--runs", "2", "--quiet", "--out", "compare", "stream.svm")
    for experiment in ("ridge", "lower-bound", "theorems"):
        run("reproduce", experiment, "--quick", "--quiet", "--out", experiment)
    return [os.path.join(folder, name, "report.html") for name in ("compare", "ridge", "lower-bound", "theorems")]


def main():
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("1..0 # SKIP Chromium is not installed: the pages were not looked at")
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        paths = make_reports(os.path.abspath(sys.argv[1]), folder)
        browser = Browser(program, os.path.join(folder, "profile"))
        try:
            if not browser.answers():
                print("1..0 # SKIP Chromium does not start on this machine: the pages were not looked at")
                return 0
            for path in paths:
                for width, scheme in WINDOWS:
                    look(browser, path, width, scheme)
        finally:
            browser.close()
    print("1..%d" % count)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
