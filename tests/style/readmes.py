#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds folders that no README describes.

usage: readmes.py ROOT

A folder with more than one file, not counting meson.build, has a README.md, or a
README.md of a folder above names it as `FOLDER/`, by its path from there or by
the end of that path. A link to it or to a file in it counts also. A folder `src`
is described by the README.md beside it.
"""
import collections
import os
import re
import subprocess
import sys

# `a/b/`, `a/b/file`, [text](a/b/README.md)
NAMED = re.compile(r'`([\w./-]+)/[\w.*-]*`|\]\(([\w./-]+)')


def folders(root):
    """Returns folder -> names of its tracked files."""
    result = subprocess.run(['git', '-C', root, 'ls-files'],
                            capture_output=True, text=True)
    if result.returncode != 0:
        print('skipped: not a git work tree')
        sys.exit(77)
    found = collections.defaultdict(set)
    for path in result.stdout.split('\n'):
        if path and os.path.exists(os.path.join(root, path)):
            folder, name = os.path.split(path)
            found[folder].add(name)
    return found


def named(root, readme_folder):
    """Returns the paths below a folder that its README names."""
    path = os.path.join(root, readme_folder, 'README.md')
    with open(path, encoding='utf-8') as file:
        names = [a or b for a, b in NAMED.findall(file.read())]
    result = set()
    for name in names:
        parts = os.path.normpath(name).split('/')
        result.update('/'.join(parts[:i]) for i in range(1, len(parts) + 1))
    return result


def is_described(folder, found, names):
    """Returns whether a README of a folder above names the folder."""
    parts = folder.split('/')
    if parts[-1] == 'src' and 'README.md' in found.get(
            '/'.join(parts[:-1]), ()):
        return True
    for i in range(len(parts) - 1, -1, -1):
        above = '/'.join(parts[:i])
        below = parts[i:]
        if 'README.md' in found.get(above, ()) and any(
                '/'.join(below[j:]) in names[above]
                for j in range(len(below))):
            return True
    return False


def main():
    root = sys.argv[1]
    found = folders(root)
    names = {folder: named(root, folder) for folder in found
             if 'README.md' in found[folder]}
    missing = [folder for folder in sorted(found)
               if 'README.md' not in found[folder] and
               len(found[folder] - {'meson.build'}) > 1 and
               not folder.startswith('.') and
               not is_described(folder, found, names)]
    for folder in missing:
        print('%s: no README.md, and none above names it' % folder)
    print('%d folders, %d not described' % (len(found), len(missing)))
    return bool(missing)


if __name__ == '__main__':
    sys.exit(main())
