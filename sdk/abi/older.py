#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the SDK's headers of an older minor version of the plugin ABI.

usage: older.py INCLUDE FOLDER

INCLUDE is sdk/include; FOLDER/ucx receives the headers of 1.0: those of today
without what later versions have appended. A member that is appended to a table
gets an entry here; the test `plugins of ABI 1.0 run` compares the result with
the dump of that version.
"""
import os
import re
import sys

MINOR = re.compile(r'(#define UCX_PLUGIN_ABI_MINOR +)2\n')

# A comment in front of a declaration, whatever it says
COMMENT = r'/\*\*(?:(?!\*/).)*\*/\n'

# File, and expressions of what 1.0 does not have. A space stands for any number
# of spaces.
APPENDED = {
    'config.h': [
        r'/\*\* Properties of a variable.*?} ucx_config_flags_t;\n',
        r'    unsigned          flags;[^}]*?\*/\n',
    ],
    'host.h': [
        r'/\* -{66} \*/\n/\* Counters  .*?} ucx_counters_params_t;\n\n\n',
        r'    /\* --- Since 1\.1 -.*?\n(?=} ucx_host_t;)',
        COMMENT + r'static inline uint64_t \*\s*ucx_counters_create.*?\n}\n\n'
        r'(?=\n' + COMMENT + r'static inline ucx_mpool_elem_t)',
    ],
    'transport.h': [
        r'    double                   keepalive_interval;[^}]*?\*/\n(?=})',
        r'\nenum {\n    /\*\* The caller only polls:.*?\n};\n',
        COMMENT + r'static inline int ucx_iface_is_polled.*?\n}\n',
        r'    double              stream_bandwidth;.*?\*/\n',
        r'/\*\* Seconds between two checks of an idle peer\..*?\n}\n',
        r',\n    /\*\* Messages in a descriptor \(.*?1u << 2,?(?=\n)',
    ],
    'component.h': [
        '    ' + COMMENT + r'    ucs_status_t \(\*inspect\).*?\n(?=};\n)',
        r'    unsigned          wanted;[^\n]*\n',
        r'    uint32_t place;[^}]*?\*/\n',
        r'\nenum {\n    /\*\* mem_query: export.*?};\n',
        r'    size_t process_key_packed_size;[^}]*?\*/\n(?=} ucx_md_attr_t;)',
        r'    /\*\* mkey_pack: writes a key of all memory.*?1u << 2,\n',
        r'    uint64_t          secret;     /\*\*< See .*?\*/\n',
        r'    uint64_t secret;              /\*\*< Random .*?\*/\n',
    ],
}


def main():
    include, folder = sys.argv[1:]
    source = os.path.join(include, 'ucx')
    target = os.path.join(folder, 'ucx')
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(source)):
        with open(os.path.join(source, name), encoding='utf-8') as file:
            text = file.read()
        if name == 'abi.h':
            text = MINOR.sub(r'\g<1>0\n', text)
        for pattern in APPENDED.get(name, []):
            text, count = re.subn(re.sub(' +', ' +', pattern), '', text,
                                  flags=re.DOTALL)
            if count != 1:
                sys.exit('%s: "%s" is found %d times, expected once' %
                         (name, pattern, count))
        with open(os.path.join(target, name), 'w', encoding='utf-8') as file:
            file.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
