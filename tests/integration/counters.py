#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""counters: the library counts exactly the messages and bytes that were sent. A
report at exit shows it, and `ucx_info --live` for a running process. After a
process is killed, no shared memory of its counters is left. For a process
without counters, `ucx_info --live` prints an error.

    counters.py COUNTED UCX-INFO"""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

TAGGED, EARLY, LARGE, SYNC = (100, 8), (10, 100), (5, 1 << 20), (3, 16)
AMS, STREAM_BYTES = (20, 64), 8000
PUTS, GETS, ADDS = (7, 64), (6, 128), 5
MT_SENDS = 2 * 2000
FIRST_WORDS, LAST_WORDS = 3, 4

FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))

failures = []


def expect(what, actual, expected):
    if actual != expected:
        failures.append("%s: %s, expected %s" % (what, actual, expected))


def start(counted, *options, **variables):
    env = dict(os.environ, **variables)
    return subprocess.Popen([counted] + list(options), env=env,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            universal_newlines=True)


def run(command, env=None):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60 * FACTOR,
                          check=False, universal_newlines=True, env=env)


def added(counters, prefix):
    """Sums messages and bytes of all counters whose names begin with prefix."""
    pairs = [value for name, value in counters.items()
             if name.startswith(prefix) and isinstance(value, dict)]
    return (sum(pair["messages"] for pair in pairs),
            sum(pair["bytes"] for pair in pairs))


def volume(*rows):
    return (sum(count for count, _ in rows),
            sum(count * size for count, size in rows))


def check_sender(report):
    sent = report["totals"]["endpoint"]["counters"]
    eager, rndv = added(sent, "eager/"), added(sent, "rndv")
    by_way = added(sent, "rndv_by/")
    rndv = (rndv[0] - by_way[0], rndv[1] - by_way[1])
    expect("tagged messages sent", (eager[0] + rndv[0], eager[1] + rndv[1]),
           volume(TAGGED, EARLY, LARGE, SYNC))
    expect("how the data of rendezvous went", by_way, rndv)
    expect("large messages by rendezvous", rndv, volume(LARGE))
    expect("synchronous sends", sent.get("synchronous"), SYNC[0])
    expect("active messages sent", added(sent, "am/"), volume(AMS))
    expect("bytes of the stream sent", added(sent, "stream/")[1], STREAM_BYTES)
    expect("puts", added(sent, "put/"), volume(PUTS))
    expect("gets", added(sent, "get/"), volume(GETS))
    expect("atomics", sent.get("atomic/direct", 0) + sent.get("atomic/am", 0),
           ADDS)


def check_receiver(report):
    got = report["totals"]["worker"]["counters"]
    tag, rndv = added(got, "recv/tag"), added(got, "recv/rndv")
    expect("tagged messages received", (tag[0] + rndv[0], tag[1] + rndv[1]),
           volume(TAGGED, EARLY, LARGE, SYNC))
    expect("early messages", added(got, "recv/early"), volume(EARLY))
    expect("active messages received", added(got, "recv/am"), volume(AMS))
    expect("bytes of the stream received", added(got, "recv/stream")[1],
           STREAM_BYTES)
    if got["progress"] <= got["progress_empty"]:
        failures.append("all progress was in vain")


def check_lanes(reports):
    """All bytes were sent over the transports of UCX_TLS. The lanes of one side
    sent as many messages as the interfaces of its peer received, except for two
    kinds: the last messages of closing endpoints, whose arrival is not awaited
    (LAST_WORDS), and the first messages of the wire-up, which are sent before
    there are lanes (FIRST_WORDS). In each process lanes have sent and interfaces
    have received over a transport of UCX_TLS, and over no other one: the
    interface of self is open, but its counters must be 0."""
    allowed = os.environ["UCX_TLS"].split(",")
    sent, received = [], []
    for report in reports:
        used = {"lane": set(), "interface": set()}
        for record in report["records"]:
            if record["type"] in used and record["counters"]:
                used[record["type"]].add(record["name"].split("/")[0])
        for kind, names in used.items():
            expect("other transports that a %s has used" % kind,
                   names - set(allowed), set())
            expect("a %s has counted" % kind, bool(names), True)
        lane = added(report["totals"]["lane"]["counters"], "am_")
        sent.append(lane)
        received.append(added(report["totals"]["interface"]["counters"],
                              "received"))
    moved = sum(added(report["totals"]["lane"]["counters"], "")[1]
                for report in reports)
    if moved < volume(TAGGED, EARLY, LARGE, SYNC)[1]:
        failures.append("the lanes moved %d bytes only" % moved)
    for what, (went, _), (came, _) in [("sender", sent[0], received[1]),
                                       ("receiver", sent[1], received[0])]:
        if not came - FIRST_WORDS <= went <= came + LAST_WORDS:
            failures.append("%d messages left the %s's lanes, and %d arrived" %
                            (went, what, came))


def check_reports(sender, receiver):
    check_sender(sender)
    check_receiver(receiver)
    check_lanes([sender, receiver])


def load_reports(folder):
    reports = []
    for path in glob.glob(os.path.join(folder, "*.json")):
        expect("rights of a report", os.stat(path).st_mode & 0o777, 0o600)
        with open(path, encoding="utf-8") as text:
            report = json.load(text)
        # the parent process uses no worker: its report has no counters
        if report["totals"]["worker"]["counters"]:
            reports.append(report)
    return reports


def is_sender(report):
    return bool(added(report["totals"]["endpoint"]["counters"], "eager/")[0])


def test_report_at_exit(counted):
    with tempfile.TemporaryDirectory() as folder:
        process = start(counted, UCX_STATS_DEST="file:%s/%%p.json" % folder)
        process.communicate(timeout=120 * FACTOR)
        expect("exit status", process.returncode, 0)
        reports = load_reports(folder)
    expect("number of reports", len(reports), 2)
    if len(reports) == 2:
        check_reports(*sorted(reports, key=is_sender, reverse=True))


def test_threads(counted):
    with tempfile.TemporaryDirectory() as folder:
        # the timer writes reports: a thread reads counters that others change
        process = start(counted, "--threads",
                        UCX_STATS_DEST="file:%s/%%p.json" % folder,
                        UCX_STATS_TRIGGER="timer:2ms")
        process.communicate(timeout=120 * FACTOR)
        expect("exit status, with threads", process.returncode, 0)
        reports = load_reports(folder)
    expect("number of reports, with threads", len(reports), 2)
    if len(reports) != 2:
        return
    sender, receiver = sorted(reports, key=is_sender, reverse=True)
    expect("messages of threads sent",
           added(sender["totals"]["endpoint"]["counters"], "eager/"),
           volume((MT_SENDS, 8)))
    expect("messages of threads received",
           added(receiver["totals"]["worker"]["counters"], "recv/tag"),
           volume((MT_SENDS, 8)))


def live(ucx_info, pid, *options):
    return run([ucx_info, "--live", str(pid)] + list(options))


def failed_endpoints(ucx_info, pid):
    """Waits for failed endpoints of the process, which calls progress. Returns
    their number, 0 after a timeout."""
    end = time.monotonic() + 20 * FACTOR
    failed = 0
    while failed == 0 and time.monotonic() < end:
        report = json.loads(live(ucx_info, pid, "--json").stdout)["live"][0]
        failed = report["totals"]["worker"]["counters"].get(
            "endpoints_failed", 0)
    return failed


def sees_progress(watch):
    """Returns whether one of the next reports has a rate of progress above 0.
    The process may not run at all between two reports."""
    end = time.monotonic() + 20 * FACTOR
    while time.monotonic() < end:
        view = json.loads(watch.stdout.readline())
        if any(record["rates"]["progress"] > 0 for record in view["records"]
               if record["type"] == "worker"):
            return True
    return False


def nobody():
    """Returns a process id that cannot exist. The id of an ended process would
    not do, because the kernel may use it again."""
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        return int(file.read()) + 1


def test_live(counted, ucx_info):
    process = start(counted, "--pause", UCX_STATS="y")
    pids = [int(word) for word in process.stdout.readline().split()[1:]]
    expect("processes that are ready", len(pids), 2)
    reports = []
    for pid in pids:
        answer = live(ucx_info, pid, "--json")
        expect("status of --live --json", answer.returncode, 0)
        reports += json.loads(answer.stdout)["live"]
    check_reports(*reports)

    for detail, words in [("full", ["worker ", "endpoint ep_", "lane "]),
                          ("agg", ["worker ", "endpoint"]),
                          ("summary", ["endpoint", "lane"])]:
        text = live(ucx_info, pids[0], "--detail", detail).stdout
        for word in words:
            expect("'%s' in %s" % (word, detail), word in text, True)

    watch = subprocess.Popen([ucx_info, "--live", str(pids[0]), "-i", "0.05",
                              "--json"], stdout=subprocess.PIPE,
                             universal_newlines=True)
    first = json.loads(watch.stdout.readline())
    expect("rates at first", "interval" in first, False)
    expect("progress has a rate", sees_progress(watch), True)

    os.kill(pids[1], signal.SIGKILL)
    expect("an endpoint has failed",
           failed_endpoints(ucx_info, pids[0]) > 0, True)
    os.kill(pids[0], signal.SIGKILL)
    watch.communicate(timeout=30 * FACTOR)  # --live ends with the process
    expect("status of the one who watched", watch.returncode, 0)
    process.communicate(timeout=60 * FACTOR)
    answer = live(ucx_info, nobody())
    expect("status of --live of nobody", answer.returncode, 1)
    expect("what it says", "there is no process" in answer.stderr, True)
    # other processes on this machine may have counters at the same time
    expect("what is left", [name for name in os.listdir("/dev/shm")
                            if "stats" in name and
                            any(str(pid) in name for pid in pids)], [])


def test_off(counted, ucx_info):
    process = start(counted, "--pause", UCX_STATS="n")
    pid = int(process.stdout.readline().split()[1])
    answer = live(ucx_info, pid)
    expect("status of --live without counters", answer.returncode, 1)
    expect("what it says of that", "UCX_STATS=y" in answer.stderr, True)
    process.communicate(timeout=60 * FACTOR)
    expect("exit status without counters", process.returncode, 0)


def main():
    counted, ucx_info = sys.argv[1:3]
    os.environ.pop("UCX_STATS", None)
    test_report_at_exit(counted)
    test_threads(counted)
    test_live(counted, ucx_info)
    test_off(counted, ucx_info)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
