# SPDX-License-Identifier: BSD-3-Clause
"""The environment of a job: namespaces of its own (processes, network, mounts,
IPC), with an empty /dev/shm and /tmp, so that everything that it leaves behind can
be detected."""

import json
import os
import subprocess
import sys
import time

TIME_TO_GO = 60  # seconds until the files and processes of a job must be gone


def enter_namespaces():
    """Returns the words before a command that run it in its own namespaces."""
    words = ["unshare", "--mount", "--ipc", "--net", "--pid", "--fork",
             "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        words += ["--user", "--map-root-user"]
    return words


def why_no_namespaces():
    """Returns the error if namespaces cannot be created, or None."""
    done = subprocess.run(enter_namespaces() + ["true"], stderr=subprocess.PIPE,
                          text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def mount(*words, **keywords):
    subprocess.run(["mount", *words], check=True, **keywords)


def own_tmp(keep):
    """Mounts a /tmp that contains only those folders of `keep` that are below
    /tmp. Returns the names of its entries."""
    keep = sorted({os.path.realpath(folder) for folder in keep
                   if os.path.realpath(folder).startswith("/tmp/")})
    # an outer folder contains the inner ones
    keep = [folder for folder in keep
            if not any(folder.startswith(other + "/") for other in keep)]
    handles = [os.open(folder, os.O_PATH) for folder in keep]
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/tmp")
    for folder, handle in zip(keep, handles):
        os.makedirs(folder)
        mount("--no-canonicalize", "--bind", f"/proc/self/fd/{handle}", folder,
              pass_fds=[handle])
        os.close(handle)
    return {folder.split("/")[2] for folder in keep}


def stage(root, prefix):
    """Mounts an installation that was made with DESTDIR=root at its prefix."""
    mount("-t", "overlay", "-o", f"lowerdir={root}{prefix}:{prefix}",
          "overlay", prefix)


def inside(arguments):
    """Called in new namespaces: runs a job, then writes a report of what it has
    left behind. The arguments are a dictionary: report, keep, stage (or none),
    command."""
    if arguments.get("stage"):
        stage(*arguments["stage"])
    mount("-t", "tmpfs", "tmpfs", "/dev/shm")
    kept = own_tmp(arguments["keep"])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # the current folder may be hidden by the new /tmp: use one that is visible
    status = subprocess.run(arguments["command"], check=False,
                            cwd=os.path.dirname(arguments["report"])).returncode
    left = wait_for_nothing(kept)
    with open("/proc/net/dev", encoding="ascii") as table:
        loopback = [line.split() for line in table if "lo:" in line]
    with open(arguments["report"], "w", encoding="ascii") as report:
        json.dump({"left": left, "loopback": int(loopback[0][1])}, report)
    sys.exit(status if status >= 0 else 128 - status)


def is_ours(name):
    """Returns whether a leftover file counts. Files of Open MPI and MPICH do not:
    the launcher of a job with a killed rank leaves some."""
    return not name.startswith(("ompi.", "vader_segment.", "mpich"))


def left_behind(kept=()):
    """Returns what the job has left behind: files, segments, processes."""
    files = [f"/dev/shm/{name}" for name in os.listdir("/dev/shm")
             if is_ours(name)]
    files += [f"/tmp/{name}" for name in os.listdir("/tmp")
              if is_ours(name) and name not in kept]
    with open("/proc/sysvipc/shm", encoding="ascii") as table:
        segments = [line.split()[1] for line in table.readlines()[1:]]
    mine = (os.getpid(), os.getppid(), 1)
    processes = [pid for pid in os.listdir("/proc") if pid.isdigit()
                 and int(pid) not in mine and os.path.exists(
                     f"/proc/{pid}/exe")]
    return (files + [f"segment {number}" for number in segments] +
            [f"process {pid}" for pid in processes])


def until_none(left):
    """Calls left() until it returns nothing or the time is up; returns its last
    result."""
    deadline = time.monotonic() + TIME_TO_GO
    while True:
        late  = time.monotonic() > deadline
        found = left()
        if late or not found:
            return found
        time.sleep(0.1)


def wait_for_nothing(kept=()):
    """Returns what is left behind after a time for cleanup."""
    return until_none(lambda: left_behind(kept))
