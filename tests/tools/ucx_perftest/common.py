# SPDX-License-Identifier: BSD-3-Clause
"""Runs ucx_perftest in tests, with a time limit, and keeps its standard output
and standard error."""

import os
import re
import subprocess

FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))
BOUND = 60 * FACTOR

UCP_TESTS = ("tag_lat tag_bw tag_sync_lat tag_sync_bw ucp_am_lat ucp_am_bw "
             "stream_lat stream_bw ucp_put_lat ucp_put_bw ucp_get ucp_add "
             "ucp_fadd ucp_swap ucp_cswap").split()
UCT_TESTS = ("am_lat put_lat add_lat get fadd swap cswap am_bw put_bw "
             "add_mr").split()


def expect(condition, what):
    if not condition:
        raise SystemExit("failed: " + what)


class Tool:
    def __init__(self, path, **variables):
        self.path = path
        self.env = dict(os.environ, **variables)

    def run(self, *words):
        """Returns the exit status, standard output, and standard error."""
        done = subprocess.run((self.path,) + words, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=BOUND, universal_newlines=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def good(self, *words):
        """Returns the output of a run that must succeed and print no message."""
        status, out, err = self.run(*words)
        expect(status == 0 and err == "", "%s: status %d\n%s%s" %
               (" ".join(words), status, out, err))
        return out

    def start(self, *words):
        # pylint: disable=consider-using-with
        return subprocess.Popen((self.path,) + words, env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                universal_newlines=True)

    def serve(self, *words):
        """Starts a server; returns it and the port at which it waits."""
        server = self.start("-p", "0", *words)
        line = server.stdout.readline()
        found = re.search(r"at port (\d+)", line)
        expect(found is not None, "a server says its port: " + line)
        return server, found.group(1)


def end(process):
    """Waits for a started process, with a time limit; returns its status and
    outputs."""
    try:
        out, err = process.communicate(timeout=BOUND)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise SystemExit("failed: %s does not end" % process.args) from None
    return process.returncode, out, err
