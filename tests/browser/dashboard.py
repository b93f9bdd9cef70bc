"""The service's live page in a real browser, as TAP: dashboard.py PAGE.html POLICY.txt KEEPFIT [FOLDER]

The page is served by a stand-in, with the policy that the build made. At the widths of a desk and of a phone, in light and in dark, it has to
come alive, say nothing on the console, ask nobody else, fit the window, and please axe-core; it has to come back when the connection does, to
say when there is an alarm, and to predict. Then the service itself serves it, and it has to be as good. With FOLDER, pictures of it are
left there.

axe-core comes from npm (it is large, and only tests want it): from KEEPFIT_AXE, or where scripts/axe has put it. Where it is not there, that
part skips, and says so.
"""
import base64
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import pages  # noqa: E402
import stand_in  # noqa: E402
from pages import Browser, check, evaluate  # noqa: E402

SECONDS = 20


def find_axe():
    """The text of axe-core, or None. scripts/axe has fetched it."""
    tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    given = os.environ.get("KEEPFIT_AXE") or os.path.join(tree, "build-axe", "axe.min.js")
    return pathlib.Path(given).read_text(encoding="utf-8") if os.path.exists(given) else None


def wait(browser, session, expression, seconds=SECONDS):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if evaluate(browser, session, expression):
            return True
        time.sleep(0.05)
    return False


def open_page(browser, address, width, scheme):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable", session)
    browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.events = []
    browser.call("Page.navigate", session, url=address)
    return target, session


def picture(browser, session, folder, name):
    if not folder:
        return
    height = evaluate(browser, session, "document.documentElement.scrollHeight")
    size = evaluate(browser, session, "innerWidth")
    shot = browser.call("Page.captureScreenshot", session, captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": size, "height": min(height, 6000), "scale": 1})
    pathlib.Path(folder, name + ".png").write_bytes(base64.b64decode(shot["data"]))


def spoken(browser):
    """What was said on the console; of a broken connection the browser itself speaks."""
    said = [event["params"] for event in browser.events
            if event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    return [one for one in said if one.get("entry", {}).get("source") != "network"]


def outside(browser, address):
    asked = [event["params"]["request"]["url"] for event in browser.events if event["method"] == "Network.requestWillBeSent"]
    return [url for url in asked if not url.startswith((address, "data:"))]


def test_axe(browser, session, axe, name):
    if axe is None:
        pages.count += 1
        print("ok %d - %s: axe-core # SKIP it is not there (scripts/axe fetches it)" % (pages.count, name))
        return
    world = browser.call("Page.createIsolatedWorld", session, frameId=browser.call("Page.getFrameTree", session)["frameTree"]["frame"]["id"],
                         worldName="axe")["executionContextId"]
    browser.call("Runtime.evaluate", session, expression=axe + ";0", contextId=world)
    found = browser.call("Runtime.evaluate", session, contextId=world, awaitPromise=True, returnByValue=True, expression=
                         "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + "
                         "v.nodes.map(n => n.html.slice(0, 120) + ' ' + n.failureSummary).slice(0, 3).join(' | ')))")["result"].get("value")
    check(found == [], name + ": axe-core finds no violation", found if found else ["axe-core did not answer"])


def test_look(browser, state, address, width, scheme, axe, folder):
    name = "%d wide, %s" % (width, scheme)
    target, session = open_page(browser, address, width, scheme)
    alive = wait(browser, session, "document.documentElement.dataset.live === 'yes' && document.body.dataset.state === 'live'")
    after = evaluate(browser, session, "performance.now()")
    check(alive, name + ": comes alive")
    print("# looked at %.2f s after it was asked for" % (after / 1000))
    first = evaluate(browser, session, "document.getElementById('v-stage').textContent")
    check(wait(browser, session, "document.getElementById('v-stage').textContent !== '%s'" % first), name + ": follows the stages")
    check(evaluate(browser, session, "document.documentElement.scrollWidth") <= width, name + ": not wider than the window")
    drawn = evaluate(browser, session, "[...document.querySelectorAll('.plot canvas')].filter(c => { const d = c.getContext('2d')"
                                       ".getImageData(0, 0, c.width, c.height).data; return d.some(v => v > 0) }).length")
    check(drawn == 6, name + ": six charts are drawn", ["%s are" % drawn])
    texts = evaluate(browser, session, "document.getElementById('weights').textContent + document.getElementById('bad').textContent")
    check("<b>0</b> &" in texts and "<script>" in texts, name + ": names are texts, whatever is in them", [texts[:200]])
    colour = evaluate(browser, session, "getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3]) > 380
    check(light == (scheme == "light"), name + ": follows the preference", [colour])
    test_axe(browser, session, axe, name)
    test_predict(browser, session, name)
    test_axe(browser, session, axe, name + ", with a prediction")
    picture(browser, session, folder, "%s-%s" % ("phone" if width < 600 else "wide", scheme))
    check(not spoken(browser), name + ": nothing on the console", spoken(browser))
    check(not outside(browser, address), name + ": asks nobody else", outside(browser, address))
    browser.call("Target.closeTarget", targetId=target)


def press(browser, session, key, code, text=""):
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", session, type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                     **({"text": text} if text and kind == "keyDown" else {}))


def test_predict(browser, session, name):
    """By keyboard alone."""
    evaluate(browser, session, "document.querySelector('#fields input').focus()")
    press(browser, session, "Enter", 13, "\r")
    check(wait(browser, session, "/fraud 93.0%/.test(document.getElementById('answer').textContent)"), name + ": predicts")
    lines = evaluate(browser, session, "document.querySelectorAll('#explained tbody tr').length")
    check(lines == 5, name + ": says what each feature contributes", ["%s lines" % lines])
    evaluate(browser, session, "document.querySelector('#fields input').select()")
    browser.call("Input.insertText", session, text="much")
    press(browser, session, "Enter", 13, "\r")
    check(wait(browser, session, "/not a number/.test(document.getElementById('answer').textContent)"), name + ": says what is wrong")
    evaluate(browser, session, "document.querySelector('#fields input').select()")
    browser.call("Input.insertText", session, text="12.5")
    press(browser, session, "Enter", 13, "\r")
    wait(browser, session, "/fraud 93.0%/.test(document.getElementById('answer').textContent)")


def test_connection(browser, state, address):
    target, session = open_page(browser, address, 1200, "light")
    wait(browser, session, "document.body.dataset.state === 'live'")
    state.down = True
    check(wait(browser, session, "document.body.dataset.state === 'broken'"), "a broken connection is said")
    last, streams = state.stage, state.streams
    time.sleep(1)
    state.down = False
    check(wait(browser, session, "document.body.dataset.state === 'live'"), "it is live again when the connection is")
    check(state.streams > streams and state.seen[-1] is not None and int(state.seen[-1]) <= last, "and says which event it had last",
          state.seen)
    state.alarms = 1
    check(wait(browser, session, "!document.getElementById('alarm').hidden"), "an alarm of drift is said")
    check(not [one for one in spoken(browser)], "nothing on the console but the browser's own words", spoken(browser))
    evaluate(browser, session, "scrollTo(0, 0); document.activeElement.blur()")
    reached = set()
    for _ in range(30):
        press(browser, session, "Tab", 9)
        reached.add(evaluate(browser, session, "document.activeElement.id || document.activeElement.className || document.activeElement.tagName"))
    check({"skip", "model", "f-0", "BUTTON", "scroll"} <= reached, "all of it is reached by keyboard", [sorted(map(str, reached))])
    browser.call("Target.closeTarget", targetId=target)


def test_token(browser, state, address):
    state.locked = True
    target, session = open_page(browser, address, 1200, "light")
    check(wait(browser, session, "!document.getElementById('unlock').hidden"), "a token is asked for")
    evaluate(browser, session, "document.getElementById('token').focus()")
    browser.call("Input.insertText", session, text=stand_in.TOKEN)
    press(browser, session, "Enter", 13, "\r")
    check(wait(browser, session, "document.body.dataset.state === 'live'"), "and with it the page is live")
    state.locked = False
    browser.call("Target.closeTarget", targetId=target)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def post(address, content):
    request = urllib.request.Request(address, json.dumps(content).encode(), {"Content-Type": "application/json"})
    try:
        return urllib.request.urlopen(request, timeout=SECONDS).status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return 0


def draw_points(source, count):
    """Payments, of which some are fraud."""
    points = []
    for _ in range(count):
        features = {"amount": source.gauss(0, 1), "n_prev": source.gauss(0, 2), "country": source.choice(["DE", "FR", "PL"])}
        score = features["amount"] - 0.5 * features["n_prev"] + (features["country"] == "PL") + source.gauss(0, 1)
        points.append({"features": features, "target": "fraud" if score > 0 else "ok"})
    return points


def test_service(browser, keepfit, axe, folder):
    """The service itself, while it learns."""
    with tempfile.TemporaryDirectory() as place:
        address, source = "http://127.0.0.1:%d/" % free_port(), random.Random(1)
        service = subprocess.Popen([keepfit, "serve", "--listen", address[7:-1], "--journal", os.path.join(place, "journal"), "--loss", "logistic",
                                    "--intercept"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + SECONDS
            while post(address + "v1/points", draw_points(source, 1500)) != 200 and time.monotonic() < end and service.poll() is None:
                time.sleep(0.1)
            if service.poll() is not None:
                pages.count += 1
                print("ok %d - the service's own page # SKIP this build has no service" % pages.count)
                return
            check(post(address + "v1/points", {"features": 3}) in (400, 422), "the service refuses a bad point")
            look_at_service(browser, address, source, axe, folder)
        finally:
            service.terminate()
            service.wait(SECONDS)


def look_at_service(browser, address, source, axe, folder):
    target, session = open_page(browser, address, 1200, "light")
    check(wait(browser, session, "document.documentElement.dataset.live === 'yes' && document.body.dataset.state === 'live'"),
          "the service's page comes alive")
    print("# looked at %.2f s after it was asked for" % (evaluate(browser, session, "performance.now()") / 1000))
    for _ in range(12):
        post(address + "v1/points", draw_points(source, 200))
        time.sleep(0.1)
    check(wait(browser, session, "document.getElementById('v-stage').textContent === '3,900'"), "it follows what is learnt")
    weights = evaluate(browser, session, "[...document.querySelectorAll('#weights tbody tr')].map(r => r.textContent).join('|')")
    check("amount" in weights and "country=PL" in weights, "it has the weights by name", [weights])
    errors = evaluate(browser, session, "Number(document.querySelector('#weights tbody tr').cells[2].textContent)")
    check(errors is not None and 0 < errors < 1, "and their standard errors", [errors])
    check("422" in evaluate(browser, session, "document.getElementById('bad').textContent") or
          "400" in evaluate(browser, session, "document.getElementById('bad').textContent"), "and the bad request")
    evaluate(browser, session, "document.querySelector('#fields input[name=amount]').value = '3'; "
                               "document.querySelector('#fields input[name=country]').value = 'PL'; document.querySelector('#try button').click()")
    check(wait(browser, session, "/^Prediction: fraud/.test(document.getElementById('answer').textContent)"), "it predicts",
          [evaluate(browser, session, "document.getElementById('answer').textContent")])
    check("amount" in evaluate(browser, session, "document.getElementById('explained').textContent"), "and says what contributes")
    test_axe(browser, session, axe, "the service's page")
    picture(browser, session, folder, "service")
    check(not spoken(browser), "nothing on the console of the service's page", spoken(browser))
    check(not outside(browser, address), "it asks nobody else", outside(browser, address))
    browser.call("Target.closeTarget", targetId=target)


def main():
    page, policy = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("1..0 # SKIP Chromium is not installed: the page was not looked at")
        return 0
    axe = find_axe()
    keepfit, folder = os.path.abspath(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        state, address = stand_in.start(page, policy)
        browser = Browser(program, os.path.join(profile, "profile"))
        try:
            if not browser.answers():
                print("1..0 # SKIP Chromium does not start on this machine: the page was not looked at")
                return 0
            for width, scheme in pages.WINDOWS:
                test_look(browser, state, address, width, scheme, axe, folder)
            test_connection(browser, state, address)
            test_token(browser, state, address)
            test_service(browser, keepfit, axe, folder)
        finally:
            browser.close()
    print("1..%d" % pages.count)
    return 1 if pages.failures else 0


if __name__ == "__main__":
    sys.exit(main())
