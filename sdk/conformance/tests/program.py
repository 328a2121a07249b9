#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program over a plugin that breaks one rule, with UCX_PLUGIN_CHECK.

usage: program.py PERFTEST LIBRARY MANIFEST DEFECT RULE

The library and its manifest are copied into a folder named after the defect: the
plugin selects the defect by this name. It is the only transport. The log must name
the rule; the exit status of the program is ignored. An empty DEFECT: the log must
name no rule, and the program must succeed. A program that exits normally must print
a summary of the checked calls.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def main():
    perftest, library, manifest, defect, rule = sys.argv[1:6]
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, defect or 'good')
        os.mkdir(folder)
        copy = shutil.copy(manifest, folder)
        with open(copy, encoding='utf-8') as file:
            name = json.load(file)['library']
        shutil.copy(library, os.path.join(folder, name))
        # zero-copy from the first byte; a window that fills the queue
        env = dict(os.environ, UCX_PLUGIN_PATH=folder, UCX_TLS='probe',
                   UCX_PLUGIN_CHECK='y', UCX_LOG_LEVEL='warn')
        log = ''
        whole = ''  # the output of the programs that exited normally
        done = None
        found = set()
        # If the receiver is always faster than the sender, the queue is never full:
        # repeat the run.
        for _ in range(10 if defect else 1):
            for threshold in '0', 'inf':
                env['UCX_ZCOPY_THRESH'] = threshold
                done = subprocess.run(
                    [perftest, '--self-fork', '-t', 'tag_bw', '-s', '2000',
                     '-n', '2000', '-w', '10'], env=env, text=True, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                log += done.stdout
                if done.returncode == 0:
                    whole += done.stdout
            found |= set(re.findall('breaks rule ([0-9]+) of', log))
            if rule in found:
                break

    print(log)
    summary = re.findall('plugin check: probe: ([0-9]+) calls checked, ([0-9]+) '
                         'findings(.*)', log)
    # A program that was stopped by the defect prints no summary.
    must_tell = 'breaks rule %s of' % rule in whole
    if (not summary and whole) or not all(int(calls) > 0 for calls, _, _ in summary):
        sys.exit('no summary of the calls that were checked')
    if must_tell and not any(int(number) > 0 and re.search(r'\b%s\b' % rule, rules)
                          for _, number, rules in summary):
        sys.exit('no summary has rule ' + rule)
    if not defect and any(int(number) > 0 for _, number, _ in summary):
        sys.exit('a good plugin has findings in a summary')
    if not defect and (found or done.returncode != 0):
        sys.exit('a good plugin: exit code %d, reported: %s' %
                 (done.returncode, sorted(found)))
    if defect and rule not in found:
        sys.exit('rule %s is not reported, but %s' % (rule, sorted(found)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
