# SPDX-License-Identifier: BSD-3-Clause
"""Installs the packages that the programs need, and compiles the programs."""

import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = {"mpirun.openmpi": "openmpi-bin", "mpicc.openmpi": "libopenmpi-dev",
            "oshrun": "openmpi-bin", "oshcc": "libopenmpi-dev",
            "mpirun.mpich": "mpich", "mpicc.mpich": "libmpich-dev",
            "io_demo": "ucx-utils"}
MPIS = ("openmpi", "mpich")
FLAGS = ["-O1", "-g", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-pthread"]
# Further sources of a program: `speed` measures the floors of tests/perf.
MORE_SOURCES = {"speed": [os.path.join(ROOT, "tests", "perf", "lines.c")]}


def install_missing():
    wants = "".join(f"need {package} '{tool}' command -v {tool}\n"
                    for tool, package in PACKAGES.items())
    subprocess.run(["bash", "-c", f". {ROOT}/sdk/requirements.sh\n{wants}"
                                  "install_missing"], check=True)


def compile_one(compiler, sources, path, more=()):
    subprocess.run([*compiler, *FLAGS, *more, *sources, "-o", path],
                   check=True)
    return path


def compile_mpi(mpi, work):
    """Yields (program, path); nothing if this MPI is not installed."""
    if not shutil.which("mpicc." + mpi):
        return
    folder = os.path.join(HERE, "mpi")
    # in MPICH's header, MPI_STATUS_IGNORE is a constant that gcc takes for an
    # address of too few bytes
    more = ["-Wno-stringop-overflow"] if mpi == "mpich" else []
    for name in sorted(os.listdir(folder)):
        program = name[:-2]
        if name.endswith(".c") and program != "client":
            sources = [os.path.join(folder, name),
                       os.path.join(folder, "client.c"),
                       *MORE_SOURCES.get(program, ())]
            yield program, compile_one(["mpicc." + mpi], sources,
                                       os.path.join(work, f"{program}.{mpi}"),
                                       more)


def compile_programs(options, work):
    """Returns {(mpi, program): path}; an MPI that is missing has none."""
    built = {(mpi, program): path for mpi in MPIS
             for program, path in compile_mpi(mpi, work)}
    if shutil.which("oshcc"):
        built["oshmem", "shmem"] = compile_one(
            ["oshcc"], [os.path.join(HERE, "shmem", "shmem.c")],
            os.path.join(work, "shmem.oshmem"),
            ["-Wno-deprecated-declarations"])
    local = os.path.join(HERE, "local")
    for program in ("beside", "forked"):
        built["local", program] = compile_one(
            ["cc"], [os.path.join(local, program + ".c"),
                     os.path.join(local, "use.c"), "-ldl"],
            os.path.join(work, program), ["-I", options.include])
    return built
