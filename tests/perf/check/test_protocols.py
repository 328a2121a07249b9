# SPDX-License-Identifier: BSD-3-Clause
"""The output of UCX_PROTO_INFO is parsed correctly."""

import unittest

import fakes  # pylint: disable=unused-import
from benchlib import protocols

TEXT = """\
tag_send       contig            0..0          eager/bcopy      posix,cma
tag_send       contig            1..8248       eager/short      posix,cma
tag_send       contig         8249..inf        rndv             posix,cma
tag_send       iov               0..inf        rndv             posix,cma
am_send        contig            0..inf        am/rndv          posix,cma
rndv data      contig            1..99999      get              posix,cma
rndv data      contig       100000..inf        am               posix,cma
put            contig            1..8019       put/am
put            contig         8020..inf        put/zcopy
{"version": "1.20.0"}
"""


class Choices(unittest.TestCase):
    def setUp(self):
        self.choices = protocols.parse(TEXT)

    def test_protocol_of_each_size(self):
        at = self.choices.at
        self.assertEqual(at("put", 8019), "put/am")
        self.assertEqual(at("put", 8020), "put/zcopy")
        self.assertEqual(at("tag", 1), "eager/short posix,cma")

    def test_rendezvous_tells_how_the_data_goes(self):
        self.assertEqual(self.choices.at("tag", 9000), "rndv by get posix,cma")
        self.assertEqual(self.choices.at("am", 200000),
                         "am/rndv by am posix,cma")

    def test_operation_that_was_not_told_is_unknown(self):
        self.assertIsNone(self.choices.at("get", 8))

    def test_crossings_include_those_of_the_data(self):
        self.assertEqual(self.choices.crossings("tag", 1 << 20),
                         [8249, 100000])
        self.assertEqual(self.choices.crossings("put", 1 << 20), [8020])
        self.assertEqual(self.choices.crossings("put", 4096), [])

    def test_last_endpoint_counts(self):
        again = protocols.parse(TEXT + TEXT.replace("8019", "99")
                                .replace("8020", "100"))
        self.assertEqual(again.crossings("put", 4096), [100])

    def test_junk_is_nothing(self):
        for text in ("", "put contig", "put contig 1..x y", "\0\n\n{}"):
            self.assertEqual(protocols.parse(text).steps, {})

    def test_settings_alike_and_unlike(self):
        other = protocols.parse(TEXT.replace("8019", "9019")
                                .replace("8020", "9020"))
        same = protocols.same_everywhere
        self.assertTrue(same(self.choices, other, "put", [1, 4096, 16384]))
        self.assertFalse(same(self.choices, other, "put", [1, 8192]))
        self.assertFalse(same(protocols.parse(""), protocols.parse(""), "put",
                              [1]))


class Sizes(unittest.TestCase):
    def test_powers_of_two_alone_without_a_crossing(self):
        self.assertEqual(protocols.sizes_to_take(protocols.parse(""), "put",
                                                 16), [1, 2, 4, 8, 16])

    def test_crossing_adds_its_sides_and_the_middles_around(self):
        sizes = protocols.sizes_to_take(protocols.parse(TEXT), "put", 65536)
        for size in (8019, 8020, 3072, 6144):
            self.assertIn(size, sizes)
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertEqual(max(sizes), 65536)


if __name__ == "__main__":
    unittest.main()
