#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds slots of the plugin ABI without a contract.

usage: contracts.py ROOT

A slot is a pointer to a function in a structure of sdk/include/ucx. A comment
stands above it, or above an earlier slot of its group, which blank lines divide
from others. The comments of the group, of the structure and at the beginning of
the file together state which thread calls the slot, whether it may block and,
if it returns a status, which statuses.
"""
import glob
import os
import re
import sys

STRUCTURE = re.compile(r'^(typedef )?struct( \w+)? \{')
SLOT = re.compile(r'^    (\w[\w ]*[ *]+)\(\*(\w+)\)\(')
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
THREAD = re.compile(r'\bthreads?\b')
BLOCK = re.compile(r'\b(block|waits?|at once)\b')
STATUS = re.compile(r'UCS_(OK|ERR|INPROGRESS)|\b(error|status|fails)')


def comments(text):
    """Returns the comments of a part of a file, on one line."""
    return ' '.join(COMMENT.findall(text)).replace('\n', ' ')


def faults_of(lines):
    """Yields the errors of one file as (line number, message)."""
    head = comments('\n'.join(lines[:lines.index('')]))
    structure, group = None, 0
    for i, line in enumerate(lines):
        if STRUCTURE.match(line):
            start = i
            while start > 0 and lines[start - 1] != '':
                start -= 1
            structure, group = comments('\n'.join(lines[start:i])), i + 1
        elif line == '':
            group = i + 1
        elif line.startswith('}'):
            structure = None
        slot = SLOT.match(line)
        if structure is None or slot is None:
            continue
        own = comments('\n'.join(lines[group:i]))
        known = ' '.join((head, structure, own))
        if not own:
            yield i + 1, slot.group(2) + ' has no comment'
        if not THREAD.search(known):
            yield i + 1, 'no comment states the thread of ' + slot.group(2)
        if not BLOCK.search(known):
            yield i + 1, 'no comment states whether %s blocks' % slot.group(2)
        if 'status' in slot.group(1) and not STATUS.search(known):
            yield i + 1, 'no comment states the statuses of ' + slot.group(2)


def main():
    faults, slots = 0, 0
    for path in sorted(glob.glob(os.path.join(sys.argv[1],
                                              'sdk/include/ucx/*.h'))):
        with open(path, encoding='utf-8') as file:
            lines = file.read().split('\n')
        slots += sum(bool(SLOT.match(line)) for line in lines)
        for number, message in faults_of(lines):
            print('%s:%d: %s' % (path, number, message))
            faults += 1
    print('%d slots, %d faults' % (slots, faults))
    return faults > 0 or slots == 0


if __name__ == '__main__':
    sys.exit(main())
