#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks all files of the project against .editorconfig: trailing white space,
final newline, line ends, tabs, line length.

usage: editorconfig.py ROOT

Status 0: all files are clean, 1: some are not, 77: ROOT is no git work tree, so
that the files of the project are not known.
"""
import fnmatch
import os
import re
import subprocess
import sys

SKIP = 77
MOST_FINDINGS = 50


def expand(pattern):
    """Returns patterns without braces: *.{c,h} gives *.c and *.h."""
    match = re.search(r'\{([^{}]*)\}', pattern)
    if match is None:
        return [pattern]
    return [result for word in match.group(1).split(',')
            for result in expand(pattern[:match.start()] + word +
                                 pattern[match.end():])]


def read_rules(path):
    """Returns the sections of an .editorconfig, in order: (patterns, settings)."""
    rules = []
    with open(path) as file:
        for line in file:
            line = line.split('#')[0].strip()
            if line.startswith('[') and line.endswith(']'):
                rules.append((expand(line[1:-1]), {}))
            elif '=' in line and rules:
                name, value = line.split('=', 1)
                rules[-1][1][name.strip()] = value.strip()
    return rules


def settings_for(rules, path):
    """Returns the settings of a file; later sections override earlier ones."""
    settings = {}
    for patterns, section in rules:
        for pattern in patterns:
            name = path if '/' in pattern else os.path.basename(path)
            if fnmatch.fnmatchcase(name, pattern.lstrip('/')):
                settings.update(section)
                break
    return settings


def check(content, settings):
    """Yields (line number, error)."""
    if settings.get('end_of_line') == 'lf' and b'\r' in content:
        yield content[:content.index(b'\r')].count(b'\n') + 1, 'carriage return'
    if settings.get('insert_final_newline') == 'true' and \
            not content.endswith(b'\n'):
        yield content.count(b'\n') + 1, 'no newline at the end of the file'
    limit = settings.get('max_line_length', 'off')
    for number, line in enumerate(content.decode().split('\n'), 1):
        if settings.get('trim_trailing_whitespace') == 'true' and \
                line != line.rstrip():
            yield number, 'white space at the end of the line'
        if settings.get('indent_style') == 'space' and \
                re.match(r' *\t', line):
            yield number, 'a tab in the indentation'
        if limit != 'off' and len(line) > int(limit):
            yield number, '%d columns, more than %s' % (len(line), limit)


def list_files(root):
    """Returns the tracked files, and new ones that git does not ignore."""
    result = subprocess.run(
        ['git', '-C', root, 'ls-files', '-z', '--cached', '--others',
         '--exclude-standard'], capture_output=True)
    if result.returncode != 0:
        return None
    return sorted(set(result.stdout.decode().rstrip('\0').split('\0')))


def main():
    root = sys.argv[1]
    try:
        files = list_files(root)
    except FileNotFoundError:
        files = None
    if not files:
        print('skipped: %s is no git work tree' % root)
        return SKIP

    rules = read_rules(os.path.join(root, '.editorconfig'))
    findings, checked = [], 0
    for path in files:
        full = os.path.join(root, path)
        if os.path.islink(full) or not os.path.isfile(full):
            continue
        with open(full, 'rb') as file:
            content = file.read()
        if b'\0' in content or not content:
            continue
        settings = settings_for(rules, path)
        if settings.get('charset') != 'utf-8':
            continue
        checked += 1
        try:
            findings += ['%s:%d: %s' % (path, *finding)
                         for finding in check(content, settings)]
        except UnicodeDecodeError:
            findings.append('%s: not UTF-8' % path)
    for finding in findings[:MOST_FINDINGS]:
        print(finding)
    print('%d files, %d findings' % (checked, len(findings)))
    return 1 if findings or checked == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
