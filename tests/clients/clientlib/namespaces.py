# SPDX-License-Identifier: BSD-3-Clause
"""What surrounds a job: namespaces of its own (processes, network, mounts, IPC),
with nothing in /dev/shm and /tmp, so that what it leaves behind is seen."""

import json
import os
import subprocess
import sys
import time

TIME_TO_GO = 60  # seconds, for what a job leaves to its end


def enter_namespaces():
    """The words before a command that runs in namespaces of its own."""
    words = ["unshare", "--mount", "--ipc", "--net", "--pid", "--fork",
             "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        words += ["--user", "--map-root-user"]
    return words


def why_no_namespaces():
    """What the system says when it refuses them; or None."""
    done = subprocess.run(enter_namespaces() + ["true"], stderr=subprocess.PIPE,
                          text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def mount(*words, **keywords):
    subprocess.run(["mount", *words], check=True, **keywords)


def own_tmp(keep):
    """A /tmp with nothing in it but the folders in `keep` that were there."""
    keep = sorted({os.path.realpath(folder) for folder in keep
                   if os.path.realpath(folder).startswith("/tmp/")})
    # an outer folder brings the inner ones with it
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
    """An installation made with DESTDIR=root is seen where it belongs."""
    mount("-t", "overlay", "-o", f"lowerdir={root}{prefix}:{prefix}",
          "overlay", prefix)


def inside(arguments):
    """In namespaces of its own: runs a job, then notes what it has left. The
    arguments are a dictionary: report, keep, stage (or none), command."""
    if arguments.get("stage"):
        stage(*arguments["stage"])
    mount("-t", "tmpfs", "tmpfs", "/dev/shm")
    kept = own_tmp(arguments["keep"])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # a folder that is seen here, whatever /tmp was where we come from
    status = subprocess.run(arguments["command"], check=False,
                            cwd=os.path.dirname(arguments["report"])).returncode
    left = wait_for_nothing(kept)
    with open("/proc/net/dev", encoding="ascii") as table:
        loopback = [line.split() for line in table if "lo:" in line]
    with open(arguments["report"], "w", encoding="ascii") as report:
        json.dump({"left": left, "loopback": int(loopback[0][1])}, report)
    sys.exit(status if status >= 0 else 128 - status)


def is_ours(name):
    """Files of Open MPI and of MPICH are theirs to remove: the launcher of a
    job with a dead rank leaves some."""
    return not name.startswith(("ompi.", "vader_segment.", "mpich"))


def left_behind(kept=()):
    """What outlives the job: files, segments, processes."""
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
    """What left() says once that is nothing, or all had time to go away."""
    deadline = time.monotonic() + TIME_TO_GO
    while True:
        late  = time.monotonic() > deadline
        found = left()
        if late or not found:
            return found
        time.sleep(0.1)


def wait_for_nothing(kept=()):
    """What is left behind for good."""
    return until_none(lambda: left_behind(kept))
