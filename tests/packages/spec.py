#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares packaging/ucx-core.spec, as rpmspec expands it, with packaging/debian.

usage: spec.py PACKAGING

Both have the same packages, with the same versions, files, and dependencies on each
other. Plugins have the version and the oldest plugin ABI of their sources. Status 0: they agree,
1: they differ, 77: rpmspec is missing.
"""
import os
import re
import shutil
import subprocess
import sys

# The package managers install its alternative and links in different ways.
BY_HAND = {'ucx-compat'}


def output_of(*command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def binary_packages(control):
    """Returns {name: our packages that it needs} from debian/control."""
    found = {}
    with open(control, encoding='utf-8') as file:
        for part in file.read().split('\n\n')[1:]:
            fields = dict(re.findall(r'^(\S+): ((?:.*(?:\n .*)*))', part, re.M))
            names = re.findall(r'\b(?:libuc\S+|ucx-\S+?)(?=[,\s(]|$)',
                               fields.get('Depends', ''))
            found[fields['Package']] = set(names)
    return found


def spec_packages(spec):
    """Returns the same from the expanded spec file."""
    found = {}
    for part in spec.split('%package -n ')[1:]:
        name, body = part.split('\n', 1)
        body = body.split('%description')[0]
        found[name] = {re.sub(r'\(.*', '', need) for need in
                       re.findall(r'^Requires: +(\S+)', body, re.M)}
    return found


def debian_files(folder, package):
    """Returns the files of a Debian package by their paths in an RPM."""
    folders = {'usr/lib/*/': '/usr/lib64/'}
    found = set()
    with open(f'{folder}/{package}.install', encoding='utf-8') as file:
        for line in file:
            path = line.split()[0]
            for start, other in folders.items():
                path = path.replace(start, other, 1)
            found.add('/' + path.lstrip('/'))
    links = f'{folder}/{package}.links'
    if os.path.exists(links):
        with open(links, encoding='utf-8') as file:
            found |= {'/usr/lib64/' + os.path.basename(line.split()[1])
                      for line in file}
    return found


def spec_files(spec, package):
    body = re.search(rf'^%files -n {package}\n(.*?)(?=\n\n|\Z)', spec,
                     re.M | re.S)
    # the package manager compresses manual pages
    return {re.sub(r'(/man/.*)\*$', r'\1', line)
            for line in (body.group(1).splitlines() if body else [])
            if not line.startswith('%')}


def check_plugins(packaging, spec, tell):
    for name, version, body in re.findall(
            r'^%package -n ucx-plugin-(\S+)\nSummary: .*\nVersion: +(\S+)\n'
            r'((?:.+\n)*)', spec, re.M):
        own = output_of(f'{packaging}/plugin-field', name, 'version').strip()
        abi = output_of(f'{packaging}/plugin-field', name, 'abi_min').strip()
        if version.split('+')[0] != own:
            tell(f'{name} has version {version}, its sources have {own}')
        if f'ucx-plugin-abi-1 >= {abi}\n' not in body:
            tell(f'{name} does not require ucx-plugin-abi-1 >= {abi}')
    abi = output_of(f'{packaging}/plugin-field', 'core', 'abi').strip()
    if f'ucx-plugin-abi-1 = {abi}\n' not in spec:
        tell(f'nothing provides ucx-plugin-abi-1 = {abi}')


def main():
    packaging = sys.argv[1]
    debian = f'{packaging}/debian'
    if shutil.which('rpmspec') is None:
        print('skipped: rpmspec is missing (Debian: package rpm)')
        return 77
    spec = output_of('rpmspec', '-P', '--define', '_libdir /usr/lib64',
                     f'{packaging}/ucx-core.spec') + '\n'
    wrong = []
    theirs = binary_packages(f'{debian}/control')
    ours = spec_packages(spec)
    for name in sorted(set(theirs) ^ set(ours)):
        wrong.append(f'package {name} is in one of the two only')
    for name in sorted(set(theirs) & set(ours)):
        needs = {need for need in ours[name] if need.startswith(('libuc',
                                                                 'ucx-'))}
        if needs != theirs[name]:
            wrong.append(f'{name} needs {sorted(needs)} in the spec file, '
                         f'{sorted(theirs[name])} in debian/control')
        if name in BY_HAND:
            continue
        for path in sorted(debian_files(debian, name) ^ spec_files(spec, name)):
            wrong.append(f'{name} has {path} in one of the two only')
    check_plugins(packaging, spec, wrong.append)
    version = re.search(r'^Version: +(\S+)', spec, re.M).group(1)
    with open(f'{debian}/changelog', encoding='utf-8') as file:
        if f'({version}-' not in file.readline():
            wrong.append(f'debian/changelog does not begin with {version}')
    print('\n'.join(wrong) or f'{len(ours)} packages agree')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
