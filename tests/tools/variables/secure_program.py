#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a set-user-ID program of root as another user, who sets every variable
that names a path. No file may be created in the folder that the variables
name, the user's own ucx.conf must have no effect, and a warning must name each
ignored variable. The same program without the privilege must use the
variables, which shows that the test can detect an effect.

Usage: secure_program.py PROGRAM PLUGIN_FOLDER...

Needs root, and a separate mount namespace: there the plugins are in
/etc/ucx/plugins.d, because a set-user-ID program ignores UCX_PLUGIN_PATH. Exit
codes: 0 passed, 1 failed, 77 skipped.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

USER = 65534  # nobody
INSIDE = 'SECURE_PROGRAM_INSIDE'
PATHS = {
    'UCX_POSIX_DIR': '{}',
    'UCX_LOG_FILE': '{}/log',
    'UCX_STATS_DEST': 'file:{}/stats',
    'UCX_CONFIG_DIR': '{}',
    'UCX_PLUGIN_PATH': '{}',
}
MARK = 'UCX_TLS_OF_THE_USER'


def skip(reason):
    print('skipped: ' + reason)
    sys.exit(77)


def enter_namespace():
    """Runs this script again in a mount namespace in which /etc is a copy."""
    if os.geteuid() != 0:
        skip('only root can make a set-user-ID program of root')
    if not shutil.which('unshare'):
        skip('there is no unshare here')
    done = subprocess.run(['unshare', '--mount', 'true'], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        skip('no mount namespace: ' + done.stderr.strip())
    os.environ[INSIDE] = '1'
    os.execvp('unshare', ['unshare', '--mount', '--propagation', 'private',
                          sys.executable] + sys.argv)


def install(folder, program, plugin_folders):
    """Installs the plugins in the administrator's folder, and copies the program,
    which becomes set-user-ID later; returns the copy's path."""
    etc = os.path.join(folder, 'etc')
    shutil.copytree('/etc', etc, symlinks=True)
    plugins = os.path.join(etc, 'ucx', 'plugins.d')
    os.makedirs(plugins)
    for source in plugin_folders:
        for path in glob.glob(os.path.join(source, '*.json')) + \
                glob.glob(os.path.join(source, 'libucx-*.so')):
            shutil.copy(path, plugins)
    subprocess.run(['mount', '--bind', etc, '/etc'], check=True)
    copy = os.path.join(folder, 'program')
    shutil.copy(program, copy)
    return copy


def environment(drop):
    environ = {'PATH': os.environ['PATH'], 'HOME': drop,
               'UCX_TLS': 'posix', 'UCX_POSIX_USE_NAMES': 'y',
               'UCX_LOG_LEVEL': 'warn'}
    for name, value in PATHS.items():
        environ[name] = value.format(drop)
    return environ


def run(program, drop):
    return subprocess.run([program], user=USER, group=USER, extra_groups=[],
                          cwd=drop, env=environment(drop), check=False,
                          capture_output=True, text=True, timeout=60)


def watch(program, drop):
    """Runs the program. Returns the result, and whether the folder's modification
    time has changed: then a file was created or removed there."""
    before = os.stat(drop).st_mtime_ns
    done = run(program, drop)
    return done, os.stat(drop).st_mtime_ns != before


def check_plain(program, drop):
    """Without the privilege, the variables and the file must have an effect."""
    done, changed = watch(program, drop)
    if not done.stdout.startswith('plain'):
        yield 'the plain copy is not plain: ' + done.stdout
    if done.returncode != 0:
        yield 'the plain copy failed: ' + done.stderr
    if not changed:
        yield 'the plain copy created nothing where it was told'
    log = os.path.join(drop, 'log')
    if not os.path.exists(log) or MARK not in open(log, encoding='ascii').read():
        yield "the plain copy did not read the user's ucx.conf"


def check_secure(program, drop):
    done, changed = watch(program, drop)
    if not done.stdout.startswith('secure'):
        skip('the set-user-ID bit has no effect here')
    if done.returncode != 0:
        yield 'the set-user-ID copy failed: ' + done.stderr
    if changed:
        yield 'files were created in the folder that the user named'
    for name in PATHS:
        if done.stderr.count(name + ' in the environment is ignored') != 1:
            yield f'{name}: there is not one warning: ' + done.stderr
    if MARK in done.stderr:
        yield "the user's ucx.conf was read"


def main():
    if INSIDE not in os.environ:
        enter_namespace()
    program, plugin_folders = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = install(folder, program, plugin_folders)
        drop = os.path.join(folder, 'drop')
        conf = os.path.join(drop, 'ucx.conf')
        os.mkdir(drop)
        with open(conf, 'w', encoding='ascii') as stream:
            stream.write(MARK + '=y\n')

        os.chown(drop, USER, USER)
        faults = list(check_plain(copy, drop))
        for name in os.listdir(drop):
            if name != 'ucx.conf':
                os.remove(os.path.join(drop, name))

        # from here on only root can write to the folder
        os.chown(drop, 0, 0)
        os.chmod(copy, 0o4755)
        faults += check_secure(copy, drop)
        subprocess.run(['umount', '/etc'], check=True)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
