#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The kit's command line: exit codes, help, the list, broken manifests.

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
                      ['--notice', '0', 'x.json'], ['a.json', 'b.json']):
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
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
