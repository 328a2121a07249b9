#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""checking layer: its library is loaded only if UCX_PLUGIN_CHECK enables it, and
a program continues without checks if the library is missing or damaged.

    checking_layer.py LOADED-OBJECTS LIBUCT-CORE LIBUCT-CHECK"""

import os
import shutil
import subprocess
import sys
import tempfile

FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))


def run(program, folder, **variables):
    """Returns status and output of the program, which sends to itself and lists
    its shared objects. `folder`: the loader searches it first; or None."""
    env = dict(os.environ, UCX_TLS="self", UCX_LOG_LEVEL="error", **variables)
    if folder is not None:
        env["LD_LIBRARY_PATH"] = folder
    done = subprocess.run([program, "--talk"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60 * FACTOR,
                          check=False, universal_newlines=True)
    return done.returncode, done.stdout


def expect(what, result, loaded, text):
    status, output = result
    found = "uct-check.so" in "".join(
        line for line in output.splitlines() if line.startswith("/"))
    if status != 0 or found != loaded or text not in output:
        print(output)
        raise SystemExit("%s: status %d, the layer is %sloaded, expected: %s, "
                         "\"%s\"" % (what, status, "" if found else "not ",
                                     loaded, text))
    print("%s: ok" % what)


def main(program, core, layer):
    expect("no variable", run(program, None), False, "")
    expect("UCX_PLUGIN_CHECK=n", run(program, None, UCX_PLUGIN_CHECK="n"),
           False, "")
    expect("UCX_PLUGIN_CHECK=y", run(program, None, UCX_PLUGIN_CHECK="y"),
           True, "")
    with tempfile.TemporaryDirectory() as folder:
        # Copy the core's libraries without that of the checking layer.
        shutil.copy(core, os.path.join(folder, "libuct-core.so.0"))
        for name in ["ucm", "ucs", "ucp"]:
            library = "lib%s-core.so.0" % name
            os.symlink(os.path.join(os.path.dirname(os.path.abspath(core)),
                                    "..", name, library),
                       os.path.join(folder, library))
        expect("a missing library",
               run(program, folder, UCX_PLUGIN_CHECK="y"), False,
               "plugins are not checked, uct-check.so.0 cannot be loaded")
        copy = os.path.join(folder, os.path.basename(layer))
        with open(copy, "w", encoding="utf-8") as text:
            text.write("not a library")
        expect("a damaged library",
               run(program, folder, UCX_PLUGIN_CHECK="y"), False,
               "plugins are not checked, uct-check.so.0 cannot be loaded")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
