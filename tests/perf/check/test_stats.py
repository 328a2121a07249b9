# SPDX-License-Identifier: BSD-3-Clause
"""Which rounds are kept, and which verdicts follow from them."""

import unittest

import fakes  # pylint: disable=unused-import
from benchlib import stats


def figure(value, floors=(0.05, 0.05), unit="us"):
    return {"name": "f", "unit": unit, "value": value, "floors": list(floors)}


def entry(ratios, floor=0.05, unit="us", lacking=()):
    return {"unit": unit, "lacking": set(lacking),
            "kept": [(ratio, ratio, 1.0, floor) for ratio in ratios]}


class Rounds(unittest.TestCase):
    def test_round_counts_if_the_four_floors_agree(self):
        row = stats.kept_round(figure(1, (0.05, 0.06)),
                               figure(2, (0.055, 0.05)))
        self.assertEqual(row[:3], (0.5, 1, 2))
        self.assertAlmostEqual(row[3], 0.055)

    def test_round_with_one_far_floor_is_dropped(self):
        self.assertIsNone(stats.kept_round(figure(1, (0.05, 0.05)),
                                           figure(2, (0.05, 0.20))))

    def test_figure_that_is_not_offered_makes_no_round(self):
        self.assertIsNone(stats.kept_round(figure(-1), figure(2)))
        self.assertIsNone(stats.kept_round(figure(1), figure(-1)))

    def test_figure_without_floors_needs_none(self):
        row = stats.kept_round({"name": "f", "unit": "us", "value": 3},
                               {"name": "f", "unit": "us", "value": 6})
        self.assertEqual(row, (0.5, 3, 6, None))

    def test_disturbed_round_is_noted_but_not_kept(self):
        table = stats.Table()
        table.add(figure(1), figure(2), counts=False)
        table.add(figure(-1), figure(2), counts=True)
        self.assertEqual(table.kept("f"), [])
        self.assertEqual(table.entries["f"]["lacking"], {"ours"})


class Verdicts(unittest.TestCase):
    def judge(self, target, one, judged=True):
        return stats.judge(target, one, judged)[0]

    def test_median_decides_not_the_luckiest_round(self):
        self.assertEqual(self.judge(("<=", 0.5),
                                    entry([0.1, 0.6, 0.6, 0.6, 0.7])),
                         "missed")
        self.assertEqual(self.judge(("<=", 0.5),
                                    entry([0.4, 0.4, 0.4, 3, 3])), "met")

    def test_rates_are_judged_the_other_way_round(self):
        self.assertEqual(self.judge((">=", 1.5), entry([2] * 5)), "met")
        self.assertEqual(self.judge((">=", 1.5), entry([1] * 5)), "missed")

    def test_few_rounds_give_no_judgement(self):
        self.assertEqual(self.judge(("<=", 0.5), entry([0.1] * 4)),
                         stats.NO_JUDGEMENT)
        self.assertEqual(self.judge(("<=", 0.5), entry([0.1] * 9), False),
                         stats.NO_JUDGEMENT)

    def test_figure_that_ours_lacks_is_missed(self):
        self.assertEqual(self.judge(("<=", 1), entry([], lacking=["ours"])),
                         stats.NOT_OFFERED)

    def test_target_for_close_cores_ignores_far_rounds(self):
        target = (">=", 2, stats.CLOSE)
        far = entry([1] * 20, floor=0.2)
        self.assertEqual(self.judge(target, far), stats.NO_JUDGEMENT)
        far["kept"] += entry([3] * 5)["kept"]
        self.assertEqual(self.judge(target, far), "met")

    def test_row_tells_medians_extremes_and_shortest(self):
        row = stats.summarise_one("f", entry([0.5, 0.7, 0.6, 0.9, 0.4]), True,
                                  ("<=", 0.65))
        self.assertEqual((row["ratio"], row["ratio_min"], row["ratio_max"]),
                         (0.6, 0.4, 0.9))
        self.assertEqual(row["ours_min"], 0.4)
        self.assertEqual(row["verdict"], "met")
        self.assertEqual(len(row["rounds"]), 5)


class Rivals(unittest.TestCase):
    def table(self, ratios, unit="us"):
        table = stats.Table()
        table.entries["f"] = entry(ratios, unit=unit)
        return table

    def test_gain_is_more_for_better_in_either_unit(self):
        self.assertEqual(stats.gain(0.5, "us"), 2)
        self.assertEqual(stats.gain(2, "GB/s"), 2)

    def test_rival_that_is_best_by_the_median_is_named(self):
        found = stats.furthest_behind(
            {"lucky": self.table([0.9, 0.9, 0.9, 0.9, 9]),
             "good": self.table([1.2] * 5), "few": self.table([5] * 4)},
            "f", "us")
        self.assertEqual(found[0], "good")
        self.assertAlmostEqual(found[1], 1.2)

    def test_behind_in_a_rate_is_less_of_it(self):
        self.assertAlmostEqual(
            stats.furthest_behind({"a": self.table([0.5] * 5, "M/s")}, "f",
                                  "M/s")[1], 2)

    def test_no_rival_with_enough_rounds(self):
        self.assertIsNone(stats.furthest_behind({"a": self.table([1])}, "f",
                                                "us"))


class Cores(unittest.TestCase):
    def test_words_for_where_the_cores_were(self):
        row = stats.summarise_one("f", entry([1] * 4), True, None)
        far = stats.summarise_one("g", entry([1] * 4, floor=0.3), True, None)
        self.assertEqual(stats.cores_text([row]), "close")
        self.assertEqual(stats.cores_text([far]), "far")
        self.assertIn("50 %", stats.cores_text([row, far]))
        self.assertEqual(stats.cores_text([]), "unknown")


if __name__ == "__main__":
    unittest.main()
