#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the table of messages in docs/WIRE.md with the code.

usage: wire.py PROGRAM DOCUMENT FOLDER

PROGRAM prints the ids and sizes in the code (wire.c). The headers below FOLDER have
the ids: each must be in the table, and no two messages may have the same id. The
sizes that a row names must add up to its fixed bytes.
"""
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r'\| (\d+) \| (\w+) \| (\d+|–) \| (.*) \| `')
ID = re.compile(r'UCP_AM_ID_(?!LAST\b)(\w+)\s*=\s*(\d+)')
SIZED = re.compile(r'[ `](\d+)`')
FIXED_TAIL = {'AM_REPLY': 16}     # fixed bytes after parts of variable length
NESTED = {'RNDV_RTS': 40, 'AM_RNDV': 40}   # bytes of the nested rendezvous header


def documented(path):
    """Returns id -> row: name, fixed bytes, sum of the sizes in the layout."""
    rows = {}
    with open(path) as document:
        lines = document.read().split('<!-- wire-ids')[1].split('\n')
    for line in lines:
        match = ROW.match(line)
        if match:
            number, name, head, layout = match.groups()
            parts = sum(int(size) for size in SIZED.findall(layout))
            rows[int(number)] = (name, head.replace('–', '-'), parts,
                                 layout.startswith('as '))
    return rows


def main():
    program, document, folder = sys.argv[1:4]
    rows = documented(document)
    faults = []
    output = subprocess.run([program], capture_output=True, text=True,
                            check=True).stdout.split('\n')
    code = {}
    for line in output:
        if line and not line.startswith('last'):
            number, name, head = line.split()
            code[int(number)] = (name, head)
    ids = {}
    for header in sorted(pathlib.Path(folder).rglob('*.h')):
        for name, number in ID.findall(header.read_text()):
            if int(number) in ids:
                faults.append('id %s stands for %s and %s' %
                              (number, ids[int(number)], name))
            ids[int(number)] = name

    if not ids:
        faults.append('%s has no ids' % folder)
    for number in sorted(set(rows) | set(code) | set(ids)):
        if number not in ids or number not in code or number not in rows:
            faults.append('id %d (%s) is not in %s' % (
                number, ids.get(number) or (rows.get(number) or code[number])[0],
                'the code' if number not in ids else
                'tests/style/wire.c' if number not in code else document))
            continue
        name, head, parts, is_reference = rows[number]
        if (name, head) != code[number] or name != ids[number]:
            faults.append('id %d: documented %s, in the code %s' %
                          (number, (name, head), code[number]))
        parts += NESTED.get(name, 0) - FIXED_TAIL.get(name, 0)
        if head != '-' and not is_reference and parts != int(head):
            faults.append('id %d %s: the parts take %d bytes, not %s' %
                          (number, name, parts, head))
    for fault in faults:
        print(fault)
    print('%d messages, %d findings' % (len(rows), len(faults)))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
