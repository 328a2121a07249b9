# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C file that holds a JSON schema, as text and as a table.

Usage: embed.py INPUT OUTPUT HEADER SYMBOL. SYMBOL_text is an array of bytes that
ends with a zero, which SYMBOL_length does not count. SYMBOL_nodes is the same as
a table, each node before those in it, whose names and words lie in SYMBOL_words:
every start of a program needs the schema, and reading text takes ten times as
long. What the schema says to people alone is left out.
"""
import json
import sys

NOTES = {'title', 'description', '$comment', '$id', '$schema', 'examples'}
# Objects whose members have names of their own, and are schemas in turn.
NAMED = {'properties', 'patternProperties', 'definitions'}


def strip(schema, names_are_own=False):
    if isinstance(schema, dict):
        return {name: strip(value, name in NAMED and not names_are_own)
                for name, value in schema.items()
                if names_are_own or name not in NOTES}
    return schema


def as_bytes(data):
    """Bytes above 0x7f do not fit a signed char as a plain constant."""
    for start in range(0, len(data), 12):
        yield '    ' + ' '.join(
            f'{byte if byte < 128 else byte - 256},'
            for byte in data[start:start + 12]) + '\n'


class Table:
    def __init__(self):
        self.words = bytearray(b'\0')
        self.places = {'': 0}
        self.rows = []

    def place(self, word):
        if word not in self.places:
            self.places[word] = len(self.words)
            self.words += word.encode() + b'\0'
        return self.places[word]

    def add(self, value, name=''):
        kind, number, inner = self.describe(value)
        self.rows.append(f'    {{{kind}, {self.place(name)}, {number}}},\n')
        for inner_name, inner_value in inner:
            self.add(inner_value, inner_name)

    def describe(self, value):
        if isinstance(value, dict):
            return 'JSON_OBJECT', len(value), value.items()
        if isinstance(value, list):
            return 'JSON_ARRAY', len(value), [('', item) for item in value]
        if isinstance(value, str):
            return 'JSON_STRING', self.place(value), ()
        if isinstance(value, bool):
            return ('JSON_TRUE' if value else 'JSON_FALSE'), 0, ()
        if isinstance(value, int):
            return 'JSON_INTEGER', value, ()
        sys.exit(f'{value!r} has no place in the table')


source, target, header, symbol = sys.argv[1:]
with open(source, encoding='utf-8') as stream:
    schema = strip(json.load(stream))
text = json.dumps(schema, separators=(',', ':')).encode()
table = Table()
table.add(schema)

with open(target, 'w', encoding='ascii') as stream:
    stream.write(f'#include "{header}"\n\nconst char {symbol}_text[] = {{\n')
    stream.writelines(as_bytes(text + b'\0'))
    stream.write(f'}};\nconst size_t {symbol}_length = {len(text)};\n\n')
    stream.write(f'const char {symbol}_words[] = {{\n')
    stream.writelines(as_bytes(table.words))
    stream.write(f'}};\nconst uct_schema_node_t {symbol}_nodes[] = {{\n')
    stream.writelines(table.rows)
    stream.write('};\n')
