# SPDX-License-Identifier: BSD-3-Clause
"""Finds for each test the words in its code and in the functions that it calls, as
far as their sources belong to the test's program."""

import os
import re
from collections import namedtuple

# label: file, and the test's name if the file has several. words: identifiers.
# members: identifiers after . or ->. listed: types that are initialised by a list
# without designators. checks: whether it has an assertion.
Test = namedtuple("Test", "label words members listed checks")

CHECK = re.compile(r"\b(ck_assert\w*|ck_abort\w*|ck_status|ck_ok|EXPECT\w*|FAIL|abort)\b")
FUNCTION = re.compile(r"^\{$(.*?)^\}", re.S | re.M)
FOLDERS = ("abi", "unit", "integration", "soak", "fuzz", "plugin")


def stripped(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    return text


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def sources_of(path, seen):
    """Adds to `seen` a file, the headers that it includes by relative names, and
    the .c file beside each header."""
    path = os.path.normpath(path)
    if path in seen or not os.path.exists(path):
        return
    seen.append(path)
    here = os.path.dirname(path)
    for name in re.findall(r'^#include "([^"]+)"', read(path), re.M):
        sources_of(os.path.join(here, name), seen)
    if path.endswith(".h"):
        sources_of(path[:-1] + "c", seen)


def split(text):
    """Returns the functions by name, and the text outside of them."""
    functions, outside, last = {}, [], 0
    for match in FUNCTION.finditer(text):
        head = text[last:match.start()]
        # the declarator begins after the end of the previous declaration
        cut = max(head.rfind(";"), head.rfind("}"), head.rfind("\n#"), 0)
        name = re.search(r"(\w+)\s*\(", head[cut:])
        start = re.search(r"START_TEST\s*\(\s*(\w+)", head[cut:])
        outside.append(head[:cut + 1])
        if start:
            functions[start.group(1)] = (True, match.group(1))
        elif name:
            functions[name.group(1)] = (False, head[cut:] + match.group(1))
        last = match.end()
    outside.append(text[last:])
    return functions, "\n".join(outside)


def made_by_macros(own, outside, functions):
    """Yields the names of tests that a macro of the program defines, and adds them
    to `functions`. Their body is that of the macro, with its arguments."""
    for declaration in outside:
        for macro, body in re.findall(
                r"#define\s+(\w+)\([^)]*\)(.*START_TEST.*)", declaration):
            for arguments in re.findall(r"^%s\(([^;{]*?)\)$" % macro, own,
                                        re.S | re.M):
                words = re.findall(r"\w+", arguments)
                functions[words[0]] = (True, body + " " + " ".join(words[1:]))
                yield words[0]


def closure(start, functions, outside):
    """Returns the code that a test reaches."""
    reached, todo, texts = set(), [start], []
    while todo:
        name = todo.pop()
        if name in reached:
            continue
        reached.add(name)
        body = functions[name][1]
        texts.append(body)
        todo += [word for word in set(re.findall(r"\w+", body))
                 if word in functions and not functions[word][0]]
    # variables at file scope, with their initialisers
    words = set(re.findall(r"\w+", " ".join(texts)))
    for declaration in outside:
        named = re.search(r"(\w+)(?:\[[^]]*\])*\s*=", declaration)
        if named and named.group(1) in words:
            texts.append(declaration)
            todo = [word for word in set(re.findall(r"\w+", declaration))
                    if word in functions and word not in reached]
            for word in todo:
                reached.add(word)
                texts.append(functions[word][1])
    # a macro belongs to the code that uses it
    words = set(re.findall(r"\w+", " ".join(texts)))
    for declaration in outside:
        for name, body in re.findall(r"#define\s+(\w+)\(?(.*)", declaration):
            if name in words:
                texts.append(body)
    return "\n".join(texts)


def test_of(label, code):
    return Test(label, set(re.findall(r"\b[A-Za-z_]\w*", code)),
                set(re.findall(r"(?:\.|->)\s*([A-Za-z_]\w*)", code)),
                set(re.findall(r"\(\s*(?:const\s+)?(\w+)\s*(?:\[\w*\])?\s*\)"
                               r"\s*\{+\s*[^.\s}]", code)) |
                set(re.findall(r"\b(\w+_t)\s+\w+(?:\[\w*\])?\s*=\s*\{+\s*"
                               r"[^.\s}0]", code)),
                bool(CHECK.search(code)))


def tests_of(path, label):
    seen = []
    sources_of(path, seen)
    functions, outside = {}, []
    for source in seen:
        text = stripped(read(source)).replace("\\\n", " ")
        more, rest = split(text)
        # the program's own function precedes one of the same name in a helper
        for name, value in more.items():
            functions.setdefault(name, value)
        outside += [part + ";" for part in
                    re.split(r";|\n(?=#)", rest)]
    text = stripped(read(path))
    own = split(text)[0]
    starts = [name for name in own if own[name][0]]
    starts += made_by_macros(text, outside, functions)
    if starts:
        return [test_of("%s: %s" % (label, name),
                        closure(name, functions, outside))
                for name in starts]
    if "main" in functions:
        return [test_of(label, closure("main", functions, outside))]
    if "LLVMFuzzerTestOneInput" in functions:
        return [test_of(label, closure("LLVMFuzzerTestOneInput", functions,
                                       outside))]
    return []


def is_built(path):
    """Returns whether a meson.build names the file. A name may be composed from a
    list."""
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.dirname(path)
    words = {stem, stem.replace("test_", "", 1), stem + ".c"}
    while True:
        build = os.path.join(folder, "meson.build")
        if os.path.exists(build):
            text = read(build)
            return any(re.search(r"'(?:[\w/]+/)?%s'" % re.escape(word),
                                 text) for word in words)
        if os.path.basename(folder) in ("tests", ""):
            return False
        folder = os.path.dirname(folder)


def all_tests(root):
    """Returns the tests of every program that is built as a test."""
    roots = [os.path.join(root, "tests", folder) for folder in FOLDERS]
    plugins = os.path.join(root, "plugins")
    roots += [os.path.join(plugins, name, "tests")
              for name in sorted(os.listdir(plugins))]
    tests = []
    for top in roots:
        for folder, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(".c") and is_built(path):
                    tests += tests_of(path, os.path.relpath(path, root))
    return tests
