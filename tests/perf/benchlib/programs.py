# SPDX-License-Identifier: BSD-3-Clause
"""Finds and runs the programs that measure. A program that cannot be run ends
the comparison, because an incomplete result would mislead."""

import json
import os
import subprocess
import sys

EXIT_MISSED, EXIT_USAGE, EXIT_NO_JUDGEMENT = 1, 2, 3
PROGRAM_LIMIT = 150  # seconds for one run of one program


class Failure(Exception):
    """An error that the user can correct."""

    def __init__(self, text, code=EXIT_USAGE):
        super().__init__(text)
        self.code = code


def run_main(name, main):
    """Runs a script's main function. Prints a Failure in one line and exits."""
    try:
        sys.exit(main())
    except Failure as failure:
        print("%s: %s" % (name, failure), file=sys.stderr)
        sys.exit(failure.code)
    except BrokenPipeError:
        sys.exit(EXIT_USAGE)
    except KeyboardInterrupt:
        sys.exit(130)


def plugin_path(build):
    """Returns the plugin path of a build tree, which the build has written to a
    file; empty if there is none."""
    try:
        with open(os.path.join(build, "sdk", "examples", "plugin-path"),
                  encoding="utf-8") as text:
            return text.read().strip()
    except OSError:
        return ""


def with_self(tls):
    return tls if not tls or "self" in tls.split(",") else tls + ",self"


def is_setting_of_ucx(name):
    return name.startswith("UCX_")


def environment(tls, settings=(), path=""):
    """Returns the environment of a program: none of the user's UCX_ variables,
    UCX_TLS=`tls` unless empty, plugins from `path`, and NAME=VALUE settings."""
    env = {name: value for name, value in os.environ.items()
           if not is_setting_of_ucx(name)}
    if tls:
        env["UCX_TLS"] = tls
    if path:
        env["UCX_PLUGIN_PATH"] = path
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise Failure("'%s' is not NAME=VALUE" % setting)
        env[name] = value
    return env


def find(build, *path, hint="build first"):
    program = os.path.join(build, *path)
    if not os.access(program, os.X_OK):
        raise Failure("no program %s; %s" % (program, hint))
    return program


def run_text(command, env, may_fail=(), limit=PROGRAM_LIMIT):
    """Returns the output of the program; None if its exit status is one of
    may_fail."""
    try:
        done = subprocess.run(command, env=env, timeout=limit, check=False,
                              stdout=subprocess.PIPE, encoding="utf-8")
    except subprocess.TimeoutExpired:
        raise Failure("%s did not end within %g s" % (" ".join(command),
                                                      limit)) from None
    except OSError as error:
        raise Failure("%s: %s" % (command[0], error.strerror)) from None
    if done.returncode in may_fail:
        return None
    if done.returncode != 0:
        raise Failure("%s ended with %d; UCX_TLS=%s" % (
            " ".join(command), done.returncode, env.get("UCX_TLS", "")))
    return done.stdout


def parse_json(text, command):
    """Returns the JSON at the end of a program's output. Messages of the library
    may precede it."""
    start = 0 if text.startswith("{") else text.find("\n{") + 1
    if not text.startswith("{", start):
        raise Failure("%s printed no result" % " ".join(command))
    try:
        return json.loads(text[start:])
    except ValueError:
        raise Failure("%s printed something else than JSON" %
                      " ".join(command)) from None


def run_json(command, env, may_fail=()):
    text = run_text(command, env, may_fail)
    return None if text is None else parse_json(text, command)


def run_bench(program, env, milliseconds, args=()):
    """Runs ucp_bench. Returns its result, with a dictionary of figures."""
    result = run_json([program, "--json", "--time", str(milliseconds)] +
                      list(args), env)
    result["figures"] = {figure["name"]: figure
                         for figure in result["figures"]}
    return result
