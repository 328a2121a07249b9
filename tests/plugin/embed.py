# SPDX-License-Identifier: BSD-3-Clause
"""Tests the script that converts the JSON schema of manifests to a C table: it
must reject texts that are no valid schema, and keywords that the core does not
support. Usage: embed.py CORE_EMBED_PY"""
import subprocess
import sys
import tempfile

REJECTED = ['', '[]', '{', '{"$ref":"#/definitions/none"}', '{"$ref":"none"}',
           '{"$ref":"http://elsewhere"}', '{"type":3}', '{"required":[1]}',
           '{"pattern":1}', '{"minLength":"2"}', '{"items":[]}',
           '{"maximum":1.5}', '{"minimum":true}', '{"uniqueItems":1}',
           '{"additionalProperties":{}}', '{"properties":{"a":1}}',
           '{"properties":[]}', '{"oneOf":[]}', '{"items":{"const":1}}',
           '{"properties":{"a":{"format":"email"}}}',
           '{"definitions":{"d":{"not":{}}}}']
TAKEN = ['{}', '{"title":"","$ref":"#/definitions/d","definitions":{"d":{}}}',
         '{"type":["string","object"],"required":["a"],"maximum":-1}',
         '{"properties":{"format":{"additionalProperties":false}}}']


def status(text, folder):
    with open(folder + '/schema.json', 'w', encoding='utf-8') as stream:
        stream.write(text)
    return subprocess.run(
        [sys.executable, sys.argv[1], folder + '/schema.json',
         folder + '/schema.c', 'schema.h', 'symbol'],
        stderr=subprocess.DEVNULL, check=False).returncode


with tempfile.TemporaryDirectory() as scratch:
    wrong = [text for text in REJECTED if status(text, scratch) == 0]
    wrong += [text for text in TAKEN if status(text, scratch) != 0]
if wrong:
    sys.exit('taken or rejected wrongly: ' + ' '.join(wrong))
