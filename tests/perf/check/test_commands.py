# SPDX-License-Identifier: BSD-3-Clause
"""Runs `compare` and `portable` with fake programs, whose figures are known."""

import json
import os
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

import fakes
from benchlib import machine, programs, rounds, sweeps


class Commands(unittest.TestCase):
    """The tests replace the measurement of the machine's load, so that other
    programs on this machine do not affect them."""

    def setUp(self):
        self.build = self.use(fakes.FakeBuild())
        self.replace(machine, "load", lambda seconds=1.0: 0.0)
        self.replace(machine.Watch, "foreign", lambda watch: 0.0)

    def replace(self, holder, name, other):
        patch = unittest.mock.patch.object(holder, name, other)
        patch.start()
        self.addCleanup(patch.stop)

    def use(self, build):
        """Replaces the programs by those of the build; returns its folder."""
        self.addCleanup(build.__exit__)
        self.fake = build
        self.replace(programs, "run_text", build.run_text)
        return build.__enter__()

    def call(self, script, *words):
        module = fakes.script(script)
        def run():
            try:
                if script == "compare":
                    return module.main(list(words))
                return self.portable(module, words)
            except programs.Failure as failure:
                print(failure)
                return failure.code
        return fakes.said(run)

    def portable(self, module, words):
        module.sys.argv = ["portable"] + list(words)
        return module.main()

    def compare(self, *words):
        return self.call("compare", "--build", self.build, "--info",
                         os.path.join(self.build, "theirs", "ucx_info"),
                         "--rounds", "5", *words)

    def result(self, *words, script="compare"):
        name = os.path.join(self.build, "result.json")
        if script == "compare":
            code, said = self.compare("--json", name, *words)
        else:
            code, said = self.call(script, "--build", self.build, "--json",
                                   name, *words)
        self.assertTrue(os.path.exists(name), said)
        with open(name, encoding="utf-8") as file:
            return code, said, json.load(file)


class Compare(Commands):
    def test_default_run_has_all_sets_and_start_up(self):
        code, said, found = self.result("--starts", "6")
        self.assertEqual([one["tls"] for one in found["sets"]],
                         ["posix,self", "posix,cma,self", "tcp,self", ""])
        row = next(row for row in found["sets"][0]["figures"]
                   if row["name"] == "lat_8")
        self.assertEqual((row["ratio"], row["kept"]), (0.5, 5))
        self.assertEqual(row["verdict"], "missed")  # the target is 0.45
        self.assertEqual(code, programs.EXIT_MISSED)
        names = [row["name"] for row in found["sets"][3]["figures"]]
        self.assertEqual(names[-3:], ["start_all", "info_d", "plugins_list"])
        self.assertIn("lat_8", said)
        ElementTree.parse(os.path.join(self.build, "tests", "perf",
                                       "compare.svg"))

    def test_figure_that_ours_lacks_is_told(self):
        _, said, found = self.result("--tls", "posix", "--only", "lacking")
        row = found["sets"][0]["figures"][0]
        self.assertEqual((row["kept"], row["lacking"]), (0, ["ours"]))
        self.assertIn("not offered by ours", said)

    def test_start_up_alone(self):
        _, said, found = self.result("--startup", "--starts", "7", "--tls",
                                     "tcp")
        self.assertEqual([one["tls"] for one in found["sets"]],
                         ["", "tcp,self"])
        row = found["sets"][1]["figures"][-1]
        self.assertEqual((row["name"], row["ratio"], row["verdict"]),
                         ("start_all", 0.25, "met"))
        self.assertIn("shortest", said)

    def test_json_to_standard_output_is_nothing_else(self):
        code, said = self.compare("--tls", "posix", "--only", "get_8",
                                  "--json")
        self.assertEqual(code, 0, said)
        self.assertEqual(json.loads(said)["kind"], "compare")

    def test_commands_that_fail_end_the_comparison(self):
        self.build = self.use(fakes.FakeBuild(tool_code=9))
        code, said = self.compare("--startup", "--starts", "2")
        self.assertEqual(code, programs.EXIT_USAGE)
        self.assertIn("ended with 9", said)

    def test_disturbed_rounds_are_dropped(self):
        self.build = self.use(fakes.FakeBuild(foreign=0.5))
        words = ("--tls", "posix", "--only", "get_8")
        code, said = self.compare(*words)
        self.assertEqual(code, programs.EXIT_NO_JUDGEMENT)
        self.assertIn("5 of them disturbed", said)
        code, said = self.compare("--force", *words)
        self.assertEqual(code, programs.EXIT_NO_JUDGEMENT)
        self.assertIn("0.500", said)

    def test_busy_machine_is_refused(self):
        self.replace(machine, "load", lambda seconds=1.0: 0.4)
        code, said = self.compare()
        self.assertEqual(code, programs.EXIT_NO_JUDGEMENT)
        self.assertIn("40 %", said)

    def test_wrong_words(self):
        for words, part in ((["--rounds", "0"], "positive"),
                            (["--what"], "unrecognized"),
                            (["--env", "X"], "NAME=VALUE"),
                            (["--best", "--err-mode"], "not allowed"),
                            (["--best", "--only", "x"], "leaves none")):
            code, said = self.compare(*words)
            self.assertEqual(code, programs.EXIT_USAGE, said)
            self.assertIn(part, said)
        code, said = self.call("compare", "--build", "/nonexistent")
        self.assertEqual(code, programs.EXIT_USAGE)
        self.assertIn("build first", said)


class Baseline(Commands):
    def setUp(self):
        super().setUp()
        users = unittest.mock.patch.dict(os.environ)
        users.start()
        self.addCleanup(users.stop)
        os.environ.pop("UCX_PLUGIN_PATH", None)
        self.fake = fakes.FakeBuild()
        self.build = self.use(self.fake)
        earlier = fakes.FakeBuild()
        self.addCleanup(earlier.__exit__)
        self.fake.earlier = earlier.__enter__()

    def rows(self, *words):
        code, said, found = self.result("--baseline", self.fake.earlier,
                                        *words)
        return code, said, found, {row["name"]: row for row in
                                   found["sets"][0]["figures"]}

    def test_what_is_worse_by_more_than_three_percent_is_missed(self):
        code, said, found, rows = self.rows("--starts", "0")
        self.assertEqual(code, programs.EXIT_MISSED, said)
        self.assertEqual(found["kind"], "baseline")
        self.assertEqual([one["tls"] for one in found["sets"]],
                         ["", "posix,self", "posix,cma,self", "tcp,self"])
        verdicts = {name: row["verdict"] for name, row in rows.items()}
        self.assertEqual({name for name, verdict in verdicts.items()
                          if verdict == "missed"}, {"lat_1k", "bw_1m"})
        self.assertEqual((verdicts["lat_8"], verdicts["rate_8"]),
                         ("met", "met"))
        self.assertIsNone(verdicts["memcpy_1m"])  # independent of the library
        self.assertIsNone(verdicts["lacking"])    # neither build has it
        self.assertIsNone(verdicts["put_8"])      # the earlier build lacks it
        self.assertIn("baseline 1.20.0", said)
        ElementTree.parse(os.path.join(self.build, "tests", "perf",
                                       "baseline.svg"))

    def test_what_missed_is_taken_again(self):
        _, _, _, rows = self.rows("--tls", "posix", "--only", "lat_")
        self.assertEqual((rows["lat_1k"]["kept"], rows["lat_8"]["kept"]),
                         (10, 5))

    def test_figures_that_are_as_good_are_met(self):
        code, said, _, _ = self.rows("--tls", "posix", "--only", "lat_8")
        self.assertEqual(code, 0, said)

    def test_each_build_takes_its_own_plugins(self):
        for folder, words in ((self.build, "ours"),
                              (self.fake.earlier, "earlier")):
            name = os.path.join(folder, "sdk", "examples", "plugin-path")
            with open(name, "w", encoding="utf-8") as file:
                file.write(words)
        self.rows("--tls", "posix", "--only", "lat_8")
        self.assertEqual({(command[0].startswith(self.fake.earlier), path)
                          for command, path in self.fake.lines},
                         {(False, "ours"), (True, "earlier")})

    def test_start_up_is_set_beside_its_own(self):
        code, said, _, rows = self.rows("--startup", "--starts", "7")
        self.assertEqual(rows["start_all"]["verdict"], "met", said)
        self.assertIn("info_d", rows)
        self.assertIn(code, (0, programs.EXIT_MISSED))  # depends on real times

    def test_wrong_words(self):
        for words, part in ((["--baseline", "/nonexistent"], "no build"),
                            (["--baseline", self.fake.earlier, "--best"],
                             "does not go")):
            code, said = self.compare(*words)
            self.assertEqual(code, programs.EXIT_USAGE)
            self.assertIn(part, said)


class Choices(Commands):
    def test_best_explicit_choice_is_found(self):
        code, said, found = self.result("--best")
        rows = {row["name"]: row for row in found["sets"][0]["figures"]}
        self.assertEqual(code, programs.EXIT_MISSED, said)
        self.assertIn("sysv", rows["lat_64k"]["against"])
        self.assertAlmostEqual(rows["lat_64k"]["behind"], 1.25)
        self.assertEqual(rows["lat_64k"]["verdict"], "missed")
        self.assertEqual(rows["bw_1m"]["verdict"], "met")
        self.assertEqual(rows["lat_8 to posix"]["against"], "posix,self")
        self.assertEqual(rows["lat_8 to posix"]["verdict"], "met")
        self.assertIn("tcp,self", found["rivals"]["lat_8"])

    def test_cost_of_error_handling_is_found(self):
        code, _, found = self.result("--err-mode", "--tls", "posix")
        rows = {row["name"]: row for row in found["sets"][0]["figures"]}
        self.assertEqual(code, programs.EXIT_MISSED)
        self.assertAlmostEqual(rows["get_8"]["behind"], 1.5)
        self.assertEqual(rows["get_8"]["verdict"], "missed")
        self.assertEqual(rows["put_8"]["verdict"], "met")


class Portable(Commands):
    WORDS = ("--tls", "posix", "--ops", "tag", "--largest", "65536",
             "--rounds", "4", "--alone")

    def test_threshold_that_is_too_high_is_found(self):
        code, said, found = self.result(*self.WORDS, script="portable")
        self.assertEqual(code, programs.EXIT_MISSED, said)
        rows = {row["size"]: row for row in found["rows"]}
        self.assertEqual(rows[19999]["verdict"], "missed")
        self.assertIn("rndv by get", rows[19999]["against"])
        self.assertEqual(rows[16384]["verdict"], "missed")
        self.assertEqual(rows[1024]["verdict"], "met")
        self.assertEqual(rows[65536]["verdict"], "met")
        worst = found["groups"][0]
        self.assertEqual((worst["worst_size"], worst["single"]), (19999, 0))
        self.assertEqual(found["rows"][0]["size"], 19999)
        self.assertGreaterEqual(rows[19999]["kept"], 5)  # second measurement
        ElementTree.parse(os.path.join(self.build, "tests", "perf",
                                       "portable.svg"))

    def test_settings_that_choose_alike_are_taken_once(self):
        program = os.path.join(self.build, "tests", "perf", "ucp_bench")
        found = sweeps.plan(program, "posix", "tag", "", [], 65536)
        self.assertEqual([one.name for one in found.settings],
                         ["default", "buffered copy", "rndv am"])
        found = sweeps.plan(program, "posix,cma", "tag", "", [], 65536)
        self.assertEqual([one.name for one in found.settings],
                         ["default", "estimated", "buffered copy", "rndv am",
                          "without cma"])
        self.assertFalse(found.differs(found.settings[1], 16383))
        self.assertTrue(found.differs(found.settings[1], 16384))

    def test_distributions_ucx_is_a_rival(self):
        _, _, found = self.result(*self.WORDS[:-1], script="portable")
        rivals = {row["size"]: row["rival"] for row in found["rows"]}
        self.assertEqual(rivals[1024], "reference")  # it takes half of our time
        theirs = [(command, path) for command, path in self.fake.lines
                  if command[0].endswith("_ref")]
        self.assertTrue(theirs)
        self.assertEqual({path for _, path in theirs}, {None})

    def test_only_what_is_behind_is_shown(self):
        _, said = self.call("portable", "--build", self.build, *self.WORDS)
        self.assertNotIn("1K", said)
        self.assertIn("19999", said)
        _, said = self.call("portable", "--build", self.build, "--all",
                            *self.WORDS)
        self.assertIn("1K", said)
        code, said = self.call("portable", "--build", self.build, "--ops",
                               "tag", "--tls", "posix", "--largest", "1024",
                               "--rounds", "4", "--alone")
        self.assertEqual((code, said), (0, ""))

    def test_wrong_words(self):
        for words, part in ((["--ops", "tag,x"], "knows no 'x'"),
                            (["--largest", "0"], "--largest is")):
            code, said = self.call("portable", "--build", self.build, *words)
            self.assertEqual(code, programs.EXIT_USAGE)
            self.assertIn(part, said)


class Environment(unittest.TestCase):
    def test_users_variables_do_not_reach_the_programs(self):
        os.environ["UCX_TLS"] = "tcp"
        self.addCleanup(os.environ.pop, "UCX_TLS")
        self.assertNotIn("UCX_TLS", programs.environment(""))
        env = programs.environment("posix", ["UCX_A=b=c"], "/p")
        self.assertEqual((env["UCX_TLS"], env["UCX_A"],
                          env["UCX_PLUGIN_PATH"]), ("posix", "b=c", "/p"))

    def test_result_is_found_behind_what_the_library_says(self):
        parse = programs.parse_json
        self.assertEqual(parse("{\"a\": 1}", ["x"]), {"a": 1})
        self.assertEqual(parse("words {\nmore\n{\"a\": 1}\n", ["x"]), {"a": 1})
        for text in ("", "words", "\n{\"a\":"):
            with self.assertRaises(programs.Failure):
                parse(text, ["x"])


class Running(unittest.TestCase):
    def run_shell(self, text, **more):
        return programs.run_text(["/bin/sh", "-c", text],
                                 programs.environment("posix"), **more)

    def test_what_was_printed_is_returned(self):
        self.assertEqual(self.run_shell("echo $UCX_TLS"), "posix\n")

    def test_failure_names_the_command_and_its_end(self):
        with self.assertRaisesRegex(programs.Failure,
                                    "ended with 7; UCX_TLS=posix"):
            self.run_shell("exit 7")

    def test_end_that_was_expected_is_no_failure(self):
        self.assertIsNone(self.run_shell("exit 3", may_fail=(3,)))

    def test_program_that_does_not_end_is_ended(self):
        with self.assertRaisesRegex(programs.Failure, "did not end within"):
            self.run_shell("exec sleep 600", limit=0.2)

    def test_program_that_is_not_there(self):
        with self.assertRaisesRegex(programs.Failure, "No such file"):
            programs.run_text(["/nonexistent/program"], {})


class Time(unittest.TestCase):
    def test_no_step_is_begun_that_would_end_too_late(self):
        deadline = rounds.Deadline(10)
        self.assertTrue(deadline.has_time())
        deadline.longest = 11
        self.assertFalse(deadline.has_time())


if __name__ == "__main__":
    unittest.main()
