"""Runs the unit tests of each file of the present folder in a process of its own, and prints how each test ended.

    python each.py PATTERN..

prints lines of a name, a tab, and `passed`, `failed`, or `skipped`. A file whose process ends early, or that cannot be
loaded, has a line of its own. What the tests print goes to a file beside them. The last line states which files of
netCDF libraries were loaded.
"""

import glob
import os
import subprocess
import sys
import unittest

LONGEST = 600


class Outcomes(unittest.TestResult):
    """Reports how each test ended as soon as it has."""

    def __init__(self, told):
        super().__init__()
        self.told = told

    def tell(self, test, outcome):
        print(f"{test.id()}\t{outcome}", file=self.told, flush=True)

    def stopTest(self, test):
        broken = [broken for broken, _ in self.failures + self.errors]
        # A failed subtest fails its test.
        failed = any(test is getattr(one, "test_case", one) for one in broken)
        skipped = any(test is one for one, _ in self.skipped)
        self.tell(test, "failed" if failed else "skipped" if skipped else "passed")
        super().stopTest(test)


def one(name):
    """Runs the tests of a module, and writes how they ended to `NAME.told`."""
    sys.path.insert(0, os.getcwd())
    with open(f"{name}.told", "w") as told:
        result = Outcomes(told)
        unittest.defaultTestLoader.loadTestsFromName(name).run(result)
        for test, text in result.failures + result.errors:
            print(f"{test.id()}\n{text}", flush=True)
        with open("/proc/self/maps") as maps:
            files = {line.split()[-1] for line in maps if "libnetcdf" in line or "libncirrus" in line}
        print(f"loaded\t{' '.join(sorted(files))}", file=told)


def main(patterns):
    names = sorted(os.path.splitext(path)[0] for pattern in patterns for path in glob.glob(pattern))
    loaded = set()
    for name in names:
        with open(f"{name}.out", "w") as said:
            command = [sys.executable, os.path.abspath(__file__), "--one", name]
            try:
                ended = subprocess.run(command, stdout=said, stderr=said, timeout=LONGEST).returncode
            except subprocess.TimeoutExpired:
                ended = "no end"
        lines = open(f"{name}.told").read().splitlines() if os.path.exists(f"{name}.told") else []
        for line in lines:
            test, outcome = line.split("\t")
            loaded.update(outcome.split()) if test == "loaded" else print(line)
        if ended != 0:
            print(f"{name}\tended with {ended}")
    print(f"loaded\t{' '.join(sorted(loaded))}")


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2])
    else:
        main(sys.argv[1:])
