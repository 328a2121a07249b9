#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prepares a public header for Doxygen.

The headers use one comment for a run of macros or type names without a blank
line between them. Doxygen wants one for each: this filter repeats it. It also
makes plain comments in front of macros visible, and leaves out macros that are
parts of others, whose names begin or end with an underscore.

usage: filter.py HEADER   (writes to stdout)
"""
import re
import sys

ITEM = re.compile(r'(#define|typedef)\s')
PRIVATE = re.compile(r'#define\s+(_\w+|\w+_)\b')


def read_comment(lines, start):
    """Returns the index behind the comment that begins at `start`."""
    end = start
    while '*/' not in lines[end]:
        end += 1
    return end + 1


def read_item(lines, start):
    """Returns the index behind a macro or a type definition of one line or
    more; of a structure only its first line."""
    end = start
    if lines[start].startswith('#define'):
        while lines[end].endswith('\\'):
            end += 1
        return end + 1
    while not lines[end].rstrip().endswith((';', '{')):
        end += 1
    return end + 1


def as_doc(comment):
    """The comment as documentation; one about a section stays what it is."""
    if re.match(r'/\*\s*[-=]{4}', comment[0]) or 'SPDX' in comment[0]:
        return None
    if '@addtogroup' in ''.join(comment) or '@}' in ''.join(comment):
        return None
    return [re.sub(r'^/\*(?!\*)', '/**', comment[0], count=1)] + comment[1:]


def convert(lines):
    out = []
    doc = None          # comment that covers the run
    own = False         # it stands directly in front of the next item
    i = 0
    while i < len(lines):
        line = lines[i]
        if line.startswith('/*') and '*/' not in line[:-2].rstrip():
            end = read_comment(lines, i)
            doc = as_doc(lines[i:end])
            nxt = lines[end] if end < len(lines) else ''
            own = bool(doc and ITEM.match(nxt))
            out += doc if own else lines[i:end]
            i = end
        elif ITEM.match(line):
            end = read_item(lines, i)
            if PRIVATE.match(line):
                own = False
            else:
                if doc and not own and not lines[end - 1].endswith('{'):
                    out += doc
                out += lines[i:end]
                own = False
            i = end
        else:
            if not line.strip() or line[0] in '}#' or line[0].isalpha():
                doc = None
            out.append(line)
            i += 1
    return out


def main():
    with open(sys.argv[1]) as header:
        lines = header.read().split('\n')
    sys.stdout.write('\n'.join(convert(lines)))


if __name__ == '__main__':
    main()
