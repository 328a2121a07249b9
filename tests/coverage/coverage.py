#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the tests that cover each part of the public interface; see README.md.

Fails if a part of UCP, or a function of UCT or UCS, is covered by no test and is
not in exceptions.txt."""

import argparse
import os
import re
import sys

import headers
import programs

REQUIRED = ("ucp/api/",)
REQUIRED_FUNCTIONS = ("uct/api/", "ucs/")
FOLDERS = ("ucp/api", "uct/api", "ucs", "ucm/api")
MOST_TESTS = 2


def pasted(text, pasting):
    """Returns the words that macros with ## make of their arguments in a text."""
    made = ""
    for macro, arguments in re.findall(r"(\w+)\s*\(([^()]*)\)", text):
        if macro in pasting:
            parameters, body = pasting[macro]
            given = dict(zip(parameters, arguments.replace(" ", "").split(",")))
            body = re.sub(r"\w+", lambda word: given.get(word.group(),
                                                         word.group()), body)
            made += " " + re.sub(r"\s*##\s*", "", body)
    return made


def services_behind(include):
    """Returns name -> words in the body, for the macros and inline functions of
    ucs/: a test that uses one runs the functions in it."""
    behind = {}
    for folder, _, names in os.walk(os.path.join(include, "ucs")):
        for name in names:
            text = programs.stripped(programs.read(os.path.join(folder, name)))
            text = text.replace("\\\n", " ")
            macros = re.findall(r"#define\s+(\w+)(?:\(([^)]*)\))?(.*)", text)
            pasting = {macro: (parameters.replace(" ", "").split(","), body)
                       for macro, parameters, body in macros if "##" in body}
            for macro, _, body in macros:
                body += pasted(body, pasting)
                behind[macro] = set(re.findall(r"\w+", body))
            for function, (_, body) in programs.split(text)[0].items():
                behind[function] = set(re.findall(r"\w+", body))
    return behind


def reached_services(test, behind):
    """Returns the words of a test, and of the macros and inline functions that it
    uses."""
    words, todo = set(test.words), [word for word in test.words
                                    if word in behind]
    while todo:
        for word in behind[todo.pop()] - words:
            words.add(word)
            if word in behind:
                todo.append(word)
    return words


def covers(test, item, holders, services):
    if not test.checks:
        return False
    if item.kind == "function" and item.header.startswith("ucs/"):
        return item.name in services[test.label]
    if item.kind != "member":
        return item.name in test.words
    if item.bit is not None:
        return (item.bit in test.words) and (item.name in test.members)
    type_known = (item.struct in test.words or
                  item.struct.rsplit("_t", 1)[0] in test.words or
                  holders.get(item.struct, set()) & test.members)
    return type_known and (item.name in test.members or
                           item.struct in test.listed)


def title(item):
    return ("%s.%s" % (item.struct, item.name) if item.kind == "member" else
            item.name)


def all_items(root, holders):
    include = os.path.join(root, "core", "include")
    items = []
    for top in FOLDERS:
        for folder, folders, names in os.walk(os.path.join(include, top)):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                items += headers.read(path, os.path.relpath(path, include),
                                      holders)
    return items


def read_exceptions(path):
    """Returns name -> reason from lines "name: reason"; lines that begin with #
    are comments."""
    reasons = {}
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            line = line.strip()
            if line and not line.startswith("#"):
                name, _, reason = line.partition(":")
                reasons[name.strip()] = reason.strip()
    return reasons


def check_functions(root, items):
    """Returns whether the headers' functions include all of functions.txt."""
    known = {item.name for item in items}
    path = os.path.join(root, "tests", "abi", "functions.txt")
    with open(path, encoding="utf-8") as stream:
        lost = [line.split()[2] for line in stream
                if line.strip() and line.split()[2] not in known]
    for name in lost:
        print("%s is a function of the interface and in no header" % name,
              file=sys.stderr)
    return not lost


def cell(tests):
    """Returns the text for a list of tests; the shortest tests come first."""
    tests = sorted(tests, key=lambda test: len(test.words))
    names = [test.label.replace("tests/", "", 1) for test in tests]
    text = "<br>".join(names[:MOST_TESTS])
    if len(names) > MOST_TESTS:
        text += "<br>and %d more" % (len(names) - MOST_TESTS)
    return text


def write_table(path, found, reasons):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# Which test covers what\n\n"
                  "Made by `coverage.py` out of the headers and the tests; "
                  "see README.md.\n")
        header = None
        for item, tests in found:
            if item.header != header:
                header = item.header
                out.write("\n## %s\n\n| %s | | tests |\n|---|---|---|\n" %
                          (header, "what"))
            text = cell(tests)
            if not tests:
                text = reasons.get(title(item), "**none**")
            out.write("| `%s` | %s | %s |\n" % (title(item), item.kind, text))


def is_required(item):
    return item.header.startswith(REQUIRED) or (
        item.kind == "function" and
        item.header.startswith(REQUIRED_FUNCTIONS))


def report(found, reasons):
    """Prints the counts of each folder and the parts without a test. Returns the
    number of those that need one."""
    missing = 0
    for top in FOLDERS:
        part = [entry for entry in found if entry[0].header.startswith(top)]
        bare = [item for item, tests in part if not tests]
        print("%-8s %4d of %4d covered" % (top, len(part) - len(bare),
                                           len(part)))
        for item in bare:
            if not is_required(item):
                continue
            if title(item) in reasons:
                print("  not tested: %s: %s" % (title(item),
                                                reasons[title(item)]))
            else:
                print("  NO TEST: %s (%s, %s)" % (title(item), item.kind,
                                                  item.header))
                missing += 1
    return missing


def stale(found, reasons):
    """Prints exceptions for parts that have a test, or do not exist. Returns their
    number."""
    bare = {title(item) for item, tests in found if not tests}
    for name in reasons:
        if name not in bare:
            print("exceptions.txt: %s needs none" % name)
    return sum(name not in bare for name in reasons)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=os.path.join(here, "..", ".."))
    parser.add_argument("--table", help="write the table to this file")
    args = parser.parse_args()

    root = os.path.abspath(args.root)
    holders = {}
    items = all_items(root, holders)
    tests = programs.all_tests(root)
    behind = services_behind(os.path.join(root, "core", "include"))
    services = {test.label: reached_services(test, behind) for test in tests}
    reasons = read_exceptions(os.path.join(here, "exceptions.txt"))
    found = [(item, [test for test in tests
                      if covers(test, item, holders, services)])
             for item in items]
    if args.table:
        write_table(args.table, found, reasons)
    complete = check_functions(root, items)
    missing = report(found, reasons)
    left = stale(found, reasons)
    print("%d tests; %d parts that need one are without" %
          (len(tests), missing))
    return 0 if complete and not missing and not left else 1


if __name__ == "__main__":
    sys.exit(main())
