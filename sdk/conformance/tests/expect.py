#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the kit on a plugin that breaks one rule, and expects a finding.

usage: expect.py KIT LIBRARY MANIFEST DEFECT CHECK RULE [SECONDS]

The library and its manifest are copied into a folder named after the defect: the
plugin selects the defect by this name. A defect of the manifest is planted in the
copy. The kit must exit with 1, and the check must have a finding under RULE. RULE 0:
the check must exceed its time limit. SECONDS replaces the kit's time limit; the
environment variable KIT_NOTICE, if set, is the argument of --notice. The test is
skipped if the check is skipped because the system does not permit it, or if other
programs have disturbed a measurement.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile


# The kit prints this text if it could not measure precisely.
DISTURBED = 'other programs disturbed most rounds'


def transports(manifest):
    return [transport for component in manifest['components']
            for transport in component['transports']]


def remove_connect(manifest):
    for transport in transports(manifest):
        transport['capabilities'].remove('connect_to_iface')


def remove_operation(manifest):
    for transport in transports(manifest):
        transport['operations'].remove('get_short')


def state_other_units(manifest):
    """Declares the latency in seconds and the bandwidth in bytes per second."""
    for transport in transports(manifest):
        transport['latency_ns'] *= 1e-9
        transport['bandwidth_mbps'] *= 1e6


MANIFEST_DEFECTS = {
    'manifest-unconnected': remove_connect,
    'slot-undeclared': remove_operation,
    'manifest-units': state_other_units,
}


def main():
    kit, library, manifest, defect, check, rule = sys.argv[1:7]
    limit = ['--timeout', sys.argv[7]] if len(sys.argv) > 7 else []
    if 'KIT_NOTICE' in os.environ:
        limit += ['--notice', os.environ['KIT_NOTICE']]
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, defect)
        os.mkdir(folder)
        copy = shutil.copy(manifest, folder)
        with open(copy, encoding='utf-8') as file:
            content = json.load(file)
        if defect in MANIFEST_DEFECTS:
            MANIFEST_DEFECTS[defect](content)
            with open(copy, 'w', encoding='utf-8') as file:
                json.dump(content, file)
        shutil.copy(library, os.path.join(folder, content['library']))
        done = subprocess.run(
            [kit, '--json', '--only', check] + limit + [copy],
            stdout=subprocess.PIPE, check=False)

    report = json.loads(done.stdout)
    findings = [finding for entry in report['checks']
                for finding in entry['findings']]
    for finding in findings:
        print('rule {rule}: {text}'.format(**finding))
    if report['checks'][-1]['outcome'] == 'skipped':
        print(report['checks'][-1]['reason'])
        sys.exit(77)
    if done.returncode == 0 and DISTURBED in report['checks'][-1]['note']:
        print(report['checks'][-1]['note'])
        sys.exit(77)
    if done.returncode != 1 or report['conforms']:
        sys.exit('the kit exits with %d, expected 1' % done.returncode)
    if (check == 'costs' and DISTURBED not in report['checks'][-1]['note'] and
            '"latency_ns": ' not in report['checks'][-1]['note']):
        sys.exit('no costs are proposed for the manifest')
    if int(rule) not in [finding['rule'] for finding in findings]:
        sys.exit('there is no finding under rule ' + rule)
    return 0


if __name__ == '__main__':
    sys.exit(main())
