# SPDX-License-Identifier: BSD-3-Clause
"""A build folder with fake programs. Their figures depend only on their arguments
and environment, so that the tests can state the expected results. run_text()
replaces programs.run_text(): no process is started."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import tempfile

PERF = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, PERF)

NAMES = [("lat_8", "us"), ("lat_1k", "us"), ("lat_64k", "us"),
         ("lat_1m", "us"), ("am_lat_8", "us"), ("rate_8", "M/s"),
         ("bw_64k", "GB/s"), ("bw_1m", "GB/s"), ("bw_16m", "GB/s"),
         ("get_8", "us"), ("put_8", "us"), ("get_1m", "us"), ("put_1m", "us"),
         ("memcpy_1m", "GB/s"), ("lacking", "us")]
CHANGE = 20000  # bytes from which rendezvous is chosen; 6 000 would be best
STUB = "#!/bin/sh\nexit %d\n"


def figure(name, unit, value):
    return {"name": name, "unit": unit, "value": value,
            "less_is_better": unit == "us", "floors": [0.05, 0.05]}


def option(args, name):
    return args[args.index(name) + 1] if name in args else None


# Ratio of an earlier build's figures to ours; None: its program does not have the
# figure.
EARLIER = {"lat_8": 0.98, "lat_1k": 0.9, "rate_8": 1.02, "bw_1m": 1.1,
           "put_8": None}


def earlier_figures(figures):
    for one in figures:
        factor = EARLIER.get(one["name"], 1)
        if factor is not None:
            yield dict(one, value=one["value"] * factor)


def value_of(name, theirs, tls, args):
    """Ours takes 1 us, theirs 2 us; tcp takes ten times as long; sysv takes a
    fifth less at lat_64k; error handling makes get_8 1.5 times as long."""
    if name == "lacking" and not theirs:
        return -1
    value = 2.0 if theirs else 1.0
    if "tcp" in tls:
        value *= 10
    if name == "lat_64k" and "sysv" in tls:
        value *= 0.8
    if option(args, "--err-mode") == "peer" and name == "get_8":
        value *= 1.5
    return value if dict(NAMES)[name] == "us" else 1 / value


def chosen_figures(theirs, env, args):
    only = option(args, "--only")
    for name, unit in NAMES:
        if not only or any(name == part[:-1] if part.endswith("$") else
                           name.startswith(part) for part in only.split(",")):
            yield figure(name, unit, value_of(name, theirs,
                                              env.get("UCX_TLS", ""), args))


def change_of(env):
    """Returns the size from which on rendezvous is used; None: never."""
    return {"inf": None, "0": 0}.get(env.get("UCX_RNDV_THRESH"), CHANGE)


def time_of(size, env):
    change = change_of(env)
    if change is None or size < change:
        return 1 + size / 1000
    return 5 + size / 3000


def told_choices(env):
    change = change_of(env)
    steps = {None: [(0, "inf", "eager/bcopy")],
             0: [(0, "inf", "rndv")]}.get(change, [
                 (0, CHANGE - 1, "eager/bcopy"), (CHANGE, "inf", "rndv")])
    for first, last, words in steps:
        yield "tag_send  contig  %d..%s  %s  posix\n" % (first, last, words)
    yield "rndv data  contig  1..inf  get  posix\n"


class FakeBuild:
    """with FakeBuild() as folder: ...; `foreign`: foreign_cpu in the result of
    each run; `tool_code`: exit status of the command-line tools."""

    def __init__(self, foreign=0.0, tool_code=0):
        self.foreign = foreign
        self.tool_code = tool_code
        self.folder = tempfile.TemporaryDirectory()
        self.earlier = None  # folder of a build whose figures differ
        self.lines = []      # all commands, with their UCX_PLUGIN_PATH

    def stub(self, code, *path):
        name = os.path.join(self.folder.name, *path)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(STUB % code)
        os.chmod(name, 0o755)

    def __enter__(self):
        for name in ("ucp_bench", "ucp_bench_ref", "ucp_startup",
                     "ucp_startup_ref", "uct_bench"):
            self.stub(1, "tests", "perf", name)
        self.stub(1, "sdk", "examples", "plugin-path")
        for name in ("ucx_info", "ucx-plugins"):
            self.stub(self.tool_code, "bin", name)
        self.stub(self.tool_code, "theirs", "ucx_info")
        return self.folder.name

    def __exit__(self, *_):
        self.folder.cleanup()

    def run_text(self, command, env, may_fail=(), limit=0):
        """Replaces programs.run_text()."""
        del may_fail, limit
        name = os.path.basename(command[0])
        is_earlier = self.earlier and command[0].startswith(self.earlier)
        self.lines.append((command, env.get("UCX_PLUGIN_PATH")))
        theirs = name.endswith("_ref")
        head = {"version": "1.13.1" if theirs else "1.20.0"}
        if name == "uct_bench":
            return json.dumps(dict(head, value=0.06, floors=[0.05, 0.05]))
        if name.startswith("ucp_startup"):
            factor = 4 if theirs else 1
            return json.dumps(dict(head, load=300 * factor, init=100 * factor,
                                   worker=50 * factor, first=50 * factor,
                                   all=200 * factor))
        sweep, sizes = option(command, "--sweep"), option(command, "--sizes")
        figures = [figure("%s_%s" % (sweep, size), "us",
                          time_of(int(size), env) / (2 if theirs else 1))
                   for size in sizes.split(",")] if sweep else \
            list(chosen_figures(theirs, env, command))
        if is_earlier:
            figures = list(earlier_figures(figures))
        said = "".join(told_choices(env)) if "UCX_PROTO_INFO" in env else ""
        return said + json.dumps(dict(head, foreign_cpu=self.foreign,
                                      figures=figures))


def script(name):
    """Loads `compare` or `portable` as a module: their names have no suffix, so
    `import` cannot load them."""
    path = os.path.join(PERF, name)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def said(call, *words):
    """Calls a function. Returns its result or exit status, and its output."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = call(*words)
    except SystemExit as end:
        code = end.code
    return code, out.getvalue()
