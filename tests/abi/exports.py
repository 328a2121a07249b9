# SPDX-License-Identifier: BSD-3-Clause
"""Compares the symbols that the drop-in libraries export with the known ABI: no
symbol may be missing, and each additional symbol needs a stated reason.

Usage: exports.py NM FUNCTIONS.TXT PUBLIC.TXT MODULE=DROP-IN:CORE...
"""
import subprocess
import sys

# Symbols that files of core/compat define, instead of forwarding them to the
# core; with the reason.
OWN = {
    'ucs_memtrack_allocated': 'io_demo tells of its memory by it',
    'ucs_memtrack_releasing': 'io_demo tells of its memory by it',
    'ucs_config_array_string': 'a table that programs hold a copy of',
    'ucs_log_level_names': 'the same',
    'ucs_profile_mode_names': 'the same',
    'ucs_async_mode_names': 'the same',
    'ucs_memory_type_descs': 'the same',
    'ucs_memory_type_names': 'the same',
    'ucs_numa_policy_names': 'the same',
    'ucs_thread_mode_names': 'the same',
    'uct_alloc_method_names': 'the same',
    'uct_device_type_names': 'the same',
    'void_class': 'the same',
}


def own_names(module):
    # void_class, the base of all classes, is the only name without a library's
    # prefix
    return {name for name in OWN if name.startswith(module + '_') or
            (name == 'void_class' and module == 'ucs')}


def tables(names):
    return {name for name in names
            if name.endswith(('_names', '_descs', '_class', '_array_string'))}


def read_facts(path):
    """Returns a dict: name -> 'exported' or 'inline'."""
    with open(path, encoding='ascii') as stream:
        rows = [line.split() for line in stream if line.strip()]
    return {name: kind for _, kind, name in rows}


def read_public(path):
    """Returns a list of (name, reason). The reason 'public' means that a public
    header declares the name. The first paragraph of the file describes the
    file."""
    names = []
    with open(path, encoding='ascii') as stream:
        for paragraph in stream.read().strip().split('\n\n')[1:]:
            lines = paragraph.split('\n')
            reason = ' '.join(line[1:].strip() for line in lines
                              if line.startswith('#'))
            names += [(line, reason) for line in lines
                      if not line.startswith('#')]
    return names


def exported(nm, library):
    output = subprocess.run([nm, '-D', '--defined-only', library], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    # a line is "address kind name" or "address kind name@@VERSION"
    return {line.split()[2].split('@')[0] for line in output.splitlines()
            if line.split()[1] != 'A' and
            not line.split()[2].startswith('__odr_asan.')} # of sanitizers


def compare_lists(facts, public):
    names = [name for name, _ in public]
    for name, kind in facts.items():
        if kind == 'exported' and name not in names:
            yield f'{name}: a public header has it, public.txt has not'
    for name, reason in public:
        if names.count(name) > 1:
            yield f'{name}: public.txt has it more than once'
        elif not reason:
            yield f'{name}: public.txt does not say why it is there'
        elif (reason == 'public') != (facts.get(name) == 'exported'):
            yield (f'{name}: stands under "{reason}" in public.txt, but is '
                   f'{facts.get(name, "nothing")} in the facts')


def compare_libraries(nm, module, libraries, facts, public):
    dropin, core = (exported(nm, library) for library in libraries.split(':'))
    wanted = {name for name, _ in public if name.startswith(module + '_')}
    own = own_names(module)
    for name in sorted((wanted | own) - dropin):
        yield f'{name}: lib{module} does not export it'
    for name in sorted(dropin - wanted - own):
        yield f'{name}: lib{module} exports it, and nobody says why'
    # the core must export what the headers declare, and the functions to which
    # the drop-in libraries forward
    for name in sorted(((wanted & facts.keys()) | tables(own) |
                        {'core_' + name for name in wanted}) - core):
        yield f'{name}: lib{module}-core does not export it'


def main():
    nm, functions, public_txt = sys.argv[1:4]
    facts, public = read_facts(functions), read_public(public_txt)
    faults = list(compare_lists(facts, public))
    for argument in sys.argv[4:]:
        module, _, libraries = argument.partition('=')
        faults += compare_libraries(nm, module, libraries, facts, public)
    if faults:
        sys.exit('\n'.join(faults))


main()
