#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""loading: only the code of plugins that are needed is loaded.

Besides the tcp plugin there are decoys: copies of it under other names, whose
manifests declare other transports. A process with UCX_TLS=tcp must not load the
library of a decoy, and one with UCX_TLS=self loads no plugin. (A library may be
opened to check its owner.) The test reads the process's own list of shared
objects and, where strace is permitted, the files that were mapped executable,
even if they were unloaded later.

    lazy_loading.py LOADED-OBJECTS UCX-PLUGINS TCP-PLUGIN-FOLDER"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
DECOYS = ["alpha", "beta"]
FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))


def find_tcp(folder):
    manifest = os.path.join(folder, "tcp.json")
    if not os.path.exists(manifest):
        print("no tcp plugin in this build")
        sys.exit(SKIPPED)
    with open(manifest, encoding="utf-8") as text:
        return json.load(text)


def make_plugins(root, tcp_folder, manifest):
    """The real plugin and its decoys, each in a folder of its own."""
    library = manifest["library"]
    for name in ["tcp"] + DECOYS:
        folder = os.path.join(root, name)
        os.mkdir(folder)
        shutil.copy(os.path.join(tcp_folder, library),
                    os.path.join(folder, "libucx-%s.so" % name))
        copy = json.loads(json.dumps(manifest))
        copy["name"] = name
        copy["library"] = "libucx-%s.so" % name
        if name != "tcp":
            for component in copy["components"]:
                component["name"] = name
                component.pop("cm", None)
                for transport in component["transports"]:
                    transport["name"] = name
        with open(os.path.join(folder, name + ".json"), "w",
                  encoding="utf-8") as text:
            json.dump(copy, text)


def run(command, tls, root):
    env = dict(os.environ, UCX_PLUGIN_PATH=root, UCX_LOG_LEVEL="error")
    env.pop("UCX_TLS", None)
    if tls is not None:
        env["UCX_TLS"] = tls
    # The leak checker cannot run in a traced process.
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60 * FACTOR,
                          check=False, universal_newlines=True)
    if done.returncode != 0:
        print(done.stdout, done.stderr)
        raise SystemExit("%s failed with %d" % (command, done.returncode))
    return done.stdout


def plugins_in(lines, root):
    """Returns the names of the plugins whose library is among the paths."""
    root = os.path.realpath(root)
    return sorted({os.path.basename(os.path.dirname(path)) for path in lines
                   if os.path.realpath(path).startswith(root + "/")
                   and path.endswith(".so")})


def mapped_files(trace_prefix):
    """Returns the paths of the files that were mapped with PROT_EXEC."""
    paths = []
    for name in glob.glob(trace_prefix + "*"):
        with open(name, encoding="utf-8", errors="replace") as trace:
            for line in trace:
                match = re.search(r"mmap\(.*PROT_EXEC.*, \d+<([^>]+)>", line)
                if match:
                    paths.append(match.group(1))
    if not any("libc.so" in path for path in paths):
        raise SystemExit("strace shows no mapped code at all")
    return paths


def can_trace():
    if not shutil.which("strace"):
        print("no strace here: only the lists of shared objects are looked at")
        return False
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"],
                           stderr=subprocess.DEVNULL, check=False)
    if probe.returncode != 0:
        print("tracing is forbidden here: only the lists of shared objects "
              "are looked at")
        return False
    return True


def check(what, found, expected):
    if found != expected:
        raise SystemExit("%s: the plugins %s, expected %s" % (
            what, found, expected))
    print("%s: %s" % (what, found or "none"))


def main(program, tool, tcp_folder):
    root = tempfile.mkdtemp()
    try:
        make_plugins(root, tcp_folder, find_tcp(tcp_folder))
        cases = [("tcp", ["--talk"], ["tcp"]), ("self", ["--talk"], []),
                 ("tcp,self", ["--talk"], ["tcp"])]
        trace = can_trace()
        for tls, arguments, expected in cases:
            out = run([program] + arguments, tls, root)
            check("UCX_TLS=%s has loaded" % tls,
                  plugins_in(out.splitlines(), root), expected)
            if trace:
                prefix = os.path.join(root, "trace-" + tls.replace(",", "-"))
                run(["strace", "-ff", "-y", "-o", prefix, "-e", "trace=mmap",
                     program] + arguments, tls, root)
                check("UCX_TLS=%s has mapped" % tls,
                      plugins_in(mapped_files(prefix), root), expected)
        if trace:
            prefix = os.path.join(root, "trace-list")
            run(["strace", "-ff", "-y", "-o", prefix, "-e", "trace=mmap",
                 tool, "list"], None, root)
            check("ucx-plugins list has mapped",
                  plugins_in(mapped_files(prefix), root), [])
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
