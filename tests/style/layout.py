#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the layout of the C files with .clang-format.

usage: layout.py ROOT CLANG-FORMAT [--list]

No option of clang-format describes the tables of initialisers, so files differ
from it in some lines. The test fails if a file differs in more of them than
LIMIT, or if all files together differ in more than TOTAL. --list prints the
share of each file. Other versions than 14 lay code out differently: skipped.
"""
import collections
import os
import re
import subprocess
import sys

VERSION = 'version 14.'
LIMIT = 0.6   # of the lines of a file with more than SMALL lines
SMALL = 170
TOTAL = 0.08
FOUND = re.compile(r'^(.*?):(\d+):\d+: warning: .*clang-format-violations',
                   re.MULTILINE)


def run(*args, **options):
    return subprocess.run(args, capture_output=True, text=True,
                          errors='replace', check=False, **options)


def differing(root, program, names):
    """By file: the lines before which clang-format changes something."""
    lines = collections.defaultdict(set)
    for start in range(0, len(names), 200):
        done = run(program, '--dry-run', '--style=file',
                   *names[start:start + 200], cwd=root)
        for name, line in FOUND.findall(done.stderr):
            lines[name].add(int(line))
    return lines


def length(path):
    with open(path, 'rb') as file:
        return file.read().count(b'\n')


def main():
    root, program = sys.argv[1:3]
    listed = run('git', '-C', root, 'ls-files', '*.c', '*.h')
    if listed.returncode != 0:
        print('skipped: not a git work tree')
        return 77
    if VERSION not in run(program, '--version').stdout:
        print('skipped: clang-format is not ' + VERSION)
        return 77
    names = [name for name in listed.stdout.split()
             if os.path.exists(os.path.join(root, name))]
    found = differing(root, program, names)
    changed = lines = wrong = 0
    for name in names:
        some, count = len(found[name]), length(os.path.join(root, name))
        changed += some
        lines += count
        if '--list' in sys.argv:
            print('%5.1f %% %s' % (100.0 * some / max(count, 1), name))
        if count > SMALL and some > LIMIT * count:
            print('%s: %d of %d lines differ from .clang-format' %
                  (name, some, count))
            wrong += 1
    print('%.1f %% of %d lines differ from .clang-format' %
          (100.0 * changed / lines, lines))
    return 1 if wrong or changed > TOTAL * lines else 0


if __name__ == '__main__':
    sys.exit(main())
