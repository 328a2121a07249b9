# SPDX-License-Identifier: BSD-3-Clause
"""The pictures are well-formed, show what they are given, and refuse what is
damaged."""

import json
import os
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import fakes
from benchlib import picture, results, stats, svg
from benchlib.programs import Failure

SVG = "{http://www.w3.org/2000/svg}"
MACHINE = {"processor": "a <fast> & \"small\" one", "cores": 2,
           "kernel": "6.1", "date": "2026-01-01 00:00"}


def row(name, ratio, unit="us", target=None, kept=9):
    entry = {"unit": unit, "lacking": set(),
             "kept": [(ratio * part, ratio * part, 1.0, 0.05)
                      for part in (0.8, 1, 1.25)] * 3}
    entry["kept"] = entry["kept"][:kept]
    return stats.summarise_one(name, entry, True, target)


def compared(*rows, tls="posix,self"):
    return results.make("compare", machine=MACHINE,
                        versions={"ours": "1.20.0", "theirs": "1.13.1"},
                        sets=[{"tls": tls, "rounds": 9, "disturbed": 0,
                               "cores": "close", "figures": list(rows)}])


def parse(found):
    return ElementTree.fromstring(picture.draw_results(found))


def texts(root):
    return [element.text for element in root.iter(SVG + "text")]


def bars(root):
    return [element for element in root.iter(SVG + "rect")
            if element.get("fill") in (svg.BETTER, svg.WORSE)]


class Bars(unittest.TestCase):
    def test_labels_groups_and_numbers_are_there(self):
        root = parse([compared(row("lat_8", 0.4, target=("<=", 0.45)),
                               row("bw_1m", 2.5, "GB/s"))])
        shown = texts(root)
        for words in ("latency", "bandwidth", "lat_8", "bw_1m", "2.5×",
                      "UCX_TLS=posix,self", "cores close"):
            self.assertIn(words, shown)
        self.assertTrue(any("<fast>" in text for text in shown))

    def test_better_is_right_of_one_for_times_and_for_rates(self):
        root = parse([compared(row("lat_8", 0.5), row("lat_64", 2),
                               row("bw_1m", 2, "GB/s"),
                               row("bw_64k", 0.5, "GB/s"))])
        colours = [bar.get("fill") for bar in bars(root)]
        self.assertEqual(colours, [svg.BETTER, svg.WORSE,
                                   svg.BETTER, svg.WORSE])
        better, worse = bars(root)[:2]
        self.assertAlmostEqual(float(better.get("x")),
                               float(worse.get("x")) +
                               float(worse.get("width")), places=1)

    def test_bar_is_as_long_as_the_logarithm(self):
        twice, eight = bars(parse([compared(row("lat_8", 1 / 2),
                                            row("lat_64", 1 / 8))]))
        self.assertAlmostEqual(float(eight.get("width")),
                               3 * float(twice.get("width")), delta=0.3)

    def test_missed_target_and_few_rounds_show(self):
        root = parse([compared(row("lat_8", 0.9, target=("<=", 0.5)),
                               row("lat_64", 0.5, kept=2))])
        missed = [element for element in root.iter(SVG + "text")
                  if element.get("font-weight") == "bold" and
                  element.get("fill") == svg.WORSE]
        self.assertEqual([element.text for element in missed], ["1.11×"])
        self.assertEqual([bar.get("opacity") for bar in bars(root)],
                         [None, "0.35"])

    def test_extreme_ratio_stays_inside(self):
        root = parse([compared(row("lat_8", 1e-9), row("lat_64", 1e9))])
        width = float(root.get("width"))
        for bar in bars(root):
            self.assertGreaterEqual(float(bar.get("x")), 0)
            self.assertLess(float(bar.get("x")) + float(bar.get("width")),
                            width)

    def test_several_results_stand_side_by_side(self):
        root = parse([compared(row("lat_8", 0.5)),
                      compared(row("lat_8", 0.6), tls="tcp,self")])
        self.assertIn("UCX_TLS=tcp,self", texts(root))
        self.assertEqual(len(bars(root)), 2)

    def test_start_up_has_a_part_of_its_own(self):
        root = parse([compared(row("lat_8", 0.5)),
                      compared(row("start_all", 0.2), tls="")])
        self.assertIn("nothing set", texts(root))
        self.assertIn("start-up", texts(root))

    def test_copies_without_a_library_are_left_out(self):
        root = parse([compared(row("lat_8", 0.5),
                               row("memcpy_1m", 1, "GB/s"))])
        self.assertNotIn("memcpy_1m", texts(root))


class Curves(unittest.TestCase):
    def test_each_set_has_a_panel_and_each_operation_a_line(self):
        rows = [{"tls": tls, "op": op, "size": size, "behind": 1.1}
                for tls in ("posix", "tcp") for op in ("tag", "put")
                for size in (1, 64, 4096)]
        root = parse([results.make("thresholds", machine=MACHINE, rows=rows,
                                   bound=1.15)])
        self.assertIn("UCX_TLS=tcp", texts(root))
        self.assertIn("put", texts(root))
        self.assertEqual(len(list(root.iter(SVG + "polyline"))), 4)


class Damage(unittest.TestCase):
    def test_kinds_do_not_mix(self):
        with self.assertRaises(Failure):
            picture.draw_results([compared(row("lat_8", 1)), results.make(
                "best", machine=MACHINE, sets=[])])

    def test_nothing_kept_is_nothing_to_draw(self):
        with self.assertRaisesRegex(Failure, "nothing to"):
            picture.draw_results([compared(row("lat_8", 1, kept=0))])

    def test_damaged_results_are_refused(self):
        whole = compared(row("lat_8", 0.5))
        for key in ("machine", "sets", "versions"):
            broken = dict(whole)
            del broken[key]
            with self.assertRaisesRegex(Failure, "damaged"):
                picture.draw_results([broken])
        whole["sets"][0]["figures"][0]["ratio"] = "fast"
        with self.assertRaisesRegex(Failure, "damaged"):
            picture.draw_results([whole])


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.compare = fakes.script("compare")

    def file(self, text):
        name = os.path.join(self.folder.name, "result.json")
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def draw(self, *words):
        def call():
            try:
                return self.compare.main(["picture"] + list(words))
            except Failure as failure:
                print(failure)
                return failure.code
        return fakes.said(call)

    def test_picture_stands_beside_its_result(self):
        name = self.file(json.dumps(compared(row("lat_8", 0.5))))
        code, _ = self.draw(name)
        self.assertEqual(code, 0)
        ElementTree.parse(name.replace(".json", ".svg"))

    def test_files_that_are_no_results_are_named(self):
        for text, words in (("{", "no JSON"), ("[]", "no result"),
                            ("{\"kind\": \"other\"}", "no result"),
                            ("{\"kind\": \"best\"}", "format")):
            name = self.file(text)
            code, said = self.draw(name)
            self.assertEqual(code, 2, said)
            self.assertIn(words, said)
            self.assertIn("result.json", said)

    def test_missing_file_and_unwritable_picture(self):
        code, said = self.draw(os.path.join(self.folder.name, "none.json"))
        self.assertEqual(code, 2)
        self.assertIn("cannot read", said)
        name = self.file(json.dumps(compared(row("lat_8", 0.5))))
        code, said = self.draw(name, "-o", self.folder.name + "/no/where.svg")
        self.assertEqual(code, 2)
        self.assertIn("cannot write", said)


if __name__ == "__main__":
    unittest.main()
