#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the bill of materials in each Debian package with the package.

usage: sbom.py FILE.deb...

Status 0: every package has one, with its name, version and dependencies, and with
the checksums of all of its files; 1: one has not, with the differences.
"""
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile


def field(package, name):
    """Returns a field of the control file."""
    return subprocess.run(['dpkg-deb', '--field', package, name], check=True,
                          text=True, stdout=subprocess.PIPE).stdout.strip()


def files_of(package):
    """Returns name -> content for the regular files."""
    data = subprocess.run(['dpkg-deb', '--fsys-tarfile', package], check=True,
                          stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: archive.extractfile(member).read()
                for member in archive if member.isreg()}


def differences(package):
    """Returns a list of errors; empty if the bill is correct."""
    name = field(package, 'Package')
    files = files_of(package)
    path = f'./usr/share/doc/{name}/{name}.spdx.json'
    if path not in files:
        return [f'there is no {path}']
    bill = json.loads(files.pop(path))
    found = []

    def expect(what, have, want):
        if have != want:
            found.append(f'{what} is {have!r}, not {want!r}')

    expect('spdxVersion', bill['spdxVersion'], 'SPDX-2.3')
    expect('dataLicense', bill['dataLicense'], 'CC0-1.0')
    expect('name', bill['packages'][0]['name'], name)
    expect('version', bill['packages'][0]['versionInfo'], field(package, 'Version'))
    depends = ', '.join([field(package, 'Pre-Depends'), field(package, 'Depends')])
    expect('dependencies', {part['name'] for part in bill['packages'][1:]},
           set(re.findall(r'(?:^|, ?)([a-z0-9][a-z0-9.+-]*)', depends)))
    expect('files', {part['fileName'] for part in bill['files']}, set(files))
    for part in bill['files']:
        sums = {entry['algorithm']: entry['checksumValue']
                for entry in part['checksums']}
        content = files.get(part['fileName'], b'')
        expect('SHA256 of ' + part['fileName'], sums['SHA256'],
               hashlib.sha256(content).hexdigest())
    ids = [part['SPDXID'] for part in bill['packages'] + bill['files']]
    expect('number of identifiers', len(set(ids)), len(ids))
    expect('what relations name', {relation['relatedSpdxElement']
                                   for relation in bill['relationships']}, set(ids))
    return found


def main():
    """Checks all packages of the command line."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = False
    for package in sys.argv[1:]:
        for sentence in differences(package):
            print(f'{package}: {sentence}')
            failed = True
    sys.exit(failed)


main()
