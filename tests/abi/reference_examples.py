# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the unchanged example programs of the reference implementation with
our headers, as C and as C++, and runs each between two processes.

Usage: reference_examples.py INCLUDE CC CXX FOLDER:LIBRARY...

The programs come from the package libucx-dev; they are not part of this project.
They are written in C: as C++ they need -fpermissive, also with the reference's
headers, because they assign pointers to void to other pointers. Exit codes: 0
passed, 1 failed, 77 skipped.
"""
import os
import socket
import subprocess
import sys
import tempfile
import time

FOLDER = '/usr/share/doc/libucx-dev/examples'
PATIENCE = 60

# program, arguments of both sides, arguments of the client, does the server
# end?
RUNS = [
    ('ucp_hello_world', [], ['-n', '127.0.0.1'], True),
    ('ucp_hello_world', ['-w'], ['-n', '127.0.0.1'], True),
    ('ucp_hello_world', ['-f'], ['-n', '127.0.0.1'], True),
    ('ucp_client_server', ['-c', 'tag'], ['-a', '127.0.0.1'], False),
    ('ucp_client_server', ['-c', 'am'], ['-a', '127.0.0.1'], False),
    ('ucp_client_server', ['-c', 'stream'], ['-a', '127.0.0.1'], False),
    ('uct_hello_world', ['-d', 'lo', '-t', 'tcp', '-i'], ['-n', '127.0.0.1'],
     True),
    ('uct_hello_world', ['-d', 'lo', '-t', 'tcp', '-b'], ['-n', '127.0.0.1'],
     True),
    ('uct_hello_world', ['-d', 'lo', '-t', 'tcp', '-z'], ['-n', '127.0.0.1'],
     True),
    ('uct_hello_world', ['-d', 'memory', '-t', 'posix', '-b'],
     ['-n', '127.0.0.1'], True),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(('', 0))
        return probe.getsockname()[1]


def is_listening(port):
    """Reads the kernel's tables: the server would take a connection as its
    client."""
    for table in ('/proc/net/tcp', '/proc/net/tcp6'):
        if os.path.exists(table):
            with open(table, encoding='ascii') as stream:
                for line in stream.readlines()[1:]:
                    words = line.split()
                    if words[3] == '0A' and \
                            int(words[1].rsplit(':', 1)[1], 16) == port:
                        return True
    return False


def run(binary, both, client_only, server_ends):
    """Returns a description of the failure, or None."""
    port = free_port()
    command = [binary, '-p', str(port)] + both
    with tempfile.TemporaryFile('w+') as output:
        server = subprocess.Popen(command, stdout=output,
                                  stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + PATIENCE
            while not is_listening(port):
                if server.poll() is not None or time.monotonic() > end:
                    output.seek(0)
                    return 'the server does not listen:\n' + output.read()
                time.sleep(0.01)  # the server prints nothing when it listens
            client = subprocess.run(command + client_only, check=False,
                                    capture_output=True, text=True,
                                    timeout=PATIENCE)
            if client.returncode != 0:
                return f'the client ended with {client.returncode}:\n' + \
                    client.stdout + client.stderr
            if server_ends and server.wait(PATIENCE) != 0:
                output.seek(0)
                return f'the server ended with {server.returncode}:\n' + \
                    output.read()
            if not server_ends and server.poll() is not None:
                output.seek(0)
                return 'the server is gone:\n' + output.read()
        except subprocess.TimeoutExpired as late:
            return str(late)
        finally:
            server.kill()
            server.wait()
    return None


def compile_all(include, compiler, flags, libraries, folder):
    """Compiles all programs; returns the path of each binary by name."""
    binaries = {}
    for name in {row[0] for row in RUNS}:
        binary = os.path.join(folder, name + '_' + os.path.basename(compiler))
        subprocess.run([compiler] + flags +
                       ['-w', '-I', include, '-I', FOLDER, '-o', binary,
                        os.path.join(FOLDER, name + '.c')] + libraries,
                       check=True)
        binaries[name] = binary
    return binaries


def main():
    include, cc, cxx = sys.argv[1:4]
    libraries = []
    for argument in sys.argv[4:]:
        place, name = argument.split(':')
        libraries += ['-L' + place, '-Wl,-rpath,' + place, '-l' + name]
    missing = [name for name in {row[0] for row in RUNS}
               if not os.path.exists(os.path.join(FOLDER, name + '.c'))]
    if missing:
        print(f'skipped: no {", ".join(missing)} in {FOLDER}; install '
              'libucx-dev')
        return 77

    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler, flags in ((cc, ['-x', 'c', '-std=gnu11']),
                                (cxx, ['-x', 'c++', '-fpermissive'])):
            # "-x" must not apply to the libraries, which follow
            binaries = compile_all(include, compiler, flags,
                                   ['-x', 'none'] + libraries, folder)
            for name, both, client_only, server_ends in RUNS:
                wrong = run(binaries[name], both, client_only, server_ends)
                if wrong is not None:
                    print(f'{name} {" ".join(both)}, {compiler}: {wrong}')
                    faults += 1
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
