#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the planted defects with the list in the rules of the plugin ABI.

usage: rules.py ABI.md DEFECT=RULE...

The first table of the page that begins with "| #" has the rules, numbered without
gaps. The table that begins with "| Rule" has one line for each rule, which names, in
backticks, exactly the defects of that rule. A line without a defect states how the
rule is tested otherwise, or why it is not tested.
"""
import re
import sys


def table(lines, head):
    """Returns the rows below the line that begins with `head`, as {number: last
    cell}."""
    start = [i for i, line in enumerate(lines) if line.startswith(head)]
    if not start:
        sys.exit('no table begins with "%s"' % head)
    rows = {}
    for line in lines[start[0] + 2:]:
        if not line.startswith('|'):
            break
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if int(cells[0]) in rows:
            sys.exit('rule %s is listed twice under "%s"' % (cells[0], head))
        rows[int(cells[0])] = cells[-1]
    return rows


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        lines = file.read().splitlines()
    rules = table(lines, '| #')
    listed = table(lines, '| Rule')
    planted = {}
    for argument in sys.argv[2:]:
        name, rule = argument.rsplit('=', 1)
        planted.setdefault(int(rule), set()).add(name)

    wrong = []
    if sorted(rules) != list(range(1, len(rules) + 1)):
        wrong.append('the rules are not numbered from 1 without gaps')
    for rule in sorted(set(rules) | set(listed) | set(planted)):
        if rule not in rules or rule not in listed:
            wrong.append('rule %d is not in both tables' % rule)
            continue
        named = set(re.findall('`([^`]*)`', listed[rule]))
        tests = planted.get(rule, set())
        for name in sorted(named - tests):
            wrong.append('rule %d names %s, which is not planted under it' %
                         (rule, name))
        for name in sorted(tests - named):
            wrong.append('rule %d does not name the defect %s' % (rule, name))
        if not listed[rule]:
            wrong.append('rule %d has neither a defect nor a reason' % rule)
    if wrong:
        sys.exit('\n'.join(wrong))
    print('%d rules, %d of them with %d planted defects' %
          (len(rules), len(planted), sum(map(len, planted.values()))))
    return 0


if __name__ == '__main__':
    sys.exit(main())
