#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the kit's command line: exit codes, help, the list of checks, invalid
manifests and libraries.

usage: usage.py KIT
"""
import json
import os
import subprocess
import sys
import tempfile


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def expect(what, condition):
    print(('ok      ' if condition else 'FAILED  ') + what)
    return 0 if condition else 1


def damaged_libraries(kit, folder):
    """Checks that an unreadable library causes a finding of rule 1, not a crash."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, 'plugin', 'probe.json'),
              encoding='utf-8') as file:
        manifest = json.load(file)
    path = os.path.join(folder, 'damaged.json')
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(dict(manifest, name='damaged', library='damaged.so'), file)
    with open(kit, 'rb') as file:
        whole = file.read(4096)
    failed = 0
    for what, content in (('an empty library', b''),
                          ('a library that is cut off', whole),
                          ('a library with a damaged header',
                           whole[:40] + b'\xff' * 24 + whole[64:])):
        with open(os.path.join(folder, 'damaged.so'), 'wb') as file:
            file.write(content)
        code, out, _ = run(kit, '--json', '--only', 'library', path)
        findings = json.loads(out)['checks'][0]['findings']
        failed += expect('%s is a finding' % what, code == 1 and
                         [found['rule'] for found in findings] == [1])
    return failed


def main():
    kit = sys.argv[1]
    failed = 0

    code, out, _ = run(kit, '--help')
    failed += expect('--help exits with 0 and shows the exit codes',
                     code == 0 and 'Exit codes' in out)
    code, out, _ = run(kit, '--list', '--json')
    checks = json.loads(out)
    failed += expect('--list names checks, each with rules',
                     code == 0 and len(checks) > 15 and
                     all(check['rules'] for check in checks))
    for arguments in ([], ['--nonsense'], ['--only', 'nothing', 'x.json'],
                      ['/nonexistent/x.json'], ['--timeout', 'soon', 'x.json'],
                      ['--notice', '0', 'x.json'],
                      ['--tolerance', '0.5', 'x.json'], ['a.json', 'b.json']):
        code, _, err = run(kit, *arguments)
        failed += expect('exit code 2 and a hint for %s' % arguments,
                         code == 2 and '--help' in err)

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'broken.json')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('{"name": "broken", "version": 7}')
        code, out, _ = run(kit, '--json', path)
        report = json.loads(out)
        failed += expect('a manifest that violates the schema does not conform',
                         code == 1 and not report['conforms'] and
                         report['checks'][0]['findings'][0]['rule'] == 24)
        failed += expect('no other check runs then',
                         all(check['outcome'] == 'skipped'
                             for check in report['checks'][1:]))
        failed += damaged_libraries(kit, folder)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
