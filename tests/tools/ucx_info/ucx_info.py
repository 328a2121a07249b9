#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ucx_info: what it prints is what people and scripts look for.

    ucx_info.py UCX-INFO TCP-PLUGIN-FOLDER NAME

runs the test NAME, one of the functions test_* below. The layout of lines is
held by regular expressions, JSON is parsed and compared with the lines."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
TOOL = ""
TCP_FOLDER = ""
FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))


class Failure(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def run(*arguments, code=0, env=None, timeout=60 * FACTOR):
    """Runs ucx_info, which must exit with `code`; returns its output and
    messages."""
    whole = dict(os.environ, **(env or {}))
    done = subprocess.run([TOOL] + list(arguments), env=whole, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, universal_newlines=True)
    if done.returncode != code:
        raise Failure("ucx_info %s: exit code %d, expected %d\n%s%s" % (
            " ".join(arguments), done.returncode, code, done.stdout,
            done.stderr))
    return done.stdout, done.stderr


def run_json(*arguments, **keywords):
    out, _ = run("--json", *arguments, **keywords)
    answer = json.loads(out)
    check(answer.pop("format") == 1, "the format is not 1")
    return answer


def expect_lines(text, patterns):
    """Checks that each pattern matches a whole line, in this order."""
    lines = text.splitlines()
    at = 0
    for pattern in patterns:
        while at < len(lines) and not re.fullmatch(pattern, lines[at]):
            at += 1
        if at == len(lines):
            raise Failure("no line (in this order) like\n    %s\nin\n%s" % (
                pattern, text))
        at += 1


# ---------------------------------------------------------------- layout --

DEVICE = [
    r"#",
    r"# Memory domain: tcp",
    r"#     Component: tcp",
    r"#             register: unlimited, cost: \d+ nsec",
    r"#           remote key: \d+ bytes",
    r"#         memory types: host \([a-z,]+\)",
    r"#",
    r"#      Transport: tcp",
    r"#         Device: lo",
    r"#           Type: network",
    r"#  System device: <unknown>",
    r"#",
    r"#      capabilities:",
    r"#            bandwidth: \d+\.\d\d/ppn \+ \d+\.\d\d MB/sec",
    r"#              latency: \d+ nsec",
    r"#             overhead: \d+ nsec",
    r"#            put_short: <= \d+[KMG]?",
    r"#            put_bcopy: <= \d+[KMG]?",
    r"#            put_zcopy: (unlimited|<= \d+[KMG]?), up to \d+ iov",
    r"#  put_opt_zcopy_align: <= \d+",
    r"#        put_align_mtu: <= \d+",
    r"#            get_bcopy: (unlimited|<= \d+[KMG]?)",
    r"#             am_short: <= \d+[KMG]?",
    r"#             am_bcopy: <= \d+[KMG]?",
    r"#             am_zcopy: <= \d+[KMG]?, up to \d+ iov",
    r"#   am_opt_zcopy_align: <= \d+",
    r"#         am_align_mtu: <= \d+",
    r"#            am header: <= \d+[KMG]?",
    r"#           connection: to iface",
    r"#      device priority: \d+",
    r"#     device num paths: \d+",
    r"#              max eps: (inf|\d+)",
    r"#       device address: \d+ bytes",
    r"#        iface address: \d+ bytes",
    r"#       error handling: .*peer failure.*",
    r"#               events: .*receive.*",
    r"#",
    r"# Connection manager: tcp",
    r"#      max_conn_priv: \d+ bytes",
    r"#",
]

ATOMICS = [
    r"# Memory domain: self",
    r"#      Transport: self",
    r"#           Type: loopback",
    r"#               domain: cpu",
    r"#           atomic_add: 32, 64 bit",
    r"#         atomic_cswap: 32, 64 bit",
    r"# Memory domain: posix",
    r"#             allocate: (unlimited|<= \d+[KMG]?)",
    r"#           rkey_ptr is supported",
    r"#      Transport: posix",
    r"#           Type: intra-node",
    r"# Memory domain: tcp",
]

CONTEXT = [
    r"# UCP context",
    r"#",
    r"#     component 0  :  self",
    r"#            md 0  :  component 0  self ",
    r"#      resource 0  :  md 0  dev 0  flags -- self/memory",
    r"#      resource \d+ *:  md \d+ +dev \d+ +flags -- tcp/lo",
    r"# memory: \d+\.\d\dMB, file descriptors: -?\d+",
    r"# create time: \d+\.\d\d\d ms",
    r"#",
]

WORKER = [
    r"# UCP worker '.*'",
    r"#                 address: \d+ bytes",
    r"# memory: \d+\.\d\dMB, file descriptors: -?\d+",
    r"# create time: \d+\.\d\d\d ms",
]

ENDPOINT = [
    r"# UCP endpoint ?",
    r"#               peer: .*",
    r"#                 lane\[0\]: +\d+:\w+/\w+\.\d md\[\d+\] +-> md\[\d+\]/"
    r"\w+/sysdev\[\d+\] .*\bam\b.*",
    r"#                tag_send: 0\.\.<egr/short>\.\.\d+\.\.(<.*)?<rndv>\.\."
    r"\(inf\)",
]

MEMORY = [
    r"# UCP memory allocation",
    r"#  allocated 1M at address 0x[0-9a-f]+ with \w+, pagesize: \d+K",
    r"#  registered on: .*",
]

VERSION = [
    r"# Library version: \d+\.\d+\.\d+",
    r"# Library path: /.*libucp-core\.so.*",
    r"# API headers version: \d+\.\d+",
    r"# Plugin ABI version: \d+\.\d+",
    r"# Git revision: \w+",
    r"# Configured with: .+",
]

SYSTEM = [
    r"# Timer frequency: \d+\.\d\d\d MHz",
    r"# CPU vendor: .+",
    r"# CPU model: .+",
    r"# CPUs: \d+, of these for this process: \d+",
    r"# Host: .+",
]


def test_layout():
    out, _ = run("-d", "-t", "tcp")
    expect_lines(out, DEVICE)
    check("Transport: posix" not in out, "-t tcp shows posix")
    out, _ = run("-d")
    expect_lines(out, ATOMICS)
    out, _ = run("-p", "-u", "t")
    expect_lines(out, CONTEXT)
    out, _ = run("-w", "-u", "t")
    expect_lines(out, WORKER)
    out, _ = run("-e", "-u", "t")
    expect_lines(out, ENDPOINT)
    out, _ = run("-m", "1M", "-u", "r")
    expect_lines(out, MEMORY)
    out, _ = run("-v")
    expect_lines(out, VERSION)
    out, _ = run("-s")
    expect_lines(out, SYSTEM)
    out, _ = run("-b")
    expect_lines(out, [r"#define UCX_VERSION +\"\d+\.\d+\.\d+\"",
                       r"#define UCX_PLUGIN_DIR +\"/.*\""])
    out, _ = run("-y")
    expect_lines(out, [r"UCS:", r"    sizeof\(ucs_mpool_t\) = \.{2,} \d+",
                       r"UCP:", r"    sizeof\(ucp_ep_t\) = \.{2,} \d+"])
    out, _ = run("-M")
    expect_lines(out, [r"# Memcpy bandwidth:",
                       r"# +4096 bytes: \d+\.\d\d\d MB/s"])
    out, _ = run("-T")
    expect_lines(out, [r"# System topology:"])
    # several options at once: the output is in the order of the help
    out, _ = run("-dv")
    check(out.index("Library version") < out.index("Memory domain"),
          "-dv is out of order")


# ------------------------------------------------------------------ json --

def transports(devices):
    return [(tl["transport"], tl["device"])
            for component in devices["components"]
            for md in component["memory_domains"] for tl in md["transports"]]


def test_json():
    answer = run_json("-vbysTMcdpwe", "-m", "64K", "-u", "tr")
    check(sorted(answer) == sorted([
        "version", "build", "types", "system", "topology", "copy", "config",
        "devices", "context", "worker", "endpoint", "memory"]),
          "members: %s" % sorted(answer))

    out, _ = run("-d")
    lines = list(zip(re.findall(r"^#      Transport: (\S+)$", out, re.M),
                     re.findall(r"^#         Device: (\S+)$", out, re.M)))
    check(transports(answer["devices"]) == lines,
          "other devices in lines (%s) than in JSON (%s)" % (
              lines, transports(answer["devices"])))
    for component in answer["devices"]["components"]:
        for md in component["memory_domains"]:
            check("host" in md["memory_types"], "no host memory: %s" % md)
            for tl in md["transports"]:
                caps = tl["capabilities"]
                # the cost of a copy by the kernel is its call, an overhead
                check(caps["latency"]["ns"] > 0 or
                      (tl["transport"] == "cma" and caps["overhead_ns"] > 0),
                      "no latency: %s" % tl)
                check(caps["connection"], "connects to nothing: %s" % tl)

    context = answer["context"]
    check(set(lines) == {(r["transport"], r["device"])
                         for r in context["resources"]},
          "the context uses other devices than there are")
    for resource in context["resources"]:
        check(resource["domain"] < len(context["domains"]), "a domain")
    check(answer["worker"]["address_bytes"] > 0, "no address")
    check(answer["worker"]["interfaces"]["messages"], "no interfaces")

    endpoint = answer["endpoint"]
    check(endpoint["lanes"][0]["lane"] == 0, "lane 0")
    check("am" in endpoint["lanes"][0]["uses"], "lane 0 has no messages")
    ranges = endpoint["protocols"]["tag_send"]
    check(ranges[0]["from"] == 0 and ranges[-1]["to"] is None, "the ends")
    for one, next_one in zip(ranges, ranges[1:]):
        check(one["to"] + 1 == next_one["from"], "a gap in %s" % ranges)
    times = [row["time_us"] for row in endpoint["estimates"]]
    check(len(times) > 5 and times[-1] > times[0] > 0, "times: %s" % times)
    check(answer["memory"]["method"] and answer["memory"]["registered_on"],
          "memory: %s" % answer["memory"])
    check(answer["version"]["library"].startswith("1."), "the version")
    check(answer["build"]["UCX_VERSION"] == answer["version"]["library"],
          "two versions")
    check(answer["types"]["UCP"]["ucp_ep_t"] > 64, "a small endpoint")
    check(answer["copy"][0]["bytes"] == 4096, "the smallest copy")
    check(answer["system"]["cpus_online"] >= 1, "no processors")


# --------------------------------------------------------------- options --

# Scripts use these letters with other implementations as well, with the same
# meaning.
LETTERS = {"v": "version", "d": "devices", "b": "build", "y": "types",
           "s": "system", "c": "config", "C": "comment", "a": "all",
           "f": "full", "p": "context", "w": "worker", "e": "endpoint",
           "m": "memory", "u": "features", "t": "transport", "n": "num-eps",
           "N": "num-ppn", "D": "device-type", "P": "place", "A": "address",
           "6": "ipv6", "T": "topology", "M": "copy", "h": "help"}


def test_options():
    usage = run("-h")[0]
    for letter, name in LETTERS.items():
        check(re.search(r"^ +-%s, --%s\b" % (letter, name), usage, re.M),
              "-%s is not --%s in\n%s" % (letter, name, usage))
    for mode in ["-v", "--version", "-b", "--build", "-y", "--types", "-s",
                 "--system", "-T", "--topology", "-c", "--config", "-d",
                 "--devices"]:
        out, err = run(mode)
        check(out and not err, "%s says %s" % (mode, err or "nothing"))
    for mode in ["-p", "--context", "-w", "--worker", "-e", "--endpoint"]:
        out, err = run(mode, "--features", "tramsw")
        check(out and not err, "%s says %s" % (mode, err or "nothing"))
    out, _ = run("--memory=64K", "-ur")
    expect_lines(out, [r"#  allocated 64K at .*"])

    out, _ = run("-h")
    check(run("--help")[0] == out, "--help is not -h")
    check(len(out.splitlines()) < 70, "a long help")
    check(max(len(line) for line in out.splitlines()) <= 80, "a wide help")
    for name in re.findall(r"--[a-z]+[a-z-]*", out):
        check(name in out, name)

    out, _ = run("-p", "-u", "t", "-D", "shm")
    check("posix/" in out and "tcp/" not in out, "-D shm: %s" % out)
    out, _ = run("-p", "-u", "t", "-D", "net")
    check("posix/" not in out and "tcp/" in out, "-D net: %s" % out)
    out, _ = run("-p", "-u", "t", "-D", "self")
    check("posix/" not in out and "tcp/" not in out, "-D self: %s" % out)
    out, _ = run("-p", "-u", "t", "-D", "shm",
                 env={"UCX_TLS": "sysv,tcp"})
    check("sysv/" in out and "posix/" not in out and "tcp/" not in out,
          "-D shm with UCX_TLS: %s" % out)
    out, _ = run("-d", "-D", "shm")
    check("Transport: posix" in out and "Transport: tcp" not in out,
          "-d -D shm: %s" % out)
    out, _ = run("-d", "-t", "shm")
    check(re.findall(r"Transport: (\w+)", out) == ["posix", "sysv", "cma"],
          "the alias shm: %s" % out)
    run("-p", "-u", "t", "-n", "1000", "-N", "64")
    out, _ = run("-e", "-u", "te")
    check("keepalive" in out, "-u e: %s" % out)

    # with -f also every protocol, and estimates
    out, _ = run("-e", "-u", "t", "-f")
    expect_lines(out, [r"tag_send +contig +0\.\..*",
                       r"# UCP endpoint ?",
                       r"# +message size: estimated time, bandwidth",
                       r"# +8: \d+\.\d\d\d usec, \d+\.\d MB/sec"])
    # the estimates must not be printed into JSON
    run_json("-e", "-u", "t", "-f", env={"UCX_PROTO_INFO": "y"})
    # without -f they are logged like other messages
    out, err = run("-e", "-u", "t", env={"UCX_PROTO_INFO": "y"})
    check("tag_send" in err, "no tables in the log: %s" % err)
    check(not re.search(r"^tag_send ", out, re.M), "in the output: %s" % out)

    out, _ = run("-e", "-u", "t", "-A", "127.0.0.1")
    expect_lines(out, [r"# UCP endpoint ?", r"# +lane\[0\]: .*"])
    if os.path.exists("/proc/sys/net/ipv6/conf/lo/disable_ipv6"):
        with open("/proc/sys/net/ipv6/conf/lo/disable_ipv6",
                  encoding="ascii") as flag:
            if flag.read().strip() == "0":
                run("-e", "-u", "t", "-6", "-A", "::1")


# ---------------------------------------------------------------- errors --

ERRORS = [
    # arguments, exit code, pattern of the message
    ([], 2, r"nothing to show"),
    (["--json"], 2, r"nothing to show"),
    (["-q"], 2, r"unknown option -q"),
    (["-V"], 2, r"did you mean -v\?"),
    (["--devces"], 2, r"did you mean --devices\?"),
    (["--nonsense-at-all"], 2, r"unknown option --nonsense-at-all"),
    (["-d", "foo"], 2, r"unexpected argument 'foo'"),
    (["-p"], 2, r"add -u t"),
    (["-e"], 2, r"add -u t"),
    (["-m", "1M"], 2, r"add -u t"),
    (["-m"], 2, r"-m needs an argument"),
    (["-m", "1Q", "-u", "t"], 2, r"takes a size"),
    (["-m", "inf", "-u", "t"], 2, r"takes a size"),
    (["-m", "-1", "-u", "t"], 2, r"takes a size"),
    (["-m", "", "-u", "t"], 2, r"takes a size"),
    (["-p", "-u", "z"], 2, r"not 'z'"),
    (["-p", "-u", "we"], 2, r"names no feature"),
    (["-p", "-u", ""], 2, r"names no feature"),
    (["-p", "-u", "t", "-D", "sm"], 2, r"did you mean shm\?"),
    (["-e", "-u", "t", "-P", "intar"], 2, r"did you mean intra\?"),
    (["-p", "-u", "t", "-n", "x"], 2, r"takes a number"),
    (["-p", "-u", "t", "-n", "-5"], 2, r"takes a number"),
    (["-p", "-u", "t", "-N", "99999999999999999999"], 2, r"takes a number"),
    (["-p", "-u", "t", "-P", "intra"], 2, r"add -e"),
    (["-v", "-t", "tcp"], 2, r"-t needs -d or -c"),
    (["-e", "-u", "t", "-P", "intra", "-A", "127.0.0.1"], 2,
     r"exclude each other"),
    (["-e", "-u", "t", "--listen", "--connect", "x"], 2,
     r"exclude each other"),
    (["-d", "-t", "tpc"], 1, r"did you mean \"tcp\"\?"),
    (["-d", "-t", "tcp", "-D", "shm"], 1, r"no device of the type"),
    (["-c", "-t", "nonsense"], 1, r"no plugin offers"),
    (["-e", "-u", "t", "-A", "foo"], 1, r"takes an IP address"),
    (["-e", "-u", "t", "-6", "-A", "127.0.0.1"], 1, r"IPv6"),
    (["-e", "-u", "t", "-A", "192.0.2.1"], 1, r"address of this machine"),
    (["-e", "-u", "t", "--connect", "127.0.0.1:1"], 1, r"--listen` run there"),
    (["-e", "-u", "t", "--connect", "127.0.0.1:99999"], 1, r"HOST\[:PORT\]"),
    (["-e", "-u", "t", "--connect", ""], 1, r"HOST\[:PORT\]"),
    (["-e", "-u", "t", "--listen=[::1"], 1, r"\[IP:\]PORT"),
    (["-e", "-u", "t", "--listen=192.0.2.1:0"], 1, r"cannot listen"),
    (["-e", "-u", "t", "-P", "inter", "-D", "shm"], 1, r"no transport is left"),
    (["-m", "1M,nonsense", "-u", "t"], 1, r""),
]


def test_errors():
    for arguments, code, pattern in ERRORS:
        out, err = run(*arguments, code=code)
        check(re.search(pattern, err), "ucx_info %s says\n%s%s" % (
            " ".join(arguments), out, err))
        check(code != 2 or not out, "%s prints %s" % (arguments, out))
    # in JSON, the member of a step that failed is missing, and the exit code is
    # not 0
    answer = run_json("-v", "-e", "-u", "t", "-A", "foo", code=1)
    check("version" in answer and "endpoint" not in answer, "%s" % answer)
    # an output that cannot be written
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([TOOL, "-d"], stdout=full,
                              stderr=subprocess.PIPE, check=False)
    check(done.returncode == 1, "a full disk goes unnoticed")


# ---------------------------------------------------------------- config --

def variables(text):
    return dict(line.split("=", 1) for line in text.splitlines()
                if "=" in line and not line.startswith("#"))


def test_config():
    out, _ = run("-c", env={"UCX_TLS": "tcp,self"})
    check(variables(out)["UCX_TLS"] == "tcp,self", "UCX_TLS: %s" % out)
    check({"UCX_TCP_TX_SEG_SIZE", "UCX_POSIX_DIR", "UCX_CMA_BW"} <=
          set(variables(out)), "variables of plugins lack: %s" % out)

    out, _ = run("-c", "-t", "tcp")
    shown = set(variables(out))
    check("UCX_TCP_TX_SEG_SIZE" in shown, "-c -t tcp: %s" % out)
    check(re.search(r"^# UCX_POSIX_\*.* plugin shm", out, re.M),
          "nothing points to the variables of shm: %s" % out)
    check(not any(name.startswith("UCX_POSIX_") for name in shown),
          "variables of a plugin that is not asked for: %s" % out)
    out, _ = run("-c", "-t", "tcp", "-a")
    check(shown <= set(variables(out)), "-a shows less")
    out, _ = run("-c", "-f")
    expect_lines(out, [r"# UCX library configuration file", r"# UCP context",
                       r"# Default: all", r"UCX_TLS=all"])
    out, _ = run("-c", "-C", env={"UCX_NUM_EPS": "17"})
    check(variables(out) == {
        name: value for name, value in variables(out).items()
        if name in ("UCX_NUM_EPS", "UCX_PLUGIN_PATH", "UCX_LOG_LEVEL")},
          "-C leaves defaults: %s" % variables(out))
    check(re.search(r"^# UCX_TLS=all$", out, re.M), "-C: %s" % out)

    out, _ = run("-c", "--prefix", "MINE", env={"MINE_UCX_TLS": "self",
                                                 "UCX_TLS": "tcp"})
    check(variables(out)["MINE_UCX_TLS"] == "self", "--prefix: %s" % out)

    # the output of -c is a valid configuration file
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "ucx.conf"), "w",
                  encoding="utf-8") as conf:
            conf.write(run("-c", "-f", env={"UCX_NUM_EPS": "23"})[0])
        out, _ = run("-c", env={"UCX_CONFIG_DIR": folder})
        check(variables(out)["UCX_NUM_EPS"] == "23", "read back: %s" % out)

    # for a plugin that cannot be loaded -c prints a message, and the variables
    # of all others
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                    "integration"))
    import lazy_loading as lazy
    with tempfile.TemporaryDirectory() as root:
        lazy.make_plugins(root, TCP_FOLDER, lazy.find_tcp(TCP_FOLDER))
        out, err = run("-c", code=1, env={"UCX_PLUGIN_PATH": root})
        check("UCX_TCP_TX_SEG_SIZE" in variables(out), "beside: %s" % out)
        for name in lazy.DECOYS:
            check("%s cannot be loaded" % name in err, "of %s: %s" % (name, err))

    # an invalid value is an error, and the message names the variable
    _, err = run("-c", code=1, env={"UCX_NUM_EPS": "nonsense"})
    check("UCX_NUM_EPS" in err, "a bad value: %s" % err)

    answer = run_json("-c", "-t", "tcp", env={"UCX_NUM_EPS": "42"})["config"]
    by_name = {item["name"]: item for item in answer["variables"]}
    item = by_name["UCX_NUM_EPS"]
    check(item["value"] == "42" and item["default"] == "auto" and item["help"]
          and item["type"] and not item["hidden"], "%s" % item)
    check(shown <= set(by_name), "JSON lacks %s" % (shown - set(by_name)))
    check({"plugin": "shm", "prefixes": ["UCX_POSIX_", "UCX_SYSV_",
                                         "UCX_CMA_"]} in answer["not_loaded"],
          "%s" % answer["not_loaded"])


# ----------------------------------------------------------------- peers --

def lanes(out):
    return re.findall(r"lane\[\d+\]:\s+\d+:(\w+)/(\w+)\.\d", out)


def start_listener(where, *arguments, wrapper=()):
    """Starts a ucx_info that waits for a peer; returns it and its port when it
    waits."""
    listener = subprocess.Popen(
        list(wrapper) + [TOOL, "-e", "--listen=" + where] + list(arguments),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True)
    line = listener.stderr.readline()
    said = re.search(r"waiting on port (\d+) ", line)
    check(said and said.group(1) != "0", "the listener says %s" % line)
    return listener, int(said.group(1))


def start_local(features):
    """Starts a listener at a free port of this machine; returns it and its
    address."""
    listener, port = start_listener("127.0.0.1:0", "-u", features)
    return listener, "127.0.0.1:%d" % port


def finish(process, code=0):
    out, err = process.communicate(timeout=60 * FACTOR)
    if process.returncode != code:
        raise Failure("exit code %d, expected %d\n%s%s" % (
            process.returncode, code, out, err))
    return out, err


def test_peers():
    import socket
    out, _ = run("-e", "-u", "tr", "-P", "intra")
    check(lanes(out)[0][0] == "posix", "-P intra: %s" % out)
    out, _ = run("-e", "-u", "tr", "-P", "intra", env={"UCX_TLS": "tcp"})
    check({tl for tl, _ in lanes(out)} == {"tcp"}, "intra by tcp: %s" % out)
    out, _ = run("-e", "-u", "t", "-P", "inter")
    check({tl for tl, _ in lanes(out)} == {"tcp"}, "-P inter: %s" % out)
    check(run_json("-e", "-u", "t", "-P", "intra")["endpoint"]["lanes"],
          "intra has no lanes in JSON")

    listener, where = start_local("tr")
    out, _ = run("-e", "-u", "tr", "--connect", where)
    theirs, _ = finish(listener)
    check(lanes(out) and lanes(out) == lanes(theirs),
          "lanes of the two ends: %s and %s" % (lanes(out), lanes(theirs)))

    # different features: both ends report this
    listener, where = start_local("r")
    _, err = run("-e", "-u", "t", "--connect", where, code=1)
    check("same letters" in err, "other features: %s" % err)
    _, err = finish(listener, 1)
    check("same letters" in err, "other features: %s" % err)

    # strangers: invalid data, a closed connection, an invalid length
    hello = b"ucxinfo1" + (1).to_bytes(8, "little")
    for noise in [b"GET / HTTP/1.0\r\n\r\n" + b"x" * 64, b"",
                  hello + (2 ** 60).to_bytes(8, "little"),
                  hello + (64).to_bytes(8, "little") + b"\xff" * 64,
                  hello + (64).to_bytes(8, "little") + b"\0"]:
        listener, port = start_listener("127.0.0.1:0", "-u", "t")
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            try: # the listener may have reset the connection at any time
                stranger.sendall(noise)
                stranger.shutdown(socket.SHUT_WR)
                while stranger.recv(4096):
                    pass
            except OSError:
                pass
        _, err = finish(listener, 1)
        check(err.strip(), "nothing is said of %s" % noise)

    # a peer that disconnects during the exchange
    listener, port = start_listener("127.0.0.1:0", "-u", "t")
    stranger = socket.create_connection(("127.0.0.1", port))
    stranger.recv(24)
    stranger.close()
    finish(listener, 1)
    listener, _ = start_local("t")
    listener.send_signal(signal.SIGTERM)
    listener.wait(timeout=60 * FACTOR)
    listener.stdout.close()
    listener.stderr.close()


# ----------------------------------------------------------------- hosts --

def netns(name, *command):
    return ["ip", "netns", "exec", name] + list(command)


def wait_for_carrier(name, cable):
    """Waits until the cable is up: it transfers nothing before both ends are up."""
    end = time.monotonic() + 20 * FACTOR
    while "state UP" not in subprocess.run(
            ["ip", "-n", name, "link", "show", "dev", cable], check=True,
            stdout=subprocess.PIPE, universal_newlines=True).stdout:
        check(time.monotonic() < end, "the cable does not come up")


def test_hosts():
    """Creates two network namespaces that are connected by a virtual cable, in
    place of two machines."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        print("no root or no ip here: there is but one machine")
        sys.exit(SKIPPED)
    names = ["ucxinfo-%d-%s" % (os.getpid(), side) for side in "ab"]
    cables = ["ui%d%s" % (os.getpid(), side) for side in "ab"]

    def ip(*arguments):
        return subprocess.run(["ip"] + list(arguments), check=False,
                              stderr=subprocess.PIPE).returncode == 0

    try:
        if not all(ip("netns", "add", name) for name in names):
            print("no network namespaces here")
            sys.exit(SKIPPED)
        check(ip("link", "add", cables[0], "netns", names[0], "type", "veth",
                 "peer", "name", cables[1], "netns", names[1]), "a cable")
        for index, name in enumerate(names):
            check(ip("-n", name, "address", "add", "10.77.5.%d/24" %
                     (index + 1), "dev", cables[index]), "an address")
            check(ip("-n", name, "link", "set", cables[index], "up") and
                  ip("-n", name, "link", "set", "lo", "up"), "a link")
        for name, cable in zip(names, cables):
            wait_for_carrier(name, cable)
        # without shared memory, because both namespaces are on one machine
        os.environ["UCX_TLS"] = "tcp"
        listener, port = start_listener("", "-u", "t",
                                        wrapper=netns(names[0]))
        check(port == 13337, "the usual port is now %d" % port)
        done = subprocess.run(
            netns(names[1], TOOL, "-e", "-u", "t", "--connect", "10.77.5.1"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=60 * FACTOR, check=False, universal_newlines=True)
        check(done.returncode == 0, "connect: %s" % done.stderr)
        theirs, _ = finish(listener)
        check(("tcp", cables[1]) in lanes(done.stdout),
              "the cable is not used: %s" % done.stdout)
        check(("tcp", cables[0]) in lanes(theirs),
              "the cable is not used: %s" % theirs)
    finally:
        for name in names:
            ip("netns", "delete", name)


# --------------------------------------------------------------- loading --

def test_loading():
    """Only the plugins that are shown are loaded."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                    "integration"))
    import lazy_loading as lazy

    if not lazy.can_trace():
        sys.exit(SKIPPED)
    root = tempfile.mkdtemp()
    # the leak checker does not work in a process that is traced
    env = dict(os.environ, UCX_PLUGIN_PATH=root,
               ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") +
               ":detect_leaks=0")
    every = sorted(["tcp"] + lazy.DECOYS)
    cases = [("-v", []), ("-b", []), ("-y", []), ("-s", []), ("-T", []),
             ("-c", every), ("-c -a -f", every), ("-vbysc --json", every),
             ("-d -t tcp", ["tcp"]), ("-c -t tcp", ["tcp"]),
             ("-d -t alpha", ["alpha"]), ("-d -D self", []),
             ("-d", every), ("-p -u t -D self", []), ("-p -u t", every)]
    try:
        lazy.make_plugins(root, TCP_FOLDER, lazy.find_tcp(TCP_FOLDER))
        for index, (arguments, expected) in enumerate(cases):
            prefix = os.path.join(root, "trace-%d-" % index)
            # the code of a decoy plugin does not match its manifest: ignore the
            # error
            subprocess.run(["strace", "-ff", "-y", "-o", prefix, "-e",
                            "trace=mmap", TOOL] + arguments.split(), env=env,
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            lazy.check("ucx_info %s has mapped" % arguments,
                       lazy.plugins_in(lazy.mapped_files(prefix), root),
                       expected)
    finally:
        shutil.rmtree(root)


def test_opens():
    """No file of a plugin is opened more often than necessary, because such
    calls make a start slow."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                    "integration"))
    import lazy_loading as lazy

    if not lazy.can_trace():
        sys.exit(SKIPPED)
    root = tempfile.mkdtemp()
    env = dict(os.environ, UCX_PLUGIN_PATH=root,
               ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") +
               ":detect_leaks=0")
    # arguments, number of opens of each manifest, of each library, of the
    # library of tcp
    cases = [("-v", 0, 0, 0), ("-b -y -s -T", 0, 0, 0), ("-c", 1, 2, 2),
             ("-c -t tcp", 1, 1, 2), ("-d -D self", 1, 1, 1),
             ("-d -t tcp", 1, 1, 2),
             ("-p -u t -D self", 1, 1, 1)]
    try:
        lazy.make_plugins(root, TCP_FOLDER, lazy.find_tcp(TCP_FOLDER))
        for arguments, manifests, libraries, tcp in cases:
            trace = os.path.join(root, "trace")
            subprocess.run(["strace", "-f", "-o", trace, "-e", "trace=openat",
                            TOOL] + arguments.split(), env=env,
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            with open(trace, encoding="utf-8", errors="replace") as text:
                opened = re.findall(r'"(%s/[^"]*)", (?!.*O_PATH)' %
                                    re.escape(root), text.read())
            for name in ["tcp"] + lazy.DECOYS:
                found = (opened.count("%s/%s/%s.json" % (root, name, name)),
                         opened.count("%s/%s/libucx-%s.so" % (root, name,
                                                              name)))
                expected = (manifests, tcp if name == "tcp" else libraries)
                check(found == expected,
                      "ucx_info %s opens the manifest and the library of %s "
                      "%s times, expected %s" % (arguments, name, found,
                                                 expected))
    finally:
        shutil.rmtree(root)


def main():
    global TOOL, TCP_FOLDER
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    TOOL, TCP_FOLDER, name = sys.argv[1:]
    for variable in list(os.environ):
        if variable.startswith("UCX_") and variable not in (
                "UCX_PLUGIN_PATH", "UCX_LOG_LEVEL"):
            del os.environ[variable]
    started = time.monotonic()
    try:
        globals()["test_" + name]()
    except Failure as failure:
        sys.exit("ucx_info, %s: %s" % (name, failure))
    print("ucx_info, %s: all is as it should be (%.1f s)" % (
        name, time.monotonic() - started))


if __name__ == "__main__":
    main()
