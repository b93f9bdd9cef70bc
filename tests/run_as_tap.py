"""Runs a program and reports, as TAP, whether it succeeded: run_as_tap.py NAME PROGRAM [ARGUMENT ...]"""
import subprocess
import sys

done = subprocess.run(sys.argv[2:], capture_output=True, text=True)
good = done.returncode == 0 and done.stdout.strip()
print("%sok 1 - %s runs and prints its result" % ("" if good else "not ", sys.argv[1]))
for line in (done.stdout + done.stderr).splitlines():
    print("# " + line)
print("1..1")
sys.exit(0 if good else 1)
