"""Together with the interpreter: the GIL is released, Ctrl-C stops between stages, memory is given back."""
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import cloud

from keepfit import Fit, KeepfitClassifier, Objective

CALLS = int(os.environ.get("KEEPFIT_TEST_CALLS", "30000"))


def test_other_threads_run_meanwhile():
    """A thread counts; the fit is one call into the library, during which a held GIL would stop the count."""
    X, y = cloud(2, rows=20000, features=60)
    counts, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counts[0] += 1

    fit = Fit(loss="logistic", lam=1e-6, epsilon=1e-12)
    thread = threading.Thread(target=count)
    thread.start()
    before = counts[0]
    fit.extend(X, y.astype(float))
    during = counts[0] - before
    over.set()
    thread.join()
    assert during > 1000


def test_fits_in_many_threads_are_the_same():
    X, y = cloud(2, rows=2000)
    models = [KeepfitClassifier(n_jobs=1) for _ in range(4)]
    threads = [threading.Thread(target=lambda model=model: list(model.stages(X, y, every=20))) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(model.coef_, models[0].coef_) for model in models)


def test_one_fit_in_many_threads_takes_turns():
    X, y = cloud(2, rows=2000)
    model = KeepfitClassifier(bias=1.0).partial_fit(X[:1], y[:1])
    threads = [threading.Thread(target=lambda: [model.partial_fit(X[at:at + 10], y[at:at + 10]) and model.predict(X[:5])
                                                for at in range(0, 2000, 10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = model.measure(optimum=True)
    assert model.n_points_ == 8001 and found.gap <= model.gap_bound_ <= 1e-3


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
from keepfit import KeepfitClassifier
random = np.random.default_rng(0)
X = random.normal(size=(20000, 40))
y = (X @ random.normal(size=40) + random.normal(size=20000) > 0).astype(int)
model = KeepfitClassifier(epsilon=1e-4, bias=1.0)
seen = 0
try:
    for stage in model.stages(X, y):
        seen = stage.stage
        if seen == 500:  # as a terminal would, at any moment from here on
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    print("ran to its end")
except KeyboardInterrupt:
    found = model.measure(optimum=True)
    assert model.n_points_ in (seen, seen + 1), (model.n_points_, seen)
    assert found.gap <= model.gap_bound_, (found, model.gap_bound_)
    rest = slice(model.n_points_, model.n_points_ + 500)
    model.partial_fit(X[rest], y[rest])
    assert model.gap_bound_ <= 1e-4
    print("stopped at a stage, and went on")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""

LONG = """
import os, signal, threading
import numpy as np
from keepfit import KeepfitClassifier
random = np.random.default_rng(0)
X = random.normal(size=(20000, 300))
y = (X @ random.normal(size=(300, 8)) + random.normal(size=(20000, 8))).argmax(axis=1)
model = KeepfitClassifier(epsilon=1e-13, bias=1.0, lam=1e-6)  # would take minutes
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, y)
    print("ran to its end")
except KeyboardInterrupt:
    assert model.n_points_ == 20000 and model.coef_.shape == (8, 300)
    print("stopped, with all rows in")
"""


@pytest.mark.parametrize("script, said", [(INTERRUPTED, "stopped at a stage, and went on"), (LONG, "stopped, with all rows in")],
                         ids=["between stages", "within a long one"])
def test_ctrl_c(script, said):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == said, done.stderr


def test_ctrl_c_within_an_objective_in_python():
    script = """
import os, signal
import numpy as np
from keepfit import Fit, Objective
calls = [0]
def gradient(x, row, target):
    calls[0] += 1
    if calls[0] == 25:
        os.kill(os.getpid(), signal.SIGINT)
    return x - row
fit = Fit(Objective(3, lambda x, row, target: (x - row) @ (x - row) / 2, gradient, lambda row, target: 1.0), epsilon=1e-9)
X = np.random.default_rng(0).normal(size=(20, 3))
try:
    fit.extend(X, np.zeros(20))
    print("ran to its end")
except KeyboardInterrupt:
    fit.extend(X[:1], np.zeros(1))
    print(fit.report.points, fit.report.bound <= 1e-9)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "21 True", done.stderr


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_nothing_leaks():
    """As many calls as KEEPFIT_TEST_CALLS says, of all kinds, in a window, so that the points themselves take no more room."""
    X, y = cloud(2, rows=1000)
    model = KeepfitClassifier(window=20, bias=1.0, epsilon=0.01)

    def work(calls):
        for k in range(calls):
            at = k % 1000
            model.partial_fit(X[at:at + 1], y[at:at + 1])
            if k % 50 == 0:
                model.coef_, model.predict(X[:3]), model.report_
                model.forget([k - 5 + work.done] if k > 5 else [])
            if k % 500 == 0:
                fit = Fit(Objective(8, lambda x, row, b: (x @ row - b) ** 2, lambda x, row, b: 2 * (x @ row - b) * row, lambda row, b: 2 * row @ row))
                fit.extend(X[:3], y[:3].astype(float))
                try:
                    model.partial_fit(np.full((1, 8), np.nan), y[:1])
                except ValueError:
                    pass
        work.done += calls
        gc.collect()

    work.done = 0
    work(5000)
    grown = []
    for _ in range(3):
        before = resident()
        work(CALLS)
        grown.append(resident() - before)
    assert min(grown) < 2**21  # a large page or two come into use once; what leaks does so every time
