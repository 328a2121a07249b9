# SPDX-License-Identifier: BSD-3-Clause
"""Results as files: all figures, with every kept round. A reader rejects files
of another format."""

import json
import sys

from .programs import EXIT_MISSED, EXIT_NO_JUDGEMENT, Failure
from .stats import NO_JUDGEMENT, NOT_OFFERED

FORMAT = 1
KINDS = ("compare", "baseline", "best", "err-mode", "portable")


def make(kind, **content):
    return dict({"format": FORMAT, "kind": kind}, **content)


def write(result, where):
    """Writes the result to a file, or to standard output ("-")."""
    text = json.dumps(result, indent=1) + "\n"
    if where == "-":
        sys.stdout.write(text)
        return
    try:
        with open(where, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Failure("cannot write %s: %s" % (where,
                                               error.strerror)) from None


def read(name):
    try:
        with open(name, encoding="utf-8") as file:
            result = json.load(file)
    except OSError as error:
        raise Failure("cannot read %s: %s" % (name,
                                              error.strerror)) from None
    except ValueError as error:
        raise Failure("%s is no JSON: %s" % (name, error)) from None
    if not isinstance(result, dict) or result.get("kind") not in KINDS:
        raise Failure("%s is no result of `compare --json` or `portable "
                      "--json`" % name)
    if result.get("format") != FORMAT:
        raise Failure("%s has format %s, this script reads %d; make it anew" %
                      (name, result.get("format"), FORMAT))
    return result


def exit_status(rows):
    """Returns the exit status; 0: all targets are met."""
    verdicts = {row.get("verdict") for row in rows}
    if verdicts & {"missed", NOT_OFFERED}:
        return EXIT_MISSED
    return EXIT_NO_JUDGEMENT if NO_JUDGEMENT in verdicts else 0
