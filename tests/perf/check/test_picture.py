# SPDX-License-Identifier: BSD-3-Clause
"""The data of pictures is correct, gnuplot makes well-formed SVG of them, and
damaged results are rejected."""

import json
import os
import re
import shutil
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

import fakes
from benchlib import picture, results, stats
from benchlib.programs import Failure

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


def bars(found):
    """Returns {figure: its columns of the data} for the first panel. The labels of
    the axis have the row number of each figure."""
    script = picture.script_of(found)
    names = dict(reversed(tic) for tic in
                 re.findall(r'"([^"]*)" (\d+)', script.split("set ytics")[1]
                            .split("\n")[0]))
    data = script.split("$bars << END\n")[1].split("\nEND")[0]
    return {names[line.split()[0]].replace("\\\\", ""): line.split()
            for line in data.split("\n")}


class Bars(unittest.TestCase):
    def test_labels_groups_and_numbers_are_there(self):
        script = picture.script_of(
            [compared(row("lat_8", 0.4, target=("<=", 0.45)),
                      row("bw_1m", 2.5, "GB/s"))])
        for words in ("Bold latency", "Bold bandwidth", r"lat\\_8", r"bw\\_1m",
                      "2.5×", r"UCX\\_TLS=posix,self, cores close", "&lt;fast"):
            self.assertIn(words, script)

    def test_better_is_right_of_one_for_times_and_for_rates(self):
        found = bars([compared(row("lat_8", 0.5), row("lat_64", 2),
                               row("bw_1m", 2, "GB/s"),
                               row("bw_64k", 0.5, "GB/s"))])
        self.assertEqual({name: (float(columns[1]), int(columns[5]))
                          for name, columns in found.items()},
                         {"lat_8": (2, picture.BETTER),
                          "lat_64": (0.5, picture.WORSE),
                          "bw_1m": (2, picture.BETTER),
                          "bw_64k": (0.5, picture.WORSE)})

    def test_missed_target_and_few_rounds_show(self):
        found = bars([compared(row("lat_8", 0.9, target=("<=", 0.5)),
                               row("lat_64", 0.5, kept=2))])
        self.assertEqual(found["lat_8"][4:], ["2", str(picture.BETTER),
                                              '"1.11×"', str(picture.WORSE)])
        self.assertEqual(found["lat_64"][4:], ["NaN", str(picture.PALE_BETTER),
                                               '"2.2×"', "0"])

    def test_extreme_ratio_stays_inside(self):
        found = bars([compared(row("lat_8", 1e-9), row("lat_64", 1e9))])
        self.assertEqual(float(found["lat_8"][1]), picture.MOST)
        self.assertEqual(float(found["lat_64"][1]), picture.LEAST)

    def test_several_results_have_a_panel_each(self):
        script = picture.script_of([compared(row("lat_8", 0.5)),
                                    compared(row("lat_8", 0.6),
                                             tls="tcp,self")])
        self.assertIn("TLS=tcp,self", script)
        self.assertEqual(script.count("$bars << END"), 2)

    def test_start_up_has_a_part_of_its_own(self):
        script = picture.script_of([compared(row("lat_8", 0.5)),
                                    compared(row("start_all", 0.2), tls="")])
        self.assertIn("nothing set", script)
        self.assertIn("Bold start-up", script)

    def test_copies_without_a_library_are_left_out(self):
        self.assertEqual(list(bars([compared(row("lat_8", 0.5),
                                             row("memcpy_1m", 1, "GB/s"))])),
                         ["lat_8"])


class Curves(unittest.TestCase):
    def test_each_set_has_a_panel_and_each_operation_a_line(self):
        rows = [{"tls": tls, "op": op, "size": size, "behind": 1.1}
                for tls in ("posix", "tcp") for op in ("tag", "put")
                for size in (1, 64, 4096)]
        script = picture.script_of([results.make(
            "portable", machine=MACHINE, rows=rows, bound=1.15)])
        self.assertIn("TLS=tcp", script)
        self.assertEqual(script.count("with linespoints"), 4)
        self.assertEqual(script.count("\n4096 1.1\n"), 4)


class Damage(unittest.TestCase):
    def test_kinds_do_not_mix(self):
        with self.assertRaises(Failure):
            picture.script_of([compared(row("lat_8", 1)), results.make(
                "best", machine=MACHINE, sets=[])])

    def test_nothing_kept_is_nothing_to_draw(self):
        with self.assertRaisesRegex(Failure, "nothing to"):
            picture.script_of([compared(row("lat_8", 1, kept=0))])

    def test_damaged_results_are_rejected(self):
        whole = compared(row("lat_8", 0.5))
        for key in ("machine", "sets", "versions"):
            broken = dict(whole)
            del broken[key]
            with self.assertRaisesRegex(Failure, "damaged"):
                picture.script_of([broken])
        whole["sets"][0]["figures"][0]["ratio"] = "fast"
        with self.assertRaisesRegex(Failure, "damaged"):
            picture.script_of([whole])


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

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_picture_stands_beside_its_result(self):
        name = self.file(json.dumps(compared(row("lat_8", 0.5))))
        code, _ = self.draw(name)
        self.assertEqual(code, 0)
        root = ElementTree.parse(name.replace(".json", ".svg")).getroot()
        self.assertIn('a <fast> & "small" one', "".join(root.itertext()))

    def test_missing_gnuplot_is_named(self):
        name = self.file(json.dumps(compared(row("lat_8", 0.5))))
        with unittest.mock.patch("shutil.which", return_value=None):
            code, said = self.draw(name)
        self.assertEqual(code, 2)
        self.assertIn("gnuplot-nox", said)

    def test_files_that_are_no_results_are_named(self):
        for text, words in (("{", "no JSON"), ("[]", "no result"),
                            ("{\"kind\": \"other\"}", "no result"),
                            ("{\"kind\": \"best\"}", "format")):
            name = self.file(text)
            code, said = self.draw(name)
            self.assertEqual(code, 2, said)
            self.assertIn(words, said)
            self.assertIn("result.json", said)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
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
