# SPDX-License-Identifier: BSD-3-Clause
"""Converts a JSON schema to a C file with a constant table.

Usage: embed.py INPUT OUTPUT HEADER SYMBOL. INPUT is the schema. The C file OUTPUT
includes HEADER and defines SYMBOL, a constant of type uct_schema_t, so that a
program need not parse the schema when it starts. The nodes of an object or array
follow its own node. Keywords that are only for readers (NOTES) are left out.

The script fails if the schema is malformed, or has a keyword that the C code
(schema.c) does not support: that rule would not be enforced.
"""
import json
import re
import sys

NOTES = {'title', 'description', '$comment', '$id', '$schema', 'examples'}
# Keywords whose value is an object with members of any name, each of which is a
# schema.
NAMED = {'properties', 'patternProperties', 'definitions'}
SCHEMAS = {'items', 'if', 'then', 'else'}
# The types that the value of each other keyword may have. '': of an element of
# a list.
TYPES = {'type': (str, list), 'enum': (list,), 'required': (list,), '': (str,),
         'pattern': (str,), '$ref': (str,), 'additionalProperties': (bool,),
         'uniqueItems': (bool,), 'minimum': (int,), 'maximum': (int,),
         'minLength': (int,), 'maxLength': (int,), 'minItems': (int,),
         'maxItems': (int,)}


def fail(name, value):
    sys.exit(f'embed.py: {json.dumps({name: value})} has no place in a schema')


class Table:
    def __init__(self, schema):
        if not isinstance(schema, dict):
            fail('', schema)
        self.words = bytearray(b'\0')
        self.places = {'': 0}
        self.rows = []
        self.references = {'#/definitions/' + name
                           for name in schema.get('definitions', ())}
        self.add_schema('', 'NO_KEYWORD', schema)

    def place(self, word):
        if word not in self.places:
            self.places[word] = len(self.words)
            self.words += word.encode() + b'\0'
        return self.places[word]

    def add(self, name, keyword, kind, number=0, inner=()):
        """inner: functions that add a node each."""
        row = len(self.rows)
        self.rows.append('')
        for add in inner:
            add()
        self.rows[row] = (f'    {{JSON_{kind}, UCT_SCHEMA_{keyword}, '
                          f'{len(self.rows) - row}, {self.place(name)}, '
                          f'{number}}},\n')

    def add_schema(self, name, keyword, schema):
        if not isinstance(schema, dict):
            fail(name, schema)
        self.add(name, keyword, 'OBJECT', 0, [
            lambda name=inner, value=value: self.add_member(name, value)
            for inner, value in schema.items() if inner not in NOTES])

    def add_member(self, name, value):
        keyword = re.sub('([A-Z])', r'_\1', name).lstrip('$').upper()
        if name in NAMED and not isinstance(value, dict):
            fail(name, value)
        elif name in NAMED:
            self.add(name, keyword, 'OBJECT', 0, [
                lambda name=inner, schema=schema: self.add_schema(
                    name, 'NO_KEYWORD', schema)
                for inner, schema in value.items()])
        elif name in SCHEMAS:
            self.add_schema(name, keyword, value)
        else:
            self.add_rule(name, keyword, value)

    def add_rule(self, name, keyword, value):
        # by type(): true and false are integers to Python, not to JSON
        if type(value) not in TYPES.get(name, ()) or (
                name == '$ref' and value not in self.references):
            fail(name, value)
        if isinstance(value, list):
            self.add(name, keyword, 'ARRAY', 0, [
                lambda word=word: self.add_rule('', 'NO_KEYWORD', word)
                for word in value])
        elif isinstance(value, str):
            self.add(name, keyword, 'STRING', self.place(value))
        elif isinstance(value, bool):
            self.add(name, keyword, 'TRUE' if value else 'FALSE')
        else:
            self.add(name, keyword, 'INTEGER', value)


def as_bytes(data):
    """Bytes above 0x7f do not fit a signed char as a plain constant."""
    for start in range(0, len(data), 12):
        yield '    ' + ' '.join(
            f'{byte if byte < 128 else byte - 256},'
            for byte in data[start:start + 12]) + '\n'


source, target, header, symbol = sys.argv[1:]
with open(source, encoding='utf-8') as stream:
    table = Table(json.load(stream))

with open(target, 'w', encoding='ascii') as stream:
    stream.write(f'#include "{header}"\n\nstatic const char words[] = {{\n')
    stream.writelines(as_bytes(table.words))
    stream.write('};\nstatic const uct_schema_node_t nodes[] = {\n')
    stream.writelines(table.rows)
    stream.write(f'}};\nconst uct_schema_t {symbol} = {{nodes, words}};\n')
