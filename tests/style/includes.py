#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds folders that include each other, directly or through others, and
folders of core/ucp that include a folder of a higher layer.

usage: includes.py ROOT

A folder includes another one if one of its files includes a header of it. All
C files of the project count. includes.txt has the exceptions: includes that are
part of a cycle which the public API requires, with the reason. Any other cycle is
an error, and so is an exception that no longer exists. layers.txt has the layers
of core/ucp.
"""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
# Include folders of the compiler, besides the folders above a file
SEARCHED = ['core', 'core/include', 'sdk/include']


def sources(root):
    """Returns the tracked C files, by path below the root."""
    result = subprocess.run(['git', '-C', root, 'ls-files', '*.c', '*.h'],
                            capture_output=True, text=True)
    if result.returncode != 0:
        print('skipped: not a git work tree')
        sys.exit(77)
    return [path for path in result.stdout.split('\n')
            if path and os.path.exists(os.path.join(root, path))]


def resolve(folder, name, known):
    """Returns the included file; None: it is not in the project."""
    parts = folder.split('/')
    above = ['/'.join(parts[:i]) for i in range(len(parts), 0, -1)]
    for start in above + SEARCHED:
        path = os.path.normpath(os.path.join(start, name))
        if path in known:
            return path
    return None


def graph(root, paths):
    """Returns folder -> included folder -> one example of an include."""
    known = set(paths)
    edges = {}
    for path in paths:
        folder = os.path.dirname(path)
        with open(os.path.join(root, path), errors='replace') as file:
            names = INCLUDE.findall(file.read())
        for name in names:
            target = resolve(folder, name, known)
            if target and os.path.dirname(target) != folder:
                edges.setdefault(folder, {}).setdefault(
                    os.path.dirname(target), '%s includes %s' % (path, target))
    return edges


def reached(edges, start):
    """Returns the folders that a folder includes, directly or indirectly."""
    found, left = set(), [start]
    while left:
        for folder in edges.get(left.pop(), {}):
            if folder not in found:
                found.add(folder)
                left.append(folder)
    return found


def circles(edges):
    """Returns 'folder -> folder' -> example for includes that are part of a
    cycle."""
    reach = {folder: reached(edges, folder) for folder in edges}
    return {'%s -> %s' % (folder, other): example
            for folder in edges for other, example in edges[folder].items()
            if folder in reach.get(other, ())}


def layers(root):
    """Returns folder -> number of its layer, for core/ucp."""
    with open(os.path.join(root, 'tests/style/layers.txt')) as file:
        rows = [line.split() for line in file
                if line.strip() and not line.startswith('#')]
    return {'core/ucp/' + folder: number
            for number, row in enumerate(rows) for folder in row}


def upwards(edges, layer):
    """Yields errors for includes that violate the order of layers."""
    folders = {folder for folder in list(edges) +
               [other for row in edges.values() for other in row]
               if folder.startswith('core/ucp/')}
    for folder in sorted(folders - set(layer)):
        yield '%s has no layer: add it to layers.txt' % folder
    for folder in sorted(set(layer) - folders):
        yield '%s does not exist: remove it from layers.txt' % folder
    for folder in sorted(edges):
        for other, example in sorted(edges[folder].items()):
            if folder in layer and other in layer and \
                    layer[other] >= layer[folder]:
                yield '%s is not below %s (%s)' % (other, folder, example)


def exceptions(root):
    """Returns include -> reason why it may be part of a cycle."""
    with open(os.path.join(root, 'tests/style/includes.txt')) as file:
        rows = [line.partition(': ') for line in file
                if line.strip() and not line.startswith('#')]
    return {edge.strip(): reason.strip() for edge, _, reason in rows}


def main():
    root = sys.argv[1]
    edges = graph(root, sources(root))
    found = circles(edges)
    wrong = list(upwards(edges, layers(root)))
    for message in wrong:
        print(message)
    known = exceptions(root)
    for edge in sorted(set(found) - set(known)):
        print('part of a circle of folders: %s (%s)' % (edge, found[edge]))
    for edge in sorted(set(known) - set(found)):
        print('not part of a circle any more, remove it from includes.txt: %s'
              % edge)
    unexplained = sorted(edge for edge in known if not known[edge])
    for edge in unexplained:
        print('includes.txt gives no reason for %s' % edge)
    return bool(wrong or unexplained) or set(found) != set(known)


if __name__ == '__main__':
    sys.exit(main())
