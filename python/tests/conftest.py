"""Problems that the tests share, and results as TAP: pytest python/tests --tap FILE"""
import gzip
import os
import signal

import numpy as np
import pytest

DATA = os.environ.get("KEEPFIT_DATA")


def pytest_addoption(parser):
    parser.addoption("--tap", help="write the results to this file as TAP")


class Tap:
    def __init__(self, path):
        self.path, self.count = path, 0
        open(path, "w").close()

    def write(self, line):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def pytest_runtest_logreport(self, report):
        done = report.when == "call" or report.failed or report.skipped
        if not done:
            return
        self.count += 1
        skipped = " # SKIP " + str(report.longrepr[2]) if report.skipped and isinstance(report.longrepr, tuple) else ""
        self.write("%sok %d - python: %s%s" % ("not " if report.failed else "", self.count, report.nodeid, skipped))

    def pytest_collectreport(self, report):
        if report.failed:
            self.count += 1
            self.write("not ok %d - python: %s cannot be collected" % (self.count, report.nodeid))

    def pytest_sessionfinish(self):
        self.write("1..%d" % self.count)


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as it is for what a shell runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--tap"):
        config.pluginmanager.register(Tap(config.getoption("--tap")))


def cloud(kind, rows=400, features=8, seed=0):
    """Random rows and targets: "numbers", or so many classes."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    score = X @ random.normal(size=(features, 4)) / np.sqrt(features)
    if kind == "numbers":
        return X, 2 * score[:, 0] + 1 + 0.3 * random.normal(size=rows)
    return X, (score[:, :kind] + 0.5 * random.normal(size=(rows, kind))).argmax(axis=1)


def path_of(name):
    """A file of the data folder; skips where there is none."""
    path = os.path.join(DATA or "", name + ".gz")
    if not DATA or not os.path.exists(path):
        pytest.skip("KEEPFIT_DATA has no %s" % name if DATA else "KEEPFIT_DATA is not set")
    return path


def real(name, scale=False):
    """A real data set, dense."""
    from sklearn.datasets import load_svmlight_file
    from sklearn.preprocessing import StandardScaler
    X, y = load_svmlight_file(path_of(name))
    return (StandardScaler().fit_transform(X.toarray()) if scale else X.toarray()), y


def images(count):
    """The first images of MNIST, and their digits."""
    with gzip.open(path_of("train-images-idx3-ubyte")) as pixels, gzip.open(path_of("train-labels-idx1-ubyte")) as digits:
        X = np.frombuffer(pixels.read(16 + 784 * count)[16:], np.uint8).reshape(count, 784) / 255
        return X, np.frombuffer(digits.read(8 + count)[8:], np.uint8)
