# SPDX-License-Identifier: BSD-3-Clause
"""Reads the functions, macros, flags and members of the public headers.

It is not a parser of C: it relies on the few forms that the headers of this project
use. `tests/abi/functions.txt` shows whether it misses a function.
"""

import re
from collections import namedtuple

# kind: function, macro, flag, member. bit: the flag of field_mask for a member, or
# None. struct: the structure of a member.
Item = namedtuple("Item", "name kind header struct bit")

BIT_DOC = re.compile(
    r"/\*\*\s*((?:\w+::\w+|::\w+|and|,|\s)+?)[^*]*\*/\s*(\w+)\s*=", re.S)


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def without_directives(text):
    text = text.replace("\\\n", " ")
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def matching(text, start):
    """Returns the position after the brace that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return i + 1
    raise ValueError("unbalanced braces")


def members_of(body):
    """Returns the names of members, with those of inner unions and structures, and
    with the names of these."""
    names = []
    while True:
        inner = re.search(r"\b(?:union|struct)\s*\{", body)
        if inner is None:
            break
        end = matching(body, inner.end() - 1)
        names += members_of(body[inner.end():end - 1])
        body = body[:inner.start()] + "inner " + body[end:]
    for declaration in body.split(";"):
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declaration)
        if pointer:
            names.append(pointer.group(1))
            continue
        for part in declaration.split(","):
            words = re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", part))
            if words and (words != ["inner"]):
                names.append(words[-1])
    return names


def bits_of(text):
    """Returns (structure, member) -> flag, from the comments above the flags."""
    bits = {}
    for doc, flag in BIT_DOC.findall(text):
        struct = None
        for owner, member in re.findall(r"(\w*)::(\w+)", doc):
            struct = owner or struct
            bits[(struct, member)] = flag
    return bits


def structs_of(code):
    for match in re.finditer(r"\b(typedef\s+)?struct(\s+\w+)?\s*\{", code):
        end = matching(code, match.end() - 1)
        name = (match.group(2) or "").strip()
        alias = re.match(r"\s*(\w+)\s*;", code[end:])
        if match.group(1) and alias:
            name = alias.group(1)
        elif name:
            name += "_t"
        else:
            continue # an inner structure: the outer one has its members
        yield name, code[match.end():end - 1]


def holders_of(code):
    """Yields the type and name of members that are structures: a test may use such
    a type by the member, without its name."""
    for _, body in structs_of(code):
        for kind, name in re.findall(r"\b(\w+_t)\s+\*?(\w+)\s*;", body):
            yield kind, name


def flags_of(code):
    for match in re.finditer(r"\benum(\s+\w+)?\s*\{", code):
        end = matching(code, match.end() - 1)
        for part in re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)", "",
                           code[match.end():end - 1]).split(","):
            name = re.match(r"\s*(\w+)", part)
            if name:
                yield name.group(1)


def functions_of(code):
    flat = code
    while True:
        brace = flat.find("{")
        if brace < 0:
            break
        flat = flat[:brace] + ";" + flat[matching(flat, brace):]
    for statement in flat.split(";"):
        match = re.match(
            r"(?:\s|BEGIN_C_DECLS|END_C_DECLS)*((?:[\w*]+\s+)*[\w*]+[\s*]+)"
            r"\**(\w+)\s*\(", statement)
        # a name in capitals is a macro that defines functions
        if (match and "typedef" not in match.group(1).split() and
                not match.group(2).isupper()):
            yield match.group(2)


def macros_of(text):
    for name in re.findall(r"^#define\s+(\w+)(?:\(| \S)", text, re.M):
        if not name.startswith("_"):
            yield name


def read(path, header, holders):
    """Returns the items of one header, in its order within each kind. Adds to
    `holders` the members that have each structure type."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    code = without_directives(without_comments(text))
    for kind, name in holders_of(code):
        holders.setdefault(kind, set()).add(name)
    bits = bits_of(text)
    items = []
    for name in functions_of(code):
        items.append(Item(name, "function", header, None, None))
    for name in macros_of(without_comments(text)):
        items.append(Item(name, "macro", header, None, None))
    for name in flags_of(code):
        items.append(Item(name, "flag", header, None, None))
    for struct, body in structs_of(code):
        for member in members_of(body):
            items.append(Item(member, "member", header, struct,
                              bits.get((struct, member))))
    seen = set()
    return [item for item in items
            if not (item in seen or seen.add(item))]
