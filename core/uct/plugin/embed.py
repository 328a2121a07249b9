# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C file that holds the bytes of a text file as a constant array.

Usage: embed.py INPUT OUTPUT HEADER SYMBOL. The array is SYMBOL_text and ends
with a zero byte; SYMBOL_length does not count that.
"""
import sys

source, target, header, symbol = sys.argv[1:]
with open(source, 'rb') as stream:
    data = stream.read()

with open(target, 'w', encoding='ascii') as stream:
    stream.write(f'#include "{header}"\n\nconst char {symbol}_text[] = {{\n')
    for start in range(0, len(data), 12):
        row = data[start:start + 12]
        # Bytes above 0x7f do not fit a signed char as a plain constant.
        stream.write('    ' + ' '.join(
            f'{byte if byte < 128 else byte - 256},' for byte in row) + '\n')
    stream.write('    0\n};\n')
    stream.write(f'const size_t {symbol}_length = {len(data)};\n')
