#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a header that gives the core's functions and variables names of its own
for the linker: ucs_NAME is core_ucs_NAME there, and so for ucm and uct.

    private.py HEADER.H DEPFILE FOLDER...

Every such name that stands in a header of the FOLDERs gets a line; one that is
no function or variable with a name for the linker is left alone by the compiler.
"""
import os
import re
import sys

OPENING = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by private.py: names for the linker. */
#ifndef __ASSEMBLER__
"""
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# static functions, whose symbols the linker does not bind to other libraries
STATIC = re.compile(r"\bstatic\b[^;{}()]*?\b(uc[smt]_\w+)\s*\(")
NAME = re.compile(r"\buc[smt]_\w+\b")


def headers(folders):
    for folder in folders:
        for where, _, files in os.walk(folder):
            yield where, [os.path.join(where, name) for name in sorted(files)
                          if name.endswith(".h")]


def main():
    output, depfile, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    names, static, seen = set(), set(), []
    for where, paths in headers(folders):
        seen.append(where)  # its time changes when a header is added
        for path in paths:
            seen.append(path)
            with open(path, encoding="utf-8") as file:
                text = COMMENT.sub(" ", file.read())
            names.update(NAME.findall(text))
            static.update(STATIC.findall(text))
    names = {name for name in names - static if not name.endswith(("_t", "_h"))}
    text = OPENING + "".join(f"#pragma redefine_extname {name} core_{name}\n"
                             for name in sorted(names)) + "#endif\n"
    with open(output, "w", encoding="ascii") as file:
        file.write(text)
    with open(depfile, "w", encoding="utf-8") as file:
        file.write(f"{output}: {' '.join(seen)}\n")


if __name__ == "__main__":
    main()
