#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the layout of the C files with .clang-format.

usage: layout.py ROOT CLANG-FORMAT

Prints each line before which clang-format would change something; fails if
there is one. Other versions than 14 lay code out differently: skipped.
"""
import os
import re
import subprocess
import sys

VERSION = 'version 14.'
FOUND = re.compile(r'^(.*?:\d+):\d+: warning: .*clang-format-violations',
                   re.MULTILINE)
FILES = 200  # number of files of one call


def run(*args, **options):
    return subprocess.run(args, capture_output=True, text=True,
                          errors='replace', check=False, **options)


def main():
    root, program = sys.argv[1:]
    listed = run('git', '-C', root, 'ls-files', '*.c', '*.h')
    if listed.returncode != 0:
        print('skipped: not a git work tree')
        return 77
    if VERSION not in run(program, '--version').stdout:
        print('skipped: clang-format is not ' + VERSION)
        return 77
    names = [name for name in listed.stdout.split()
             if os.path.exists(os.path.join(root, name))]
    wrong = set()
    for start in range(0, len(names), FILES):
        done = run(program, '--dry-run', '--style=file',
                   *names[start:start + FILES], cwd=root)
        wrong.update(FOUND.findall(done.stderr))
    for line in sorted(wrong):
        print('%s: clang-format lays this out differently' % line)
    print('%d files, %d lines differ from .clang-format' %
          (len(names), len(wrong)))
    if wrong:
        print('lay the files out with: clang-format-14 -i --style=file FILE...')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
