# SPDX-License-Identifier: BSD-3-Clause
"""Compiles a program with one compiler, links it with libraries, runs it, and
checks its log messages.

Usage: run_uses.py INCLUDE SOURCE COMPILER FOLDER:LIBRARY...
"""
import os
import re
import subprocess
import sys
import tempfile

STANDARDS = {'c': ['gnu99', 'gnu11'], 'c++': ['gnu++11', 'gnu++17']}
# the expected log messages of each program, in this order
LOGGED = {'uses.c': [r'uses\.c:\d+ +USES +WARN +shown 1$',
                     r'uses\.c:\d+ +USES +ERROR dispatched too$',
                     r'uses\.c:\d+ +UCX +WARN +of the library$',
                     r'UCX +FATAL and went on$'],
          'uses_types.c': [],
          'uses_options.c': [r"ERROR.* 'many' is not a valid value for COUNT: .*whole",
                             r"ERROR.* 'red,pink' is not a valid value for COLORS: ",
                             r"ERROR.* 'red,pink' is not a valid value for COLORS: ",
                             r"ERROR.* 'pink' is not a valid value for UCC_MY_COLOR: ",
                             r"ERROR.* 'pink' is not a valid value for UCC_MY_COLOR: "]}


def libraries(arguments):
    for argument in arguments:
        folder, name = argument.split(':')
        yield from ['-L' + folder, '-Wl,-rpath,' + folder, '-l' + name]


def check_log(source, text):
    lines = text.splitlines()
    patterns = LOGGED[os.path.basename(source)]
    if len(lines) != len(patterns):
        return False
    return all(re.search(pattern, line)
               for pattern, line in zip(patterns, lines))


def main():
    include, source, compiler = sys.argv[1:4]
    language = 'c++' if '++' in os.path.basename(compiler) else 'c'
    environ = dict(os.environ, UCX_LOG_LEVEL='warn')
    environ.pop('UCX_LOG_FILE', None)
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for standard in STANDARDS[language]:
            # a position-dependent program contains copies of the libraries'
            # tables
            for place in (['-fPIE', '-pie'], ['-fno-PIE', '-no-pie']):
                binary = os.path.join(folder, 'uses')
                subprocess.run([compiler, '-x', language, '-std=' + standard,
                                '-O1', '-pthread', '-Wall', '-Wextra', '-Werror'] + place +
                               ['-I', include, '-o', binary, source,
                                '-x', 'none'] + list(libraries(sys.argv[4:])),
                               check=True)
                done = subprocess.run([binary], check=False, text=True,
                                      capture_output=True, env=environ)
                if done.returncode != 0 or not check_log(source, done.stderr):
                    print(f'{compiler} -std={standard} {place[0]}: '
                          f'{done.returncode}\n{done.stderr}')
                    faults += 1
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
