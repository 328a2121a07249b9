# SPDX-License-Identifier: BSD-3-Clause
"""The list of jobs. A row is a program, with an MPI, a number of ranks and a set
of transports."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Callable, Optional

from .programs import HERE, MPIS

PROGRAMS = ["sizes", "matching", "modes", "datatypes", "collectives", "rma",
            "windows", "ordered", "contention", "threads", "hello", "killed"]
SHORT_TCP = ["sizes", "rma", "ordered", "killed"]
# Over libfabric; --long runs all programs over all providers
SHORT_FABRICS = [("openmpi", "rma", "tcp;ofi_rxm"), ("mpich", "sizes", "shm"),
                 ("openmpi", "rma", "shm")]
FABRICS = ["tcp;ofi_rxm", "shm", "udp;ofi_rxd", "sockets"]
# Providers with as little as 5 MB/s (fi_pingpong) on a busy machine: their
# rows have the short form of the programs
SLOW_FABRICS = ("ugni over udp;ofi_rxd", "ugni over sockets")
FABRIC_PROGRAMS = ["sizes", "matching", "datatypes", "collectives", "rma",
                   "ordered", "threads"]
# With memory of an emulated device, if the plugin is in the build folder
DEVICE_SETS = ["cuda,posix,cma", "cuda,tcp", "cuda_copy,tcp", "rocm,posix,cma",
               "rocm_copy,tcp", "ze,posix,cma", "ze_copy,tcp"]


@dataclass
class Row:
    """transports: None if the library selects them. command: a function that
    returns the words for the name of a library, or None if the row does not apply
    to that library; None if something is not installed."""
    group: str
    program: str
    ranks: Optional[int]
    transports: Optional[str]
    command: Optional[Callable]

    @property
    def title(self):
        return " ".join([self.group, self.program]) + (
            f", {self.ranks} ranks" if self.ranks else "") + (
            f", {self.transports}" if self.transports else "")


def mpi_command(mpi, ranks, program, long_form, words=()):
    """Returns the words that start a job; `program`: its path."""
    tail = [program, *words] + (["--long"] if long_form else [])
    return launcher(mpi) + ["-n", str(ranks)] + tail


def launcher(mpi):
    """Returns the words before "-n RANKS PROGRAM"."""
    if mpi == "mpich":
        return ["mpirun.mpich"]
    words = {"openmpi": ["mpirun.openmpi", "--mca", "osc", "ucx"],
             # Open MPI's own memory hooks call unloaded code at the end, with
             # any library: use those of UCX
             "oshmem": ["oshrun", "--mca", "spml", "ucx",
                        "--mca", "atomic", "ucx", "--mca",
                        "opal_common_ucx_opal_mem_hooks", "0"]}[mpi]
    return words + ["--oversubscribe", "--mca", "pml", "ucx",
                    "--mca", "btl", "self",
                    "--mca", "opal_common_ucx_tls", "any",
                    "--mca", "opal_common_ucx_devices", "any",
                    "--mca", "oob_tcp_if_include", "lo"]


def mpi_shapes(long_form):
    """Yields MPI, program, ranks, transports."""
    for mpi in MPIS:
        for program in PROGRAMS:
            yield mpi, program, 2, None
            if long_form:
                yield mpi, program, 4, None
                yield mpi, program, 8, None
                yield mpi, program, 2, "posix"
        for program in PROGRAMS if long_form else SHORT_TCP:
            yield mpi, program, 2, "tcp"
        if long_form:
            yield mpi, "sizes", 4, "tcp"
            yield mpi, "rma", 4, "tcp"
        yield mpi, "matching", 3, None
        for transports in DEVICE_SETS:
            yield mpi, "device", 2, transports
    for ranks in (2, 4) if long_form else (2,):
        yield "oshmem", "shmem", ranks, None
        yield "oshmem", "shmem", ranks, "tcp"


def fabric_shapes(long_form):
    """Yields MPI, program, ranks, transports over libfabric."""
    rows = SHORT_FABRICS
    if long_form:
        rows = [(mpi, program, provider) for mpi in MPIS
                for program in FABRIC_PROGRAMS for provider in FABRICS]
    for mpi, program, provider in rows:
        yield mpi, program, 2, "ugni over " + provider


def has_device(options, transports):
    """Returns whether there is an emulated driver for these transports."""
    return options.device and (not transports.startswith("ze") or
                               os.path.exists(options.ze_driver))


def mpi_rows(options, built):
    shapes = list(mpi_shapes(options.long))
    if options.fabric:
        shapes += fabric_shapes(options.long)
    for mpi, program, ranks, transports in shapes:
        command = None
        if (mpi, program) in built and (program != "device" or
                                        has_device(options, transports)):
            words   = mpi_command(mpi, ranks, built[mpi, program],
                                  options.long and
                                  transports not in SLOW_FABRICS)
            command = lambda library, words=words, program=program: (
                words if library == "core" or program != "device" else None)
        yield Row(mpi, program, ranks, transports, command)


def jobs_row(options, built, work):
    """Returns the row of many jobs, sequential and parallel; some are killed."""
    mpis = [mpi for mpi in MPIS if (mpi, "hello") in built]
    if not mpis:
        return Row("jobs", "jobs", None, None, None)
    count = options.jobs or (1000 if options.long else 12)
    words = [sys.executable, os.path.join(HERE, "many"), "--count", str(count),
             "--programs", work, *mpis]
    return Row("jobs", "jobs", None, None, lambda library: words)


def io_demo_command(mode, work):
    """Returns a command that runs a server and a client, which verifies the data;
    its exit status is that of the client."""
    demo = f"io_demo {mode} -q -d 64:2097152 -p 13337"
    return ["sh", "-c",
            f"cd {work} && {{ {demo} >server.log 2>&1 & }} && server=$! && "
            # port 13337 in the list of sockets
            "listens() { grep -q ':3419 ' /proc/net/tcp; }; "
            "for try in $(seq 600); do listens && break; sleep 0.1; done; "
            "if listens; "
            f"then {demo} -i 200 -w 8 -o read,write 127.0.0.1; status=$?; "
            "else echo 'FAILED in io_demo: its server does not listen'; "
            "status=1; fi; kill -INT $server; wait $server; "
            "[ $status -eq 0 ] && echo 'passed: io_demo' || cat server.log"]


def io_demo_rows(work):
    for mode, what in (("", "by tags"), ("-A", "by active messages")):
        words = io_demo_command(mode, work)
        yield Row("io_demo", what, None, None, (lambda library, words=words:
                  words) if shutil.which("io_demo") else None)


def reference_library():
    """Returns the path of the distribution's libucp.so.0, or None."""
    listing = subprocess.run(["ldconfig", "-p"], capture_output=True,
                             text=True, check=False).stdout
    for line in listing.splitlines():
        if line.strip().startswith("libucp.so.0 "):
            return line.split("=>")[1].strip()
    return None


def local_rows(options, built):
    """Yields the rows of the programs that load a library by dlopen()."""
    ours  = os.path.join(options.libraries, "libucp.so.0")
    paths = {"core": ours, "reference": reference_library()}
    for program in ("beside", "forked"):
        path = built["local", program]
        yield Row(program, "alone", None, None,
                  lambda library, path=path: [path, paths[library]])
    if paths["reference"]:
        words = [built["local", "beside"], paths["reference"], ours]
        yield Row("beside", "the reference", None, None,
                  lambda library: words if library == "core" else None)


def all_rows(options, built, work):
    yield from mpi_rows(options, built)
    yield jobs_row(options, built, work)
    yield from io_demo_rows(work)
    yield from local_rows(options, built)
