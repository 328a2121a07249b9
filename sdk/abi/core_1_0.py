#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plugins of today's ABI run on a core of 1.0.

usage: core_1_0.py SOURCE-ROOT PLUGIN... -- COMPILER...

Builds core_1_0.c with the headers of 1.0, and runs each plugin (a shared object)
on it. The last plugin is run again from a folder named reads-newer, which
selects a defect: it reads a member of 1.1 from a table of 1.0, and must crash.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile


def main():
    root = sys.argv[1]
    end = sys.argv.index('--')
    plugins, compiler = sys.argv[2:end], sys.argv[end + 1:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(root, 'sdk/abi/older.py'),
                        os.path.join(root, 'sdk/include'), folder], check=True)
        core = os.path.join(folder, 'core_1_0')
        subprocess.run(compiler +
                       ['-std=gnu11', '-D_GNU_SOURCE', '-Wall', '-Werror',
                        '-I' + folder, '-I' + os.path.join(root, 'core/include'),
                        '-o', core, os.path.join(root, 'sdk/abi/core_1_0.c'),
                        '-ldl', '-lm'], check=True)
        for plugin in plugins:
            done = subprocess.run([core, plugin, folder], check=False)
            if done.returncode != 0:
                sys.exit('%s does not run: %d' % (plugin, done.returncode))

        defect = os.path.join(folder, 'reads-newer')
        os.mkdir(defect)
        shutil.copy(plugins[-1], defect)
        done = subprocess.run([core, os.path.join(
            defect, os.path.basename(plugins[-1])), defect], check=False)
        if done.returncode != -signal.SIGSEGV:
            sys.exit('reading beyond a table of 1.0 was not detected: %d' %
                     done.returncode)
    return 0


if __name__ == '__main__':
    sys.exit(main())
