#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds comparisons with a protocol by name in core/ucp.

usage: protocols.py ROOT

A protocol describes itself by its functions and properties (ucp_proto_t). Code
that compares with the constant of a protocol, or with the name of a rendezvous
scheme (UCP_RNDV_SCHEME_*), has to be changed for each new one.
"""
import os
import re
import subprocess
import sys

CONSTANT = re.compile(r'\bconst\s+ucp_proto_t\s+(\w+)\s*(?:=|;)')
NAME = r'(?:&\s*(?:%s)|UCP_RNDV_SCHEME_\w+)\b'
COMPARISON = r'(?:[!=]=|\bcase)\s*(%s)|(%s)\s*[!=]='


def main():
    root = sys.argv[1]
    result = subprocess.run(['git', '-C', root, 'ls-files', 'core/ucp/*.c',
                             'core/ucp/*.h'], capture_output=True, text=True)
    if result.returncode != 0:
        print('skipped: not a git work tree')
        return 77

    texts = {}
    for path in result.stdout.split():
        if os.path.exists(os.path.join(root, path)):
            with open(os.path.join(root, path)) as file:
                texts[path] = file.read()
    names = {name for text in texts.values()
             for name in CONSTANT.findall(text)}
    if not names:
        print('no protocol is defined: is %s the source tree?' % root)
        return 1

    either = NAME % '|'.join(sorted(names))
    comparison = re.compile(COMPARISON % (either, either))
    found = 0
    for path, text in sorted(texts.items()):
        for match in comparison.finditer(text):
            print('%s:%u: compares with %s: test a property of ucp_proto_t'
                  % (path, text.count('\n', 0, match.start()) + 1,
                     match.group(1) or match.group(2)))
            found += 1
    return found > 0


if __name__ == '__main__':
    sys.exit(main())
