# SPDX-License-Identifier: BSD-3-Clause
"""Turns foreign.txt into rows of a C array.

Usage: foreign.py INPUT OUTPUT. A line of the input is KIND NAME... : REASON,
where KIND is "variable" (a name that ends in * stands for all that begin so)
or "transport"; several names share a reason. Lines from # on are comments.
"""
import sys

KINDS = ('variable', 'transport')


def quote(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def read(path):
    """Yields (kind, name, reason); joins lines that begin with a blank to the
    one before."""
    with open(path, encoding='ascii') as stream:
        lines = [line.rstrip() for line in stream
                 if line.strip() and not line.startswith('#')]
    entries = []
    for line in lines:
        if line[0].isspace():
            entries[-1] += ' ' + line.strip()
        else:
            entries.append(line)
    for entry in entries:
        head, _, reason = entry.partition(' : ')
        kind, *names = head.split()
        if kind not in KINDS or not names or not reason:
            sys.exit(f'{path}: not KIND NAME... : REASON: {entry}')
        for name in names:
            yield kind, name, reason.strip()


def main():
    source, target = sys.argv[1:]
    with open(target, 'w', encoding='ascii') as stream:
        stream.write('#include "ucs/config/foreign.h"\n\n'
                     'const config_foreign_t config_foreign[] = {\n')
        for kind, name, reason in read(source):
            stream.write(f'    {{CONFIG_FOREIGN_{kind.upper()}, {quote(name)},\n'
                         f'     {quote(reason)}}},\n')
        stream.write('    {CONFIG_FOREIGN_VARIABLE, 0, 0}\n};\n')


if __name__ == '__main__':
    main()
