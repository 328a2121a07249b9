#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that core/ucs/config/VARIABLES.md agrees with the variables of the
library and the plugins, and that every variable of the reference either exists
or is listed as having no effect.

Usage: check_table.py LISTER CONFIG_FOLDER REFERENCE_NAMES [--update]
"""
import difflib
import fnmatch
import os
import subprocess
import sys

HEAD = '''\
# Variables

Made by `ninja update-variables` from the registry and `foreign.txt`; a test
watches that it is up to date. `ucx_info -c -f` prints the same of an installed
library, with what is set.

Each may stand in the environment or in a `ucx.conf`; `ucp_config_modify()` takes
the names with or without `UCX_`. In the column *Reference*, "same" means
that UCX 1.13.1 has a variable of this name for the same thing.
'''
FOREIGN_HEAD = '''\
## Known elsewhere, without effect here

Setting one of these is no mistake: it is told of at level info, once. What ends
in `*` stands for all that begin so.

| Variables | Why |
|---|---|
'''
WORDS_HEAD = '''\
## Words of `UCX_TLS` for plugins that may be missing

| Words | What for |
|---|---|
'''


def registry(lister):
    """Yields (title, name, other name, value, default, help) in the order of the
    tables. The comment lines of an option are its help, Value, Default and
    perhaps Also; the line NAME=VALUE follows. A table begins with a title
    between two empty comments."""
    text = subprocess.run([lister], check=True, text=True,
                          stdout=subprocess.PIPE,
                          env={'PATH': os.environ['PATH'], 'HOME': '/nonexistent',
                               'UCX_PLUGIN_PATH':
                               os.environ.get('UCX_PLUGIN_PATH', '')}).stdout
    title, facts, lines = None, {}, []
    for line in text.splitlines():
        if line.startswith('# Value:   '):
            facts['value'] = line[11:]
        elif line.startswith('# Default:'):
            facts['default'] = line[10:].strip()
        elif line.startswith('# Also:    '):
            facts['also'] = line[11:]
        elif line.startswith('#'):
            lines.append(line[1:].strip())
        elif line.startswith('UCX_'):
            words = [part for part in lines if part]
            if not facts or not words:
                sys.exit(f'{line}: has no help or no type')
            yield (title, line.split('=')[0], facts.get('also'),
                   facts['value'], facts['default'], ' '.join(words))
            facts, lines = {}, []
        elif not line and len(lines) == 3 and not facts:
            title, lines = lines[1], []


def read_names(path):
    with open(path, encoding='ascii') as stream:
        return [line.strip() for line in stream
                if line.strip() and not line.startswith('#')]


def cell(text):
    return text.replace('|', '\\|')


def table(entries, reference):
    lines, title = [], None
    for entry in entries:
        if entry[0] != title:
            title = entry[0]
            lines += [f'\n## {title}\n\n',
                      '| Variable | Value | Default | Reference | Meaning |\n',
                      '|---|---|---|---|---|\n']
        name, also = entry[1], entry[2]
        there = 'same' if name[4:] in reference else \
            'other name' if also and also[4:] in reference else ''
        names = f'`{name}`' + (f', `{also}`' if also else '')
        default = f'`{entry[4]}`' if entry[4] else 'empty'
        lines.append(f'| {names} | {cell(entry[3])} | {cell(default)} | {there} '
                     f'| {cell(entry[5])} |\n')
    return ''.join(lines)


def grouped(foreign, kind):
    groups = {}
    for entry_kind, name, reason in foreign:
        if entry_kind == kind:
            groups.setdefault(reason, []).append(name)
    prefix = 'UCX_' if kind == 'variable' else ''
    return ''.join(f'| {" ".join(f"`{prefix}{name}`" for name in names)} '
                   f'| {cell(reason)} |\n' for reason, names in groups.items())


def check_names(entries, foreign, reference):
    """Returns the number of names that are listed nowhere, or in two places."""
    ours = {entry[1][4:] for entry in entries}
    ours |= {entry[2][4:] for entry in entries if entry[2]}
    known = [name for kind, name, _ in foreign if kind == 'variable']
    faults = 0
    for name in reference:
        if name not in ours and \
                not any(fnmatch.fnmatchcase(name, other) for other in known):
            print(f'UCX_{name} of the reference is neither a variable here nor '
                  'in foreign.txt')
            faults += 1
    for name in known:
        if name in ours:
            print(f'UCX_{name} is in foreign.txt, and a variable here')
            faults += 1
    return faults


def main():
    lister, folder, reference_path = sys.argv[1:4]
    sys.path.insert(0, folder)
    import foreign as foreign_names
    foreign = list(foreign_names.read(os.path.join(folder, 'foreign.txt')))
    reference = read_names(reference_path)
    entries = list(registry(lister))
    if len(entries) < 50:
        sys.exit(f'only {len(entries)} variables are listed')

    text = HEAD + table(entries, set(reference)) + '\n' + FOREIGN_HEAD + \
        grouped(foreign, 'variable') + '\n' + WORDS_HEAD + \
        grouped(foreign, 'transport')
    path = os.path.join(folder, 'VARIABLES.md')
    if sys.argv[4:] == ['--update']:
        with open(path, 'w', encoding='utf-8') as stream:
            stream.write(text)
        return check_names(entries, foreign, reference)

    with open(path, encoding='utf-8') as stream:
        old = stream.read()
    faults = check_names(entries, foreign, reference)
    if old != text:
        sys.stdout.writelines(difflib.unified_diff(
            old.splitlines(True), text.splitlines(True), 'VARIABLES.md',
            'the registry'))
        print('VARIABLES.md is out of date: run `ninja update-variables`')
        faults += 1
    return 1 if faults else 0


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    sys.exit(main())
