#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plugins of ABI 1.0 run on this core.

usage: plugins_1_0.py SOURCE-ROOT PERFTEST KIT COMPILER...

Makes the headers of 1.0 (older.py), compares them with the dump of 1.0, builds
two plugins with them (the template, and "pairs" with endpoints that are connected
by others, registration and zero-copy) and runs both: the kit, which must find no
broken rule, and messages of a program with UCX_PLUGIN_CHECK.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Lines of probe.c for what 1.0 does not have.
NEWER = ('ucx_config_flags_t|ucx_counters_params_t|UCX_MEM_WANT_DMABUF|'
         'UCX_IFACE_FLAG_ALIGNS_AM|UCX_IFACE_OPEN_POLLED|UCX_MKEY_PACK_PROCESS')

LINK = ['-Wl,-z,now', '-Wl,-z,defs', '-pthread']


def run(command, env=None):
    done = subprocess.run(command, env=env, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit('%s\nfailed with %d: %s' %
                 (done.stdout, done.returncode, ' '.join(command)))
    return done.stdout


def check_headers(root, folder, compiler, flags):
    """The headers are those of 1.0: no table has grown beyond its dump."""
    with open(os.path.join(root, 'sdk/abi/probe.c'), encoding='utf-8') as file:
        lines = [line for line in file if not
                 re.search(NEWER, line)]
    probe = os.path.join(folder, 'probe.c')
    with open(probe, 'w', encoding='utf-8') as file:
        file.writelines(lines)
    library = os.path.join(folder, 'probe.so')
    run(compiler + flags + ['-g', '-O0', '-fvisibility=hidden', '-o', library,
                            probe])
    done = subprocess.run([os.path.join(root, 'sdk/abi/compare'),
                           os.path.join(root, 'sdk/abi/ucx-plugin-1.0.abi'),
                           library], text=True, check=False,
                          stdout=subprocess.PIPE)
    print(done.stdout)
    if done.returncode not in (0, 77) or 'has grown' in done.stdout:
        sys.exit('the headers are not those of 1.0; see older.py')


def build(folder, name, command, manifest):
    """Builds a plugin and its manifest, which states ABI 1.0."""
    target = os.path.join(folder, name)
    os.mkdir(target)
    run(command + ['-o', os.path.join(target, 'libucx-%s.so' % name)])
    with open(manifest, encoding='utf-8') as file:
        content = json.loads(file.read().replace('@VERSION@', '0.1.0'))
    content['abi'] = '1.0'
    path = os.path.join(target, name + '.json')
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(content, file)
    return path


def main():
    root, perftest, kit = sys.argv[1:4]
    compiler = sys.argv[4:]
    template = os.path.join(root, 'sdk/template')
    plugins = os.path.join(root, 'tests/plugins')
    with tempfile.TemporaryDirectory() as folder:
        run([sys.executable, os.path.join(root, 'sdk/abi/older.py'),
             os.path.join(root, 'sdk/include'), folder])
        flags = ['-std=gnu11', '-D_GNU_SOURCE', '-fPIC', '-shared',
                 '-I' + folder, '-I' + os.path.join(root, 'core/include')]
        check_headers(root, folder, compiler, flags)
        manifests = [
            build(folder, 'template',
                  compiler + flags + LINK +
                  ['-O1', '-fvisibility=hidden',
                   '-DTEMPLATE_VERSION="0.1.0"',
                   '-Wl,--version-script=' + template + '/src/plugin.map'] +
                  sorted(glob.glob(template + '/src/*.c')),
                  template + '/template.json.in'),
            build(folder, 'pairs',
                  compiler + flags + LINK +
                  ['-O1', '-fvisibility=hidden', '-I' + plugins + '/common',
                   '-Wl,--version-script=' + plugins + '/common/plugin.map'] +
                  sorted(glob.glob(plugins + '/pairs/src/*.c') +
                         glob.glob(plugins + '/common/*.c')),
                  plugins + '/pairs/pairs.json')]
        for manifest in manifests:
            # pairs states low costs, so that it is selected
            print(run([kit, '--tolerance', '50', manifest]))
        env = dict(os.environ, UCX_TLS='pairs,tcp', UCX_PLUGIN_CHECK='abort',
                   UCX_PLUGIN_PATH=os.path.join(folder, 'pairs') + ':' +
                   os.environ.get('UCX_PLUGIN_PATH', ''))
        for test, size in ('tag_lat', '8'), ('tag_bw', '100000'), \
                ('ucp_put_bw', '4096'):
            print(run([perftest, '--self-fork', '-t', test, '-s', size, '-n',
                       '1000', '-w', '10'], env))
    return 0


if __name__ == '__main__':
    sys.exit(main())
