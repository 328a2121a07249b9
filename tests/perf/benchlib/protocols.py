# SPDX-License-Identifier: BSD-3-Clause
"""Parses the output of UCX_PROTO_INFO: the selected protocol for each operation
and size. It shows at which sizes the selection changes, and which settings
select the same protocols."""

import re

# "tag_send       contig         0..41         eager/short      posix"
LINE = re.compile(r"^\s*(\w+(?: data)?)\s+contig\s+(\d+)\.\.(\d+|inf)\s+(\S.*)$")
RNDV = re.compile(r"\brndv\b")
RNDV_DATA = "rndv data"
# Name of an operation in a sweep, and in the output of UCX_PROTO_INFO.
OPERATIONS = {"tag": "tag_send", "tag_bw": "tag_send",
              "tag_both": "tag_send", "am": "am_send",
              "put": "put", "put_alloc": "put", "get": "get",
              "get_alloc": "get"}
NO_END = 1 << 62


class Choices:
    """The selected protocols: operation -> [(first size, last size, words)]."""

    def __init__(self, steps):
        self.steps = steps

    def raw(self, name, size):
        return next((words for first, last, words in self.steps.get(name, ())
                     if first <= size <= last), None)

    def at(self, op, size):
        """Returns the protocol in words, None if the output had none. For
        rendezvous the words include the scheme of its data."""
        words = self.raw(OPERATIONS[op], size)
        if words and RNDV.search(words.split()[0]):
            way = self.raw(RNDV_DATA, size)
            return words if way is None else "%s by %s" % (
                words.split()[0], way)
        return words

    def crossings(self, op, largest):
        """Returns the sizes from which on another protocol is selected."""
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
    """Uses the last table of each operation: it belongs to the endpoint that
    sends the messages."""
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
    """Returns whether a table is complete: its last step has no upper limit."""
    return bool(steps) and steps[-1][1] == NO_END


def same_everywhere(one, other, op, sizes):
    """Returns whether two settings select the same protocols for all sizes; False
    if the protocol of a size is unknown."""
    for size in sizes:
        chosen = one.at(op, size)
        if chosen is None or chosen != other.at(op, size):
            return False
    return True


def sizes_to_take(choices, op, largest):
    """Returns the sizes to measure: every power of two and, for each size from
    which on another protocol is selected, this size, the one before it, and the
    middles of the two octaves around it."""
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
