# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job over one library and checks the result: its exit status, that it left
nothing behind, and that its bytes were sent by our library over the selected
transports."""

import json
import os
import signal
import subprocess
import sys

from .namespaces import enter_namespaces
from .programs import HERE

# These programs load the libraries whose paths they get as arguments.
BY_PATH = ("beside", "forked")
# Seconds for a job, short and long. MPICH's ranks do not yield the processor: when
# they oversubscribe the processors, each step of a message takes milliseconds.
TIMEOUT = {False: 120, True: 600}
MANY_JOBS = 3  # seconds for each job of the row `jobs`


def limit_of(row, options):
    if row.group == "jobs":
        return max(TIMEOUT[False], MANY_JOBS * (options.jobs or 1000))
    return TIMEOUT[options.long]


def environment(options, library, row, counters=None):
    """Returns the environment of a row, without the user's settings. `counters`:
    the folder where our library writes its counters."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("UCX_", "OMPI_", "MPIR_"))}
    env.pop("LD_LIBRARY_PATH", None)
    # Open MPI's OpenSHMEM reads freed memory at its end, over tcp, with either
    # library
    env.pop("MALLOC_PERTURB_", None)
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", MPIR_CVAR_NOLOCAL="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", CLIENT_LIBRARY=library)
    if row.transports:
        transports, _, provider = row.transports.partition(" over ")
        env["UCX_TLS"] = transports + ",self"
        if provider: # of libfabric
            env["UCX_UGNI_PROVIDER"] = provider
            # for ofi_rxd, whose packets overflow the socket buffer
            # (plugins/ugni/README.md)
            env["FI_OFI_RXD_MAX_UNACKED"] = "32"
    if library == "core":
        if row.group not in BY_PATH:
            env["LD_LIBRARY_PATH"] = options.libraries
        if options.plugins:
            env["UCX_PLUGIN_PATH"] = options.plugins
        if row.program == "device":
            env["LD_LIBRARY_PATH"] += ":" + options.device
            if row.transports.startswith("rocm"):
                env.update(CLIENT_DEVICE="rocm",
                           HSA_MODEL_LIB=options.device + "/libamdhip64.so.5")
            if row.transports.startswith("ze"):
                env.update(CLIENT_DEVICE="ze",
                           ZE_ENABLE_ALT_DRIVERS=options.ze_driver)
        if counters:
            env["UCX_STATS_DEST"] = f"file:{counters}/counters-%p.json"
    return env


def first_failure(text):
    """Returns the program's own message of a failure, or an empty string."""
    return next((": " + line.partition(": ")[2] for line in text.splitlines()
                 if line.startswith("FAILED in ")), "")


class Runner:
    """Runs jobs over one library. The folder `work` is for their files."""

    def __init__(self, options, work, library):
        self.options, self.work, self.library = options, work, library

    def forget(self):
        """Removes the files of the last job."""
        for name in os.listdir(self.work):
            if name.endswith(".json"):
                os.unlink(os.path.join(self.work, name))

    def start(self, command, env, log):
        arguments = {"report": os.path.join(self.work, "report.json"),
                     "keep": [self.work, *self.options.keep_visible],
                     "stage": self.options.stage, "command": command}
        return subprocess.Popen(
            enter_namespaces() + [sys.executable, os.path.join(HERE, "run"),
                                  "--inside", json.dumps(arguments)],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env,
            start_new_session=True)

    def job(self, command, row, counted=True):
        """Returns exit status (None: timeout), output, report."""
        self.forget()
        env    = environment(self.options, self.library, row,
                             self.work if counted else None)
        output = os.path.join(self.work, "output")
        with open(output, "wb") as log:
            child = self.start(command, env, log)
            try:
                status = child.wait(limit_of(row, self.options))
            except subprocess.TimeoutExpired:
                status = None
            finally:  # also after an interrupt
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
        with open(output, encoding="utf-8", errors="replace") as log:
            text = log.read()
        report = os.path.join(self.work, "report.json")
        if not os.path.exists(report):
            return status, text, {}
        with open(report, encoding="ascii") as file:
            return status, text, json.load(file)

    def counters(self):
        """Returns the bytes received by each transport, and the number of sent
        messages, of all processes."""
        received, sent = {}, 0
        for name in os.listdir(self.work):
            if not name.startswith("counters-"):
                continue
            with open(os.path.join(self.work, name), encoding="utf-8") as file:
                counters = json.load(file)
            for record in counters["records"]:
                values = record["counters"]
                if record["type"] == "interface" and "received" in values:
                    transport = record["name"].split("/")[0]
                    received[transport] = (received.get(transport, 0) +
                                           values["received"]["bytes"])
                elif record["type"] == "lane":
                    sent += sum(value["messages"] for value in values.values()
                                if isinstance(value, dict))
        return received, sent

    def prove(self, transports, report):
        """Checks by the counters that the bytes were sent by our library over the
        selected transports. Returns the reason of a failure, or None."""
        received, sent = self.counters()
        if sent == 0:
            return "our library has counted no message"
        if transports == "tcp":
            if set(received) - {"tcp", "self"}:
                return f"not over tcp alone: {received}"
            if report["loopback"] < received.get("tcp", 0):
                return (f"{received} counted, but the loopback has carried "
                        f"{report['loopback']} bytes")
        if transports and transports.startswith("ugni"):
            if set(received) - {"ugni_smsg", "ugni_rdma", "self"}:
                return f"not over ugni alone: {received}"
        return None

    def judge(self, row, result):
        """Returns why a job has failed, or None."""
        status, text, report = result
        if status is None:
            return "out of time"
        if row.program == "killed":
            if status == 0:
                return "a job with a killed rank ended well"
        elif status != 0 or "passed:" not in text:
            return f"exit status {status}" + first_failure(text)
        if not report:
            return "no report: the namespaces could not be entered"
        if report["left"]:
            return "left behind: " + ", ".join(report["left"][:5])
        if self.library == "core" and row.program != "killed":
            return self.prove(row.transports, report)
        return None
