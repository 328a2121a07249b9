#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks requirements/*.txt, which have the requirements of the specification and
the test for each; see README.md. Fails if a named test does not exist or has no
assertion, or if a line is invalid."""

import argparse
import glob
import os
import sys

import programs


def read_requirements(path):
    """Yields (line number, section, requirement, test); the test is None if the
    line has none."""
    section = None
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            line = line.strip()
            if line.startswith("==") and line.endswith("=="):
                section = line.strip("= ")
            elif line and not line.startswith("#"):
                requirement, _, test = line.partition(" | ")
                yield number, section, requirement.strip(), test.strip() or None


def fault_of(row, tests, seen):
    """Returns the error of a row, or None."""
    _, section, requirement, name = row
    if section is None:
        return "stands before the first section"
    if name is None:
        return "names no test"
    if (section, requirement) in seen:
        return "stands there twice"
    test = tests.get(name)
    if test is None:
        return "no test is called %s" % name
    return None if test.checks else "%s expects nothing" % name


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=os.path.join(here, "..", ".."))
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()

    tests = {}
    for test in programs.all_tests(os.path.abspath(args.root)):
        tests[test.label.replace("tests/", "", 1)] = test
    faults = 0
    files = args.files or sorted(glob.glob(os.path.join(here, "requirements",
                                                        "*.txt")))
    for path in files:
        seen, count = set(), 0
        for row in read_requirements(path):
            fault = fault_of(row, tests, seen)
            seen.add((row[1], row[2]))
            count += 1
            if fault is not None:
                print("%s:%d: %s: %s" % (os.path.basename(path), row[0],
                                         row[2], fault))
                faults += 1
        print("%-22s %3d requirements" % (os.path.basename(path), count))
        faults += count == 0
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
