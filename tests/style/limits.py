#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds functions of core with more than 60 lines, and files of core/ucp with
more than 500.

usage: limits.py ROOT

Lines of a function are those of its body with both braces, which stand in the
first column (layout.py checks that). EXCEPT has functions that consist of one
switch with a line for each value.
"""
import os
import re
import subprocess
import sys

FILE_LINES, FUNCTION_LINES = 500, 60
EXCEPT = {'ucs_status_string', 'ucs_errno_to_status'}
NAME = re.compile(r'(\w+)\(')


def functions(lines):
    """Yields for each function: name, first line, number of lines."""
    start = None
    for i, line in enumerate(lines):
        if line == '{':
            start = i
        elif line.startswith('}') and start is not None:
            head = start - 1
            while head > 0 and lines[head - 1] and \
                    not lines[head - 1].endswith((';', '}', '*/')):
                head -= 1
            name = NAME.search(' '.join(lines[head:start]))
            yield name.group(1) if name else '?', start + 1, i - start + 1
            start = None


def main():
    root = sys.argv[1]
    result = subprocess.run(['git', '-C', root, 'ls-files', 'core/*.c',
                             'core/*.h'], capture_output=True, text=True)
    if result.returncode != 0:
        print('skipped: not a git work tree')
        return 77

    faults, bodies, excepted = 0, 0, set()
    for path in result.stdout.split():
        if not os.path.exists(os.path.join(root, path)):
            continue
        with open(os.path.join(root, path), encoding='utf-8') as file:
            lines = file.read().splitlines()
        if path.startswith('core/ucp/') and len(lines) > FILE_LINES:
            print('%s: %d lines, at most %d' % (path, len(lines), FILE_LINES))
            faults += 1
        for name, line, count in functions(lines):
            bodies += 1
            if count > FUNCTION_LINES and name in EXCEPT:
                excepted.add(name)
            elif count > FUNCTION_LINES:
                print('%s:%d: %s() has %d lines, at most %d' %
                      (path, line, name, count, FUNCTION_LINES))
                faults += 1
    for name in sorted(EXCEPT - excepted):
        print('%s() needs no exception any more: remove it from %s' %
              (name, os.path.basename(__file__)))
        faults += 1
    print('%d functions, %d faults' % (bodies, faults))
    return faults > 0 or bodies == 0


if __name__ == '__main__':
    sys.exit(main())
