"""Several outputs: a fit each, over the same rows, that looks like one.

The objective is the sum of the outputs' objectives, which share nothing, so its gap is the sum of theirs, and so is its bound: each
output gets its share of epsilon.
"""
from types import SimpleNamespace
from typing import Any, Iterable, List

import numpy as np

from .errors import struct, text
from .fit import OUTCOMES, REPORT_FIELDS, Fit, Measurement, Stage
from .model import Model

SUMS = ("fo", "steps", "improvements", "products", "seconds", "bound", "worst_bound", "target", "smoothness", "validation_loss", "validation_error")
WORST = ("missed", "unproved", "waiting", "given_up", "outcome")


class Group:
    def __init__(self, outputs: int, options: dict):
        if options.get("journal") is not None:
            raise ValueError("a journal keeps one output: with several, each column of y needs an estimator of its own")
        share = dict(options)
        if options.get("epsilon") is not None and options.get("epsilon_kind") != "relative":
            share["epsilon"] = options["epsilon"] / max(outputs, 1)
        self.options, self.fits = options, [Fit.silent(**share) for _ in range(outputs)]

    @property
    def report(self):
        """A keepfit_report of all together."""
        made, reports = struct("report"), [fit.report for fit in self.fits]
        for name in REPORT_FIELDS:
            name = name if hasattr(made, name) else name + "_"
            values = [getattr(report, name) for report in reports]
            setattr(made, name, sum(values) if name in SUMS else max(values) if name in WORST else
                    min(values) if name == "proved" else values[0])
        return made

    def stage(self) -> Stage:
        report = self.report
        values = [getattr(report, name) for name in REPORT_FIELDS]
        return Stage(text(values[0]), text(values[1]), *values[2:-1], OUTCOMES.get(values[-1], "other"))

    def no_proof(self, asked: bool = True) -> str:
        return self.fits[0].no_proof(asked)

    def extend(self, X, y, weight=None) -> "Group":
        if y.ndim != 2 or y.shape[1] != len(self.fits):
            raise ValueError("the rows so far had %d outputs, and y has shape %r" % (len(self.fits), y.shape))
        for k, fit in enumerate(self.fits):  # what one of them refuses of rows and weights, the first one does
            fit.extend(X, np.ascontiguousarray(y[:, k]), weight)
        return self

    def remove(self, arrivals: Iterable[int]) -> None:
        for fit in self.fits:
            fit.remove(arrivals)

    def name(self, *arguments: Any, **named: Any) -> None:
        for fit in self.fits:
            fit.name(*arguments, **named)

    def name_table(self, table, target=None) -> None:
        for fit in self.fits:
            fit.name_table(table)

    def schema(self):
        return self.fits[0].schema()

    def raw_schema(self):
        return self.fits[0].raw_schema()

    def measure(self, bound: bool = False, optimum: bool = False) -> Measurement:
        return Measurement(*np.sum([fit.measure(bound, optimum) for fit in self.fits], axis=0).tolist())

    def models(self) -> List[Model]:
        return [fit.model() for fit in self.fits]

    def model(self):
        """Of a model what estimators look at."""
        models = self.models()
        width = max(model.weights.shape[0] for model in models)
        weights = np.zeros((width, len(models)))
        for k, model in enumerate(models):
            weights[:len(model.weights), k] = model.weights[:, 0]
        return SimpleNamespace(weights=weights, intercepts=np.array([model.intercepts[0] for model in models]), loss=models[0].loss,
                               save=self._refuse, labels=np.zeros(0))

    @staticmethod
    def _refuse(*unused):
        raise ValueError("a model file holds one output: save each of models_")
