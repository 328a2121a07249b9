#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks work as the scripts need them: every kind of sweep transfers the
correct bytes (the programs check this themselves), with and without error
handling, and wrong arguments are rejected. Speed is not tested.

    programs.py UCP_BENCH UCP_STARTUP"""

import json
import os
import subprocess
import sys

SKIPPED = 77
SIZES = "1,100000"
MIB_16 = 16 << 20
MIB_64 = 64 << 20


def expect(condition, what):
    if not condition:
        raise SystemExit("benchmarks: " + what)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False,
                          encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def result_of(*command):
    code, out, err = run(*command)
    expect(code == 0, "%s ended with %d: %s" % (" ".join(command), code, err))
    return json.loads(out)


def sweeps_move_bytes(bench, kinds, *more):
    for kind in kinds:
        found = result_of(bench, "--json", "--time", "1", "--sweep", kind,
                          "--sizes", SIZES, *more)["figures"]
        names = [figure["name"] for figure in found]
        expect(names == [kind + "_1", kind + "_100000"],
               "the sweep of %s has %s" % (kind, names))
        for figure in found:
            expect(figure["value"] > 0, "%s of %s: %s" % (
                figure["name"], more or "none", figure["value"]))


def all_sizes_are_powers_of_two(bench):
    # measure only one figure: the test checks its name
    found = result_of(bench, "--json", "--time", "1", "--sweep", "tag",
                      "--only", "tag_%d$" % MIB_16)["figures"]
    expect([figure["name"] for figure in found] == ["tag_%d" % MIB_16],
           "16 MiB is not the last of all sizes: %s" % found)


def sizes_reach_64_mib(bench):
    found = result_of(bench, "--json", "--time", "1", "--sweep", "tag",
                      "--sizes", str(MIB_64))["figures"]
    expect(found[0]["value"] > 0, "64 MiB are not sent: %s" % found)


def names_can_be_whole(bench):
    found = result_of(bench, "--json", "--time", "1", "--only",
                      "get_8$")["figures"]
    expect([figure["name"] for figure in found] == ["get_8"],
           "'get_8$' takes %s" % found)


def wrong_words_are_refused(bench, startup):
    for words in (["--sweep", "what"], ["--sweep", "tag", "--sizes", "0"],
                  ["--sweep", "tag", "--sizes", "1,,2"],
                  ["--sweep", "tag", "--sizes", "-1"],
                  ["--sweep", "tag", "--sizes", "1,"],
                  ["--sweep", "tag", "--sizes", str(MIB_64 + 1)],
                  ["--sweep", "tag", "--sizes", ",".join(["1"] * 257)],
                  ["--sizes", "1"], ["--err-mode", "some"], ["--what"]):
        code, _, err = run(bench, *words)
        expect(code == 2 and err, "%s ends with %d and says '%s'" % (
            words, code, err))
    for words in (["x"], ["1", "2"], ["-5"]):
        code, _, err = run(startup, *words)
        expect(code == 2 and err, "ucp_startup %s ends with %d" % (words,
                                                                   code))


def start_up_is_whole(startup):
    found = result_of(startup)
    parts = found["init"] + found["worker"] + found["first"]
    expect(min(found["init"], found["worker"], found["first"]) > 0,
           "a part of start-up takes no time: %s" % found)
    expect(abs(found["all"] - parts) < 0.01, "the parts are not the whole: %s" %
           found)


def main(bench, startup):
    if len(os.sched_getaffinity(0)) < 2:
        print("two cores are needed")
        return SKIPPED
    wrong_words_are_refused(bench, startup)
    start_up_is_whole(startup)
    names_can_be_whole(bench)
    all_sizes_are_powers_of_two(bench)
    sizes_reach_64_mib(bench)
    sweeps_move_bytes(bench, ["tag", "am", "put", "get", "put_alloc",
                              "get_alloc", "tag_bw", "tag_both"])
    sweeps_move_bytes(bench, ["tag", "am", "get"], "--err-mode", "peer")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
