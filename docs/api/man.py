#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes manual pages from Doxygen's XML: one in section 3 for each function.

usage: man.py XML_FOLDER MAN_FOLDER VERSION

Ends with status 1 and a list if a function of UCP, UCT, UCS or UCM has no
documentation, or returns a value that its documentation does not describe.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def text(node):
    """All text below a node, with single spaces."""
    if node is None:
        return ''
    return re.sub(r'\s+', ' ', ''.join(node.itertext())).strip()


def roff(string):
    """Text as troff takes it: no line is taken for a request."""
    string = string.replace('\\', '\\e').replace('-', '\\-')
    return re.sub(r"(?m)^([.'])", r'\\&\1', string)


def paragraphs(node):
    """The paragraphs of a description, without parameters and results."""
    for para in node.findall('para'):
        words = []
        if para.text:
            words.append(para.text)
        for child in para:
            if child.tag == 'verbatim':
                if ''.join(words).strip():
                    yield 'text', re.sub(r'\s+', ' ', ''.join(words)).strip()
                words = []
                yield 'verbatim', child.text.strip('\n')
            elif child.tag == 'itemizedlist':
                if ''.join(words).strip():
                    yield 'text', re.sub(r'\s+', ' ', ''.join(words)).strip()
                words = []
                for item in child.findall('listitem'):
                    yield 'item', text(item)
            elif child.tag not in ('parameterlist', 'simplesect', 'xrefsect'):
                words.append(''.join(child.itertext()))
            if child.tail:
                words.append(child.tail)
        joined = re.sub(r'\s+', ' ', ''.join(words)).strip()
        if joined:
            yield 'text', joined


class Function:
    def __init__(self, node, group):
        self.name = text(node.find('name'))
        self.type = text(node.find('type')).replace('UCS_F_ALWAYS_INLINE ', '')
        self.group = group
        self.header = node.find('location').get('file')
        self.brief = text(node.find('briefdescription'))
        self.detail = node.find('detaileddescription')
        self.params = [(text(p.find('type')), text(p.find('declname')),
                        text(p.find('array')))
                       for p in node.findall('param')]
        self.result = ' '.join(text(s) for s in node.iter('simplesect')
                               if s.get('kind') == 'return')
        self.refs = sorted({text(r).rstrip('()') for d in
                            (node.find('briefdescription'), self.detail)
                            for r in d.iter('ref') if text(r).endswith('()')}
                           - {self.name})

    def faults(self):
        if not self.brief:
            yield 'no documentation'
        is_void = re.sub(r'\b(static|inline)\b', '', self.type).strip() == 'void'
        if not is_void and not self.result:
            yield 'its value is not described (@return)'

    def page(self, version):
        lines = ['.\\" Written by docs/api/man.py from <%s>' % self.header,
                 '.TH %s 3 "" "ucx-core %s" "%s"' %
                 (self.name.upper(), version, self.group), '.SH NAME',
                 '%s \\- %s' % (self.name, roff(self.brief.rstrip('.'))),
                 '.SH SYNOPSIS', '.nf',
                 '.B #include <%s>' % self.header, '.PP']
        kind = self.type + ('' if self.type.endswith('*') else ' ')
        head = '%s%s(' % (kind, self.name)
        params = []
        for form, name, array in self.params:
            gap = '' if form.endswith('*') or not name else ' '
            params.append(roff(form + gap + name + array))
        pad = ' ' * len(head)
        lines.append('.B ' + roff(head) + (',\n.B "' + pad).join(params) + ');')
        lines = [re.sub(r'(?m)^(\.B "[^"\n]*)$', r'\1"', l) for l in lines]
        lines += ['.fi', '.SH DESCRIPTION', roff(self.brief)]
        for kind, words in paragraphs(self.detail):
            if kind == 'verbatim':
                lines += ['.PP', '.nf', roff(words), '.fi']
            elif kind == 'item':
                lines += ['.IP \\(bu 2', roff(words)]
            else:
                lines += ['.PP', roff(words)]
        items = list(self.detail.iter('parameteritem'))
        if items:
            lines.append('.SH PARAMETERS')
        for item in items:
            names = ', '.join(text(n) for n in item.iter('parametername'))
            lines += ['.TP', '.I ' + names,
                      roff(text(item.find('parameterdescription')))]
        if self.result:
            lines += ['.SH RETURN VALUE', roff(self.result)]
        for sect in self.detail.iter('xrefsect'):
            lines += ['.SH DEPRECATED', roff(text(sect.find('xrefdescription')))]
        if self.refs:
            lines += ['.SH SEE ALSO',
                      ',\n'.join('.BR %s (3)' % r for r in self.refs)]
            lines[-1] = lines[-1].replace('(3),\n', '(3),\n')
        return '\n'.join(lines) + '\n'


def read_functions(folder):
    """Functions of all groups, by name."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if not name.startswith('group__'):
            continue
        root = ElementTree.parse(os.path.join(folder, name)).getroot()
        title = text(root.find('compounddef/title'))
        for node in root.iter('memberdef'):
            if node.get('kind') == 'function':
                function = Function(node, title)
                found[function.name] = function
    return found


def main():
    xml_folder, man_folder, version = sys.argv[1:4]
    functions = read_functions(xml_folder)
    bad = 0
    os.makedirs(os.path.join(man_folder, 'man3'), exist_ok=True)
    for function in functions.values():
        for fault in function.faults():
            print('%s: %s: %s' % (function.header, function.name, fault),
                  file=sys.stderr)
            bad += 1
        path = os.path.join(man_folder, 'man3', function.name + '.3')
        with open(path, 'w') as page:
            page.write(function.page(version))
    print('%d manual pages in %s' % (len(functions), man_folder))
    return 1 if bad or not functions else 0


if __name__ == '__main__':
    sys.exit(main())
