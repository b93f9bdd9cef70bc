"""The service as its users meet it: over HTTP, on this machine, with Python's standard library; as TAP.

    run_service.py KEEPFIT [words]     the cases whose names have the words; SERVICE_KILLS=N kills in the case of kills (default 12)
"""
import os
import re
import shutil
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases_abuse  # noqa: E402
import cases_durable  # noqa: E402
import cases_requests  # noqa: E402


def main():
    keepfit = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    cases = [(module.__name__[6:] + "." + name[5:], function) for module in (cases_requests, cases_durable, cases_abuse)
             for name, function in sorted(vars(module).items()) if re.match("case_", name)]
    failures = count = 0
    for name, function in cases:
        if wanted not in name:
            continue
        count += 1
        folder = tempfile.mkdtemp(prefix="keepfit-service-")
        begin = time.time()
        try:
            function(keepfit, folder)
            print("ok %d - %s (%.1f s)" % (count, name, time.time() - begin), flush=True)
        except Exception:  # every failure is told
            failures += 1
            print("not ok %d - %s" % (count, name))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print("1..%d" % count)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
