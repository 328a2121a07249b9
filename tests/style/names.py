#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds files that the documents name and that do not exist.

usage: names.py ROOT

Names are links, and paths in back quotes that have a folder and a suffix of a
source or document. They are relative to the document, or the end of a path in
the tree.
"""
import os
import re
import subprocess
import sys

PATH = re.compile(r'`([\w./-]+/[\w.-]+\.(?:h|c|py|json|md|sh|map|txt))`')
LINK = re.compile(r'\]\(([\w./-]+)(?:#[\w-]*)?\)')
DOCUMENTS = ('*.md', ':!tests/coverage')


def main():
    root = sys.argv[1]

    def listed(*patterns):
        result = subprocess.run(['git', '-C', root, 'ls-files', *patterns],
                                capture_output=True, text=True)
        if result.returncode != 0:
            print('skipped: not a git work tree')
            sys.exit(77)
        return result.stdout.split('\n')[:-1]

    tree = listed()
    ends = {'/'.join(path.split('/')[i:]) for path in tree
            for i in range(path.count('/') + 1)}
    faults = names = 0
    for document in listed(*DOCUMENTS):
        path = os.path.join(root, document)
        if not os.path.exists(path):
            continue
        with open(path, encoding='utf-8') as file:
            text = file.read()
        for match in [*PATH.finditer(text), *LINK.finditer(text)]:
            names += 1
            name = match.group(1)
            if not os.path.exists(os.path.join(os.path.dirname(path), name)) \
                    and name not in ends:
                print('%s:%d: %s does not exist' %
                      (document, text.count('\n', 0, match.start()) + 1, name))
                faults += 1
    print('%d names, %d do not exist' % (names, faults))
    return faults > 0 or names == 0


if __name__ == '__main__':
    sys.exit(main())
