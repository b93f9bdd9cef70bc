"""The documents' examples run, from top to bottom, and their output goes nowhere near the tree."""
import os
import re
import subprocess
import sys

import pytest

import keepfit

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")


def examples(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return "\n".join(re.findall(r"^```python\n(.*?)^```", file.read(), re.S | re.M))


@pytest.mark.parametrize("name", ["python.md", "tutorial.md"])
def test_examples_run(name, tmp_path):
    code = examples(name)
    assert len(code) > 500
    if "matplotlib" in code:
        pytest.importorskip("matplotlib")
    (tmp_path / "examples.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "examples.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(keepfit.__file__)), MPLCONFIGDIR=str(tmp_path)))
    assert done.returncode == 0, done.stderr
