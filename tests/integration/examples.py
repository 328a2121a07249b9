#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""examples: two processes of hello exchange a message. ucx_cp copies files with
sizes around its limits, keeps their permissions, rejects invalid requests, and
leaves no incomplete file under the final name when either side is interrupted or
killed.

With the library of stopping.c and the folder of the example plugin udp, it also
interrupts a receiver whose sender hangs.

    examples.py FOLDER-OF-THE-EXAMPLES [LIBRARY FOLDER-OF-UDP]"""

import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

CHUNK = 64 * 1024
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 8 * CHUNK, 8 * CHUNK + 1,
         5 * 1024 * 1024 + 3, 32 * 1024 * 1024]
FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))


def expect(condition, what):
    if not condition:
        raise SystemExit("examples: " + what)


class Program:
    """A running program. Its first line of output ends with its port."""

    def __init__(self, *command, **variables):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            universal_newlines=True, env={**os.environ, **variables})
        self.first = self.process.stdout.readline()
        expect(self.first.split(), "%s said nothing" % command[0])
        self.port = self.first.split()[-1]

    def end(self):
        try:
            said, _ = self.process.communicate(timeout=30 * FACTOR)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise SystemExit("%s does not end" % self.process.args)
        return self.process.returncode, said


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60 * FACTOR,
                          universal_newlines=True, check=False)
    return done.returncode, done.stdout


def hello_greets(folder):
    hello = os.path.join(folder, "hello")
    waiting = Program(hello, "-", "0")
    code, said = run(hello, "127.0.0.1", waiting.port)
    other_code, other_said = waiting.end()
    expect(code == 0 and other_code == 0, said + other_said)
    for text in (said, other_said):
        expect("received: hello from process" in text, "no greeting: " + text)
    with socket.socket() as nobody:  # reserves the port and does not listen
        nobody.bind(("127.0.0.1", 0))
        code, said = run(hello, "127.0.0.1", str(nobody.getsockname()[1]))
    expect(code == 1 and "cannot connect" in said, "nobody waits: " + said)


def copies(ucx_cp, work, generator):
    inbox = os.path.join(work, "inbox")
    for number, size in enumerate(SIZES):
        path = os.path.join(work, "file%d" % number)
        content = generator.randbytes(size)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o640)
        receiver = Program(ucx_cp, "receive", "-p", "0", inbox)
        code, said = run(ucx_cp, "send", "-c", str(CHUNK), "-p",
                         receiver.port, path)
        other_code, other_said = receiver.end()
        expect(code == 0 and other_code == 0, said + other_said)
        copy = os.path.join(inbox, os.path.basename(path))
        with open(copy, "rb") as file:
            expect(file.read() == content, "%d bytes: a wrong copy" % size)
        expect(os.stat(copy).st_mode & 0o777 == 0o640 & ~current_umask(),
               "the permissions are wrong")
        # Sender and receiver print the checksum that each has computed.
        expect(said.split()[-1] == other_said.split()[-1], "two checksums")


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def checksum_is_xxh64(ucx_cp, work):
    """Published values of XXH64 with seed 0."""
    inbox = os.path.join(work, "hashes")
    os.mkdir(inbox)
    for content, digits in [(b"", "ef46db3751d8e999"),
                            (b"a", "d24ec4f1a98c6e5b"),
                            (b"abc", "44bc2cf5ad770999")]:
        path = os.path.join(work, "hashed")
        with open(path, "wb") as file:
            file.write(content)
        receiver = Program(ucx_cp, "receive", "-r", "-p", "0", inbox)
        code, said = run(ucx_cp, "send", "-p", receiver.port, path)
        receiver.end()
        expect(code == 0 and said.split()[-1] == digits,
               "xxh64 of %r: %s" % (content, said))


def refuses(ucx_cp, work):
    inbox = os.path.join(work, "inbox")
    path = os.path.join(work, "file1")
    before = sorted(os.listdir(inbox))
    # a file that already exists
    receiver = Program(ucx_cp, "receive", "-p", "0", inbox)
    code, said = run(ucx_cp, "send", "-p", receiver.port, path)
    other_code, _ = receiver.end()
    expect(code == 1 and other_code == 1 and "--replace" in said, said)
    # with -r, an existing file is replaced
    receiver = Program(ucx_cp, "receive", "-r", "-p", "0", inbox)
    code, said = run(ucx_cp, "send", "-p", receiver.port, path)
    other_code, _ = receiver.end()
    expect(code == 0 and other_code == 0, said)
    # invalid names and options
    for command in (["send", work], ["send", os.path.join(work, "nothing")],
                    ["receive", os.path.join(work, "nothing")]):
        code, said = run(ucx_cp, *command)
        expect(code == 1 and said.startswith("ucx_cp: "), said)
    for command in ([], ["fetch"], ["send"], ["receive", "-o", "../x"],
                    ["send", "-c", "3", path], ["receive", "-p", "99999"]):
        code, said = run(ucx_cp, *command)
        expect(code == 2, "%s: %s" % (command, said))
    code, said = run(ucx_cp, "--help")
    expect(code == 0 and "receive" in said, said)
    expect(sorted(os.listdir(inbox)) == before, "something was left")


def strangers_are_sent_away(ucx_cp, work, generator):
    """A client that sends invalid data or closes makes the receiver fail."""
    inbox = os.path.join(work, "inbox")
    before = sorted(os.listdir(inbox))
    for content in (b"", b"GET / HTTP/1.0\r\n\r\n", struct.pack("!I", 5),
                    struct.pack("!I", 100) + generator.randbytes(100)):
        receiver = Program(ucx_cp, "receive", "-p", "0", inbox)
        with socket.create_connection(("127.0.0.1",
                                       int(receiver.port))) as stranger:
            stranger.sendall(content)
            stranger.shutdown(socket.SHUT_WR)
            code, said = receiver.end()
        expect(code == 1, "%r: %d %s" % (content, code, said))
    expect(sorted(os.listdir(inbox)) == before, "something was left")


def interrupted(ucx_cp, work):
    """Either side gets SIGKILL, SIGINT or SIGTERM in the middle of a large
    file."""
    inbox = os.path.join(work, "inbox")
    path = os.path.join(work, "large")
    before = sorted(os.listdir(inbox))
    room = os.statvfs(inbox)
    # A sparse file uses no disk space. In the smallest chunks its transfer takes
    # so long that the signal comes before the end.
    with open(path, "wb") as file:
        file.truncate(min(8 << 30, room.f_bavail * room.f_frsize // 2))
    for victim, number in (("sender", signal.SIGKILL),
                           ("sender", signal.SIGINT),
                           ("receiver", signal.SIGKILL),
                           ("receiver", signal.SIGTERM)):
        receiver = Program(ucx_cp, "receive", "-p", "0", inbox)
        sender = subprocess.Popen(
            [ucx_cp, "send", "-c", "4K", "-p", receiver.port, path],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            universal_newlines=True)
        wait_for_part(inbox, before)
        (sender if victim == "sender" else receiver.process).send_signal(
            number)
        said, _ = sender.communicate(timeout=30 * FACTOR)
        code, other_said = receiver.end()
        expect(sender.returncode != 0, "the sender says it went well: " + said)
        expect(code != 0, "the receiver says it went well: " + other_said)
        left = [n for n in os.listdir(inbox) if n not in before]
        if victim == "receiver" and number == signal.SIGKILL:
            for name in left:  # the killed receiver could not remove it
                expect(name.endswith(".part"), "a half file has its name")
                os.unlink(os.path.join(inbox, name))
            left = []
        expect(not left, "%s killed: %s is left" % (victim, left))


def wait_for_part(inbox, before):
    """Waits until a new file has disk blocks: the transfer has begun."""
    deadline = time.monotonic() + 30 * FACTOR
    while time.monotonic() < deadline:
        for name in os.listdir(inbox):
            if name not in before:
                try:
                    if os.stat(os.path.join(inbox, name)).st_blocks > 0:
                        return
                except FileNotFoundError:
                    pass
    raise SystemExit("examples: the transfer did not begin")


def hanging_sender(ucx_cp, work, library, plugin):
    """The sender hangs behind its second message, the END of an empty file. The
    receiver stores the file, and waits until the sender acknowledges the result:
    that is needed over the example plugin udp. SIGINT ends the wait."""
    inbox = os.path.join(work, "hanging")
    os.mkdir(inbox)
    udp = {"UCX_PLUGIN_PATH": plugin, "UCX_TLS": "udp", "UCX_NET_DEVICES": "lo",
           "UCX_UDP_TIMEOUT": "1h"}
    receiver = Program("stdbuf", "-oL", ucx_cp, "receive", "-p", "0", inbox,
                       **udp)
    sender = subprocess.Popen(
        [ucx_cp, "send", "-p", receiver.port, os.path.join(work, "file0")],
        env={**os.environ, **udp, "LD_PRELOAD": library, "STOP_AFTER": "2"})
    try:
        said = receiver.process.stdout.readline()
        expect(said.startswith("received "), said)
        receiver.process.send_signal(signal.SIGINT)
        code, said = receiver.end()
        expect(code == 0, said)
    finally:
        sender.kill()
        sender.wait()


def main(folder, library=None, plugin=None):
    seed = 20240611
    print("seed", seed)
    generator = random.Random(seed)
    ucx_cp = os.path.join(folder, "ucx_cp")
    hello_greets(folder)
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, "inbox"))
        copies(ucx_cp, work, generator)
        checksum_is_xxh64(ucx_cp, work)
        refuses(ucx_cp, work)
        strangers_are_sent_away(ucx_cp, work, generator)
        interrupted(ucx_cp, work)
        if library is not None:
            hanging_sender(ucx_cp, work, library, plugin)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
