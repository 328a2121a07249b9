#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the checks of .clang-tidy over the code of core and plugins.

usage: tidy.py ROOT BUILD CLANG-TIDY

The SDK and tests are left out to save time; `ninja clang-tidy` checks them, too. Other
versions than 14 have other checks: skipped.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

VERSION = 'version 14.'
FOLDERS = ('core', 'plugins')
GROUP = 8   # files of one run of clang-tidy


def sources(root, build):
    """Returns the C files of FOLDERS."""
    with open(os.path.join(build, 'compile_commands.json'),
              encoding='utf-8') as file:
        commands = json.load(file)
    found = set()
    for command in commands:
        path = os.path.normpath(os.path.join(command['directory'],
                                             command['file']))
        parts = os.path.relpath(path, root).split(os.sep)
        if (parts[0] in FOLDERS and 'tests' not in parts
                and path.endswith('.c')):
            found.add(path)
    return sorted(found)


def check(program, build, paths):
    return subprocess.run([program, '-p', build, '--quiet', *paths],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors='replace', check=False)


def main():
    root, build, program = sys.argv[1:4]
    version = subprocess.run([program, '--version'], capture_output=True,
                             text=True, check=False).stdout
    if VERSION not in version:
        print('skipped: clang-tidy is not ' + VERSION)
        return 77
    paths = sources(root, build)
    groups = [paths[i:i + GROUP] for i in range(0, len(paths), GROUP)]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(lambda group: check(program, build, group),
                             groups):
            if done.returncode != 0:
                print(done.stdout or done.stderr)
                wrong += 1
    print('%d files, %d groups with findings' % (len(paths), wrong))
    return 1 if wrong or not paths else 0


if __name__ == '__main__':
    sys.exit(main())
