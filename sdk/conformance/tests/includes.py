#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the private headers of the core that the kit includes.

usage: includes.py FOLDER LIST

A header is private if it is not installed: not below core/include or
sdk/include. LIST has a line "file: header" for each include that is left. A new
one is an error, and so is a line whose include is gone, so that the list only
gets shorter.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"](uc[a-z]/[^>"]+)[>"]',
                     re.MULTILINE)


def private_includes(folder):
    root = os.path.join(folder, '..', '..')
    public = [os.path.join(root, 'core', 'include'),
              os.path.join(root, 'sdk', 'include')]
    found = set()
    for name in sorted(os.listdir(folder)):
        if not name.endswith(('.c', '.h')):
            continue
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            for header in INCLUDE.findall(file.read()):
                if not any(os.path.exists(os.path.join(path, header))
                           for path in public):
                    found.add('%s: %s' % (name, header))
    return found


def main():
    folder, listing = sys.argv[1:3]
    with open(listing, encoding='utf-8') as file:
        known = {line.strip() for line in file
                 if line.strip() and not line.startswith('#')}
    found = private_includes(folder)
    for line in sorted(found - known):
        print(line + ': use an installed header, or code of the kit')
    for line in sorted(known - found):
        print('%s: the include is gone; remove the line from %s' %
              (line, listing))
    print('%d private includes' % len(found))
    return found != known


if __name__ == '__main__':
    sys.exit(main())
