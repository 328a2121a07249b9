#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds code of the libraries that writes directly to the standard output.

usage: output.py ROOT

The libraries print to a stream that the caller passes, or to the log. CHOSEN
are the files in which the user selects the standard output by a variable.
"""
import os
import re
import subprocess
import sys

CHOSEN = {'core/ucs/debug/log.c', 'core/ucs/stats/report.c',
          'core/compat/memtrack.c'}
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
OUTPUT = re.compile(r'\b(?:printf|vprintf|puts|putchar)\s*\(|\bstdout\b|'
                    r'\bSTDOUT_FILENO\b')


def main():
    root = sys.argv[1]
    result = subprocess.run(['git', '-C', root, 'ls-files', 'core/*.c',
                             'core/*.h', 'plugins/*/src/*.[ch]',
                             'sdk/include/*.h', 'sdk/accel/*.[ch]'],
                            capture_output=True, text=True)
    if result.returncode != 0:
        print('skipped: not a git work tree')
        return 77
    faults, used = 0, set()
    for path in result.stdout.split():
        if path.startswith('core/tools/') or '/tests/' in path or \
                not os.path.exists(os.path.join(root, path)):
            continue
        with open(os.path.join(root, path), encoding='utf-8') as file:
            text = COMMENT.sub(lambda m: '\n' * m.group().count('\n'),
                               file.read())
        for match in OUTPUT.finditer(text):
            if path in CHOSEN:
                used.add(path)
                continue
            print('%s:%d: writes to the standard output' %
                  (path, text.count('\n', 0, match.start()) + 1))
            faults += 1
    for path in sorted(CHOSEN - used):
        print('%s does not write to the standard output: remove it from %s' %
              (path, os.path.basename(__file__)))
        faults += 1
    return faults > 0


if __name__ == '__main__':
    sys.exit(main())
