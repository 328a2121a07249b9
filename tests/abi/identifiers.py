# SPDX-License-Identifier: BSD-3-Clause
"""Checks the names that programs use of the public headers, in C and in C++.

    identifiers.py headers INCLUDE LIST COMPILER...
        each header compiles when it is included alone, and defines the names
        that the list contains for it
    identifiers.py uses LIST SOURCE
        the source uses every name of the list
"""
import os
import re
import subprocess
import sys
import tempfile

STANDARDS = {'c': ['gnu99', 'gnu11'], 'c++': ['gnu++11', 'gnu++17']}
# Macros that other libraries define as well; they are defined before the header
# in the second standard of each language.
DEFINED_BEFORE = {
    'c': '#define BEGIN_C_DECLS\n#define END_C_DECLS\n',
    'c++': '#define BEGIN_C_DECLS extern "C" {\n#define END_C_DECLS }\n'
}


def read_list(path):
    """Returns a dict: header -> [(kind, name)]."""
    entries = {}
    with open(path, encoding='ascii') as stream:
        for line in stream:
            if line.strip() and not line.startswith('#'):
                header, kind, name = line.split()
                entries.setdefault(header, []).append((kind, name))
    return entries


def text_for(header, names):
    """Returns a source that does not compile if a name is missing."""
    lines = [f'#include <{header}>']
    for kind, name in names:
        if kind == 'macro':
            lines += [f'#ifndef {name}', f'#error {name} is missing', '#endif']
        elif kind == 'tag':
            lines.append(f'typedef struct {name} *use_tag_{name};')
            lines.append(f'typedef char has_tag_{name}[sizeof(struct {name})];')
        else:
            lines.append(f'typedef __typeof__({name}) *use_{name};')
    # a second inclusion must have no effect
    lines.append(f'#include <{header}>')
    return '\n'.join(lines) + '\n'


def all_headers(include):
    for where, _, files in os.walk(include):
        for name in sorted(files):
            if name.endswith('.h'):
                yield os.path.relpath(os.path.join(where, name), include)


def check_headers(include, path, compilers):
    entries = read_list(path)
    headers = sorted(set(all_headers(include)) | set(entries))
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            language = 'c++' if '++' in os.path.basename(compiler) else 'c'
            for before, standard in zip(['', DEFINED_BEFORE[language]],
                                        STANDARDS[language]):
                for header in headers:
                    source = os.path.join(folder, 'use.' + language)
                    with open(source, 'w', encoding='ascii') as stream:
                        stream.write(before + text_for(header,
                                                       entries.get(header, [])))
                    done = subprocess.run(
                        [compiler, '-x', language, '-std=' + standard, '-Wall',
                         '-Wextra', '-Werror', '-fsyntax-only', '-I', include,
                         source], check=False, capture_output=True, text=True)
                    if done.returncode != 0:
                        print(f'{header}, {compiler} -std={standard}:\n'
                              f'{done.stderr[:2000]}')
                        faults += 1
    return faults


def check_uses(path, source):
    with open(source, encoding='ascii') as stream:
        words = set(re.findall(r'\w+', stream.read()))
    names = {name for entry in read_list(path).values() for _, name in entry}
    missing = sorted(names - words)
    for name in missing:
        print(f'{name}: {os.path.basename(source)} does not use it')
    return len(missing)


def main():
    if sys.argv[1] == 'headers':
        faults = check_headers(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        faults = check_uses(sys.argv[2], sys.argv[3])
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
