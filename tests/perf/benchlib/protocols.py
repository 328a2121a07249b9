# SPDX-License-Identifier: BSD-3-Clause
"""What UCX_PROTO_INFO prints, read: which protocol carries which operation and
size. So it is known where choices change, and which settings choose alike."""

import re

# "tag_send       contig         0..41         eager/short      posix"
LINE = re.compile(r"^\s*(\w+(?: data)?)\s+contig\s+(\d+)\.\.(\d+|inf)\s+(\S.*)$")
RNDV = re.compile(r"\brndv\b")
RNDV_DATA = "rndv data"
# What a sweep calls an operation, and what the library calls it.
OPERATIONS = {"tag": "tag_send", "tag_bw": "tag_send",
              "tag_both": "tag_send", "am": "am_send",
              "put": "put", "put_alloc": "put", "get": "get",
              "get_alloc": "get"}
NO_END = 1 << 62


class Choices:
    """operation -> [(first size, last size, words)]"""

    def __init__(self, steps):
        self.steps = steps

    def raw(self, name, size):
        return next((words for first, last, words in self.steps.get(name, ())
                     if first <= size <= last), None)

    def at(self, op, size):
        """The protocol in words, None if it was not told. For rendezvous also
        how its data goes."""
        words = self.raw(OPERATIONS[op], size)
        if words and RNDV.search(words.split()[0]):
            way = self.raw(RNDV_DATA, size)
            return words if way is None else "%s by %s" % (
                words.split()[0], way)
        return words

    def crossings(self, op, largest):
        """Sizes that are the first of another choice."""
        names = [OPERATIONS[op]]
        if any(RNDV.search(words.split()[0])
               for _, _, words in self.steps.get(names[0], ())):
            names.append(RNDV_DATA)
        firsts = {first for name in names
                  for first, _, _ in self.steps.get(name, ())}
        return sorted(first for first in firsts
                      if 1 < first <= largest and
                      self.at(op, first) != self.at(op, first - 1))


def parse(text):
    """The last table of an operation counts: it is of the endpoint that the
    messages go by."""
    steps = {}
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        name, first, last, words = found.groups()
        if is_whole(steps.get(name, [])):
            steps[name] = []
        steps.setdefault(name, []).append(
            (int(first), NO_END if last == "inf" else int(last),
             " ".join(words.split())))
    return Choices(steps)


def is_whole(steps):
    """Every table ends with a step for all larger sizes."""
    return bool(steps) and steps[-1][1] == NO_END


def same_everywhere(one, other, op, sizes):
    """True if two settings choose alike for all sizes; False if either did not
    tell."""
    for size in sizes:
        chosen = one.at(op, size)
        if chosen is None or chosen != other.at(op, size):
            return False
    return True


def sizes_to_take(choices, op, largest):
    """Every power of two, and near each change of the choice also the last size
    before it, its own, and the middles of the octaves around."""
    sizes = set()
    power = 1
    while power <= largest:
        sizes.add(power)
        power *= 2
    for first in choices.crossings(op, largest):
        sizes |= {first - 1, first}
        octave = 1 << (first.bit_length() - 1)
        for below in (octave // 2, octave):
            middle = below + below // 2
            if 1 < middle <= largest:
                sizes.add(middle)
    return sorted(sizes)
