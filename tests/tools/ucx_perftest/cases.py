#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ucx_perftest: command lines and output, and peers that violate the protocol.

    cases.py PROGRAM CASE"""

import csv
import errno
import io
import json
import os
import signal
import socket
import struct
import sys
import tempfile
import time

from common import FACTOR, Tool, UCP_TESTS, end, expect

SHORT = ("-n", "100", "-w", "10")

# Arguments, exit status, and a part of the message.
MISTAKES = [
    ("-t tag_lta", 2, "did you mean tag_lat"),
    ("-t nonsense", 2, "-h shows them"),
    ("", 2, "which test"),
    ("-t tag_lat -s x", 2, "sizes"),
    ("-t tag_lat -s 1,2,", 2, "sizes"),
    ("-t tag_lat -s 99999999999g", 2, "sizes"),
    ("-t tag_lat -n 0", 2, "from 1"),
    ("-t tag_lat -n -5", 2, "from 1"),
    ("-t tag_lat -n", 2, "needs a value"),
    ("-t tag_lat -T 65", 2, "from 1 to 64"),
    ("-t tag_lat -M both", 2, "single, serialized, multi"),
    ("-t tag_lat -E nap", 2, "poll, sleep"),
    ("-t tag_lat -D round", 2, "contig, iov"),
    ("-t tag_lat -m moon", 2, "host, cuda"),
    ("-t tag_lat -R 101", 2, "up to 100"),
    ("-t tag_lat -R nan", 2, "up to 100"),
    ("-t tag_lat -Q", 2, "unknown option: -Q"),
    ("-t tag_lat --chek", 2, "unknown option: --chek"),
    ("-t tag_lat --check=1", 2, "takes no value"),
    ("-t tag_lat -c 1,x", 2, "processors"),
    ("-t tag_lat --sweep 8", 2, "two sizes"),
    ("-t tag_lat --sweep 8:4", 2, "two sizes"),
    ("-t tag_lat --sweep 1:8 -s 1,2", 2, "exclude"),
    ("-t tag_lat --json - --csv -", 2, "both"),
    ("-t tag_lat -b /nonexistent/file", 2, "cannot read the batch file"),
    ("-t tag_lat host", 2, "starts its own server"),
    ("-t tag_lat -l", 2, "by itself"),
    ("-t tag_lat -x tcp -d lo", 2, "UCX_TLS"),
    ("-t tag_lat -D zcopy", 2, "selects the protocol by itself"),
    ("-t tag_lat -s 8,8 -i 4", 2, "overlap"),
    ("-t am_lat", 2, "need a transport"),
    ("-t am_lat -x tcp", 2, "need a transport"),
    ("-t am_lat -x tcp -d lo -T 2", 2, "one thread"),
    ("-t am_lat -x tcp -d nowhere", 3, "no transport tcp"),
    ("-t fadd -x tcp -d lo -D bcopy", 2, "no layout"),
    ("-t ucp_fadd -s 16", 2, "4 or 8 bytes"),
    ("-t ucp_get -D iov -s 8,8", 2, "one buffer"),
    ("-t stream_lat -s 0", 2, "at least one byte"),
    ("-t ucp_put_lat -E sleep", 2, "no wake-up"),
    ("-t tag_lat -m cuda --check", 2, "host memory only"),
    ("-t tag_lat --json /nonexistent/x", 1, "cannot write"),
]


def options(tool):
    for words, status, text in MISTAKES:
        got, out, err = tool.run("--self-fork", *words.split())
        expect(got == status and text in err, "%s: %d, %s%s" %
               (words, got, out, err))
        expect(err.count("\n") == 1, "%s: one line: %s" % (words, err))
    got, out, err = tool.run("nobody.invalid", "-t", "tag_lat")
    expect(got == 1 and "nobody.invalid" in err, "unknown host: " + err)
    got, out, err = tool.run("127.0.0.1", "-p", "1", "-t", "tag_lat")
    expect(got == 1 and "start ucx_perftest there first" in err,
           "no server: " + err)
    out = tool.good("-h")
    expect(all(" %s " % test in out for test in UCP_TESTS), "help: " + out)


def loopback(tool):
    for test in UCP_TESTS:
        tool.good("-l", "-t", test, *SHORT, "--check")
    tool.good("-l", "-t", "tag_bw", "-U", *SHORT, "--check")
    tool.good("-l", "-t", "tag_bw", "-s", "100000", *SHORT, "--check")
    tool.good("-l", "-t", "am_lat", "-x", "self", "-d", "memory", *SHORT)
    tool.good("-l", "-t", "put_bw", "-x", "self", "-d", "memory", "--check",
              *SHORT)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def batch(tool):
    """Two batch files: each line of the first is run with each line of the
    second."""
    with tempfile.TemporaryDirectory() as folder:
        tests = write(folder, "tests", "# those that count\n\nlat -t tag_lat\n"
                      "bw  -t tag_bw -O 4\n")
        sizes = write(folder, "sizes", "small -s 8\nlarge -s 20000 -n 50\n")
        bad = write(folder, "bad", "one -t tag_lat\ntwo -t tag_lat -n x\n")
        own = write(folder, "own", "one -t tag_lat -p 5\n")
        server, port = tool.serve()
        out = tool.good("127.0.0.1", "-p", port, "-b", tests, "-b", sizes, "-v",
                        "-f", *SHORT)
        status, said, err = end(server)
        expect(status == 0 and err == "", "the server: " + err)
        expect(said.count("Message size: 20000") == 2, "it shows: " + said)
        rows = list(csv.reader(io.StringIO(out)))
        expect([row[:3] for row in rows] ==
               [["tests", "sizes", "iterations"], ["lat", "small", "100"],
                ["lat", "large", "50"], ["bw", "small", "100"],
                ["bw", "large", "50"]], "the rows: " + out)
        for words, place in ((bad, "bad:2:"), (own, "own:1:")):
            status, out, err = tool.run("--self-fork", "-b", words)
            expect(status == 2 and place in err, "its place: " + err)
        status, out, err = tool.run("--self-fork", "-b", sizes)
        expect(status == 2 and "small" in err, "no test named: " + err)
        # A test that is not possible leaves a gap in the table; the other tests
        # are run.
        gap = write(folder, "gap", "no -t ucp_fadd -s 3\nyes -t tag_lat\n")
        status, out, err = tool.run("--self-fork", "-b", gap, "-f", *SHORT)
        expect(status == 3 and "4 or 8 bytes" in err and "yes" in out,
               "a gap: %d %s%s" % (status, out, err))


def files(tool):
    """The output for programs (JSON, CSV), and the table for users."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.json", "a.csv")]
        out = tool.good("--self-fork", "-t", "tag_lat", "--sweep", "1:64",
                        "--json", paths[0], "--csv", paths[1], "--histogram",
                        "--check", *SHORT)
        expect(out.count("Final:") == 7 and "share" in out, "table: " + out)
        with open(paths[0], encoding="utf-8") as file:
            results = json.load(file)["results"]
        with open(paths[1], encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        sizes = [1, 2, 4, 8, 16, 32, 64]
        expect([one["size"] for one in results] == sizes, "sizes in JSON")
        expect([int(row["size"]) for row in rows] == sizes, "sizes in CSV")
        for one, row in zip(results, rows):
            expect(sum(line[2] for line in one["histogram"]) == 100,
                   "the histogram has all")
            expect(abs(float(row["overall_us"]) - one["time_us"]["overall"]) <
                   0.001, "both have the same time")
            # the time is that of one direction: an iteration has two messages
            rate = 1e6 / one["time_us"]["overall"]
            expect(abs(one["messages_per_second"] / rate - 1) < 0.01,
                   "rate and time agree")
            expect(one["environment"].get("UCX_TLS") == "tcp", "environment")
    out = tool.good("--self-fork", "-t", "tag_lat", "-N", "-n", "20000",
                    "-w", "0", "-R", "99.9")
    expect("20,000" in out and "99.9%ile" in out, "numbers: " + out)
    start = time.monotonic()
    out = tool.good("--self-fork", "-t", "tag_lat", "--time", "300", "-f",
                    "-n", "1000000000", "-v")
    expect(time.monotonic() - start < 20 * FACTOR, "--time bounds")
    expect(0 < int(out.split("\n")[1].split(",")[0]) < 1000000000,
           "--time counts: " + out)


def hello():
    return struct.pack("<4sHHI", b"UXPT", 1, 1, 0)


def frame(kind, text=b"", version=1, length=None):
    return struct.pack("<4sHHI", b"UXPT", version, kind, len(text)
                       if length is None else length) + text


STRANGE = [
    b"GET / HTTP/1.0\r\n\r\n", b"\0" * 64, os.urandom(64), b"UXPT",
    frame(1, version=9), frame(1, length=0xffffffff), frame(77),
    frame(2, b"t tag_lat\n"),
]

# Sent after a valid greeting.
ASKED = [
    frame(2, b""), frame(2, b"t tag_lat"), frame(2, b"t nothing\n"),
    frame(2, b"t tag_lat\nn 0\n"), frame(2, b"t tag_lat\ns 99999999999999g\n"),
    frame(2, b"t tag_lat\nT 1000000\n"), frame(2, b"q 1\nt tag_lat\n"),
    frame(2, os.urandom(500)), frame(2, b"x" * 5000 + b"\n"),
    frame(2, b"t tag_lat\n\x1b[31m 1\n"), frame(2, b"t tag_lat\n") +
    frame(7, b"\x1b[31m\xff"),
    frame(2, b"t tag_lat\n") + frame(3, b"\xff" * 100),
    frame(2, b"t tag_lat\n") + frame(3, struct.pack("<IQ", 12, 1 << 60) +
                                     b"1234"),
    frame(2, b"t tag_lat\n") + frame(4, b"5 m"), frame(8) + b"more", frame(5),
    frame(2, b"t tag_lat\n") + frame(3, b"1")[:-1],
]


def say(sock, data):
    """Sends data; the peer may close the connection before it has read
    everything."""
    try:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
    except ConnectionError:
        pass
    except OSError as error:
        expect(error.errno == errno.ENOTCONN, "sending: %s" % error)


def shower(port, data):
    """Connects, sends data, and reads until the peer closes."""
    with socket.create_connection(("127.0.0.1", int(port))) as sock:
        sock.settimeout(30 * FACTOR)
        say(sock, data)
        try:
            while sock.recv(65536):
                pass
        except ConnectionError:
            pass


def strangers(tool):
    server, port = tool.serve("--forever")
    for data in STRANGE:
        shower(port, data)
    for data in ASKED:
        shower(port, hello() + data)
    tool.good("127.0.0.1", "-p", port, "-t", "tag_lat", "--check", *SHORT)
    server.send_signal(signal.SIGTERM)
    status, _, err = end(server)
    expect(status == -signal.SIGTERM, "the server lived on: %d" % status)
    expect(all(c == "\n" or " " <= c <= "~" for c in err),
           "nothing that a terminal obeys: %r" % err)
    expect("does not speak the protocol" in err and "version 9" in err,
           "strangers are told of: " + err)
    # a client whose server violates the protocol
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for answer in STRANGE:
            client = tool.start("127.0.0.1", "-p",
                                str(listener.getsockname()[1]), "-t", "tag_lat")
            sock, _ = listener.accept()
            say(sock, answer)
            status, _, err = end(client)
            sock.close()
            expect(status == 1 and err != "", "a client: %d %s" % (status, err))


def killed(tool, victim, *words):
    server, port = tool.serve()
    client = tool.start("127.0.0.1", "-p", port, "-n", "1000000000", "-w",
                        "10", *words)
    while not client.stdout.readline().startswith("[thread"):
        expect(client.poll() is None, "a line of progress")
    first, other = (server, client) if victim == "server" else (client, server)
    first.kill()
    status, _, err = end(other)
    end(first)
    expect(status == 1 and err != "", "%s of %s: %d %s" %
           (victim, words, status, err))


def gone(tool):
    for victim in ("server", "client"):
        killed(tool, victim, "-t", "tag_lat")
        killed(tool, victim, "-t", "tag_bw")
        killed(tool, victim, "-t", "ucp_get")
        killed(tool, victim, "-t", "tag_lat", "-E", "sleep")
    killed(tool, "server", "-t", "ucp_am_bw", "-T", "2", "-e")
    killed(tool, "server", "-t", "am_lat", "-x", "tcp", "-d", "lo")
    # An operation that needs the other side fails instead of waiting for ever.
    status, _, err = tool.run("--self-fork", "-t", "ucp_get", "-o", *SHORT)
    expect(status == 1 and "leave -o out" in err, "-o: %d %s" % (status, err))


def wrong(tool):
    """A sender without --check sends zeros: a receiver with --check detects this."""
    # The client runs without --check. A proxy between the two processes adds it
    # to the test's description, which the server receives.
    server, port = tool.serve()
    client = tool.start("127.0.0.1", "-p", port, "-t", "tag_lat", "--check",
                        *SHORT)
    end(client)
    end(server)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server, port = tool.serve()
        client = tool.start("127.0.0.1", "-p",
                            str(listener.getsockname()[1]), "-t", "tag_lat",
                            *SHORT)
        inner, _ = listener.accept()
        outer = socket.create_connection(("127.0.0.1", int(port)))
        relay(inner, outer)
        status, _, err = end(client)
        served = end(server)
    expect(status == 4 and "were not what was sent" in err,
           "the client: %d %s" % (status, err))
    expect("is wrong from byte" in served[2], "the server: %s" % (served,))


def relay(inner, outer):
    """Passes frames between the two connections, and adds `check` to the
    description of the test."""
    waiting = {inner: b"", outer: b""}
    while waiting:
        for sock in list(waiting):
            other = outer if sock is inner else inner
            sock.settimeout(0.02)
            try:
                data = sock.recv(65536)
            except TimeoutError:
                continue
            if not data:
                del waiting[sock]
                try:
                    other.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                continue
            waiting[sock] += data
            waiting[sock] = pass_frames(waiting[sock], other)
    inner.close()
    outer.close()


def pass_frames(data, other):
    while len(data) >= 12:
        _, version, kind, length = struct.unpack("<4sHHI", data[:12])
        if len(data) < 12 + length:
            break
        payload = data[12:12 + length]
        if kind == 2:
            payload += b"check\n"
        other.sendall(frame(kind, payload, version))
        data = data[12 + length:]
    return data


def ipv6(tool):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        raise SystemExit(77) from None
    server, port = tool.serve("-6")
    tool.good("::1", "-6", "-p", port, "-t", "tag_lat", *SHORT)
    expect(end(server)[0] == 0, "the server")


def threads(tool):
    """Each thread measures; one line at the end is for all threads."""
    out = tool.good("--self-fork", "-t", "tag_bw", "-T", "3", "-M", "multi",
                    "--json", "-", *SHORT)
    result = json.loads(out)["results"][0]
    expect(result["threads"] == 3 and result["iterations"] == 300,
           "three threads: " + out)


def main():
    path, case = sys.argv[1:]
    variables = {} if case == "loopback" else {"UCX_TLS": "tcp"}
    globals()[case](Tool(path, **variables))


if __name__ == "__main__":
    main()
