#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that UCX_STATS reports the counters that the example udp defines.
usage: counters.py PERFTEST
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

MESSAGES = 500


def main():
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, UCX_TLS='udp',
                   UCX_STATS_DEST='file:%s/%%p.json' % folder)
        subprocess.run([sys.argv[1], '--self-fork', '-t', 'tag_lat', '-s', '8',
                        '-n', str(MESSAGES), '-w', '1'], env=env, check=True)
        reports = []
        for path in glob.glob(folder + '/*.json'):
            with open(path, encoding='utf-8') as file:
                reports.append(json.load(file))

    # both processes must have sent and received
    totals = [report['totals'].get('udp', {}).get('counters', {})
              for report in reports]
    print(totals)
    busy = [total for total in totals if total.get('sent', 0) >= MESSAGES and
            total.get('received', 0) >= MESSAGES]
    return 0 if len(busy) == 2 else 'expected two processes that count'


if __name__ == '__main__':
    sys.exit(main())
