#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs each case of cases.txt in a new process and a new folder. Compares the
messages of the library line by line, and the result that the program prints.

Usage: run_cases.py PROGRAM CASES [--only TEXT] [--show]. --show prints the
messages in the format of CASES instead of comparing them.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

LEVELS = ('fatal', 'error', 'warn', 'diag', 'info')
# "[time] [host:pid:tid] file:line UCX WARN text"
LINE = re.compile(r'^\[[^\]]*\] \[[^\]]*\]\s+\S+:\d+\s+\S+\s+([A-Z]+)\s+(.*)$')
# time limit of a case in seconds
TIMEOUT = 60 * float(os.environ.get('TEST_TIME_FACTOR', '1'))
SETTINGS = ('env', 'file', 'appfile', 'mode', 'arg')


class Case:
    def __init__(self, name, line):
        self.name = name
        self.line = line
        self.settings = {kind: [] for kind in SETTINGS}
        self.messages = []
        self.end = None


def read_cases(path):
    """Reads the cases. A comment in the file describes its format."""
    cases = []
    with open(path, encoding='utf-8') as stream:
        for number, line in enumerate(stream, 1):
            line = line.rstrip('\n')
            if not line.strip() or line.startswith('#'):
                continue
            if line.startswith('== '):
                cases.append(Case(line[3:], number))
                continue
            word, _, rest = line.partition(' ')
            case = cases[-1]
            if word in SETTINGS:
                case.settings[word].append(rest)
            elif word in LEVELS:
                case.messages.append(f'{word} {rest}')
            elif word == 'end':
                case.end = rest
            else:
                sys.exit(f'{path}:{number}: what is "{word}"?')
    names = [case.name for case in cases]
    for case in cases:
        if case.end is None:
            sys.exit(f'{path}:{case.line}: "{case.name}" has no end')
        if names.count(case.name) > 1:
            sys.exit(f'{path}:{case.line}: "{case.name}" is there twice')
    return cases


def environment(case, folder):
    env = {name: value for name, value in os.environ.items()
           if 'UCX_' not in name or name == 'UCX_PLUGIN_PATH'}
    env['HOME'] = os.path.join(folder, 'no-home')
    for setting in case.settings['env']:
        name, _, value = setting.partition('=')
        env[name] = value
    return env


def write_lines(path, lines):
    """Writes the lines. "\\xNN" in a line becomes that byte; the last line also
    ends with a newline."""
    if lines:
        with open(path, 'wb') as stream:
            for line in lines:
                stream.write(re.sub(rb'\\x([0-9a-f]{2})',
                                    lambda m: bytes([int(m[1], 16)]),
                                    line.encode()) + b'\n')


def run(program, case):
    """Runs a case; returns its messages and its result."""
    with tempfile.TemporaryDirectory() as folder:
        write_lines(os.path.join(folder, 'ucx.conf'), case.settings['file'])
        write_lines(os.path.join(folder, 'app.conf'), case.settings['appfile'])
        for mode in case.settings['mode']:
            os.chmod(os.path.join(folder, 'ucx.conf'), int(mode, 8))
        args = list(case.settings['arg'])
        if case.settings['appfile']:
            args.append('file=app.conf')
        result = subprocess.run([program] + args, cwd=folder, text=True,
                                env=environment(case, folder), timeout=TIMEOUT,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    messages = []
    for line in result.stderr.splitlines():
        match = LINE.match(line)
        messages.append(f'{match[1].lower()} {match[2]}' if match else line)
    end = result.stdout.strip()
    if result.returncode != 0:
        end += f' and exit status {result.returncode}'
    return messages, end


def relevant(messages, case):
    """Returns the messages that are compared. Messages below the level of a
    warning are compared only if the case lists them."""
    strict = [m for m in messages if not m.startswith(('diag ', 'info '))]
    wanted = [m for m in case.messages if m.startswith(('diag ', 'info '))]
    return strict + [m for m in wanted if m in messages]


def show(case, messages, end):
    print(f'== {case.name}')
    for kind in SETTINGS:
        for setting in case.settings[kind]:
            print(f'{kind} {setting}')
    for message in messages:
        print(message)
    print(f'end {end}\n')


def judge(case, messages, end, path):
    got = relevant(messages, case)
    if sorted(got) == sorted(case.messages) and end == case.end:
        return True
    print(f'{path}:{case.line}: {case.name}')
    for message in case.messages:
        if message not in got:
            print(f'    missing:  {message}')
    for message in got:
        if message not in case.messages:
            print(f'    too much: {message}')
    if sorted(got) != sorted(case.messages) and set(got) == set(case.messages):
        print('    a message came more than once')
    if end != case.end:
        print(f'    ended:    {end}, not {case.end}')
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('cases')
    parser.add_argument('--only', default='')
    parser.add_argument('--show', action='store_true')
    options = parser.parse_args()

    cases = [case for case in read_cases(options.cases)
             if options.only in case.name]
    failed = 0
    for case in cases:
        messages, end = run(os.path.abspath(options.program), case)
        if options.show:
            show(case, messages, end)
        else:
            failed += not judge(case, messages, end, options.cases)
    if not options.show:
        print(f'{len(cases)} settings, {failed} of them explained otherwise')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
