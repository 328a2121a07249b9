# SPDX-License-Identifier: BSD-3-Clause
"""Creates hosts as namespaces that a bridge connects, and runs a job on them. Each
host has its own name, processes, network, shared memory and IPC; kernel, boot id
and files are common to all, as with containers. This program runs inside its own
namespaces, the host "head", from which the job is started:

    head (hub: 10.77.0.254) --+-- eth0 10.77.0.1  host1  away0 --> nowhere
                              +-- eth0 10.77.0.2  host2  away0 --> nowhere

The interface away0 of the hosts reaches no other host. Its configuration:
    same     all hosts have the same address, like the bridges of containers
    own      each host has its own /30 network, to which no other host has a route
    router   like own, with a default route to head, which does not forward
    uplink   like own, with the default route over away0
    alike    all hosts have addresses of one network, but no common link
"""
import json
import os
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

# pylint: disable=wrong-import-position
from clientlib.namespaces import (left_behind, mount, own_tmp, until_none,
                                  wait_for_nothing)

NETWORK = "10.77.0"
EXTRA = {"same": "172.17.0.1/16", "own": "10.9.{}.1/30",
         "router": "10.9.{}.1/30", "uplink": "10.9.{}.1/30",
         "alike": "10.9.0.{}/24"}
IN_HOST = ["--mount", "--uts", "--ipc", "--net", "--pid"]


def ip(*words, pid=None):
    enter = ["nsenter", "--target", str(pid), "--net"] if pid else []
    subprocess.run([*enter, "ip", *words], check=True)


# ---------------------------------------------------------------- a host --

def keep(name):
    """The first process of a host. Each line of its input is a list of the names
    that may be in /tmp; for each it prints what is left behind on this host. At
    the end of the input the host ends."""
    socket.sethostname(name)
    mount("-t", "tmpfs", "tmpfs", "/dev/shm")
    # if this fails, the library only estimates the speed of the links
    subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=False)
    with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w",
              encoding="ascii") as file:
        file.write("1")  # IPv6 would send packets over unused links
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # reap orphaned processes
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(wait_for_nothing(json.loads(line))), flush=True)


class Host:
    """A host, for head. `process` keeps its namespaces."""

    def __init__(self, number, folder):
        self.number, self.name = number, f"host{number}"
        self.process = subprocess.Popen(
            ["unshare", *IN_HOST, "--fork", "--kill-child", "--mount-proc",
             sys.executable, "-B", os.path.abspath(__file__), "--keep",
             self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{self.name} has not come up")
        with open(os.path.join(folder, self.name), "w",
                  encoding="ascii") as file:
            print(self.process.pid, file=file)

    def plug_in(self, extra):
        """Creates the interfaces. away0 comes first, so that programs that list
        interfaces find it before eth0."""
        pid = str(self.process.pid)
        for end, name in ((f"away-{self.name}", "away0"),
                          (f"hub-{self.name}", "eth0")):
            ip("link", "add", end, "type", "veth", "peer", "name", name,
               "netns", pid)
            ip("link", "set", end, "addrgenmode", "none")
            ip("link", "set", end, "up")
        ip("link", "set", f"hub-{self.name}", "master", "hub")
        ip("addr", "add", EXTRA[extra].format(self.number), "dev", "away0",
           pid=pid)
        ip("addr", "add", f"{NETWORK}.{self.number}/24", "dev", "eth0", pid=pid)
        for name in ("lo", "away0", "eth0"):
            ip("link", "set", name, "up", pid=pid)
        if extra == "router":
            ip("route", "add", "default", "via", f"{NETWORK}.254", pid=pid)
        if extra == "uplink":
            ip("route", "add", "default", "dev", "away0", pid=pid)

    def left(self, kept):
        self.process.stdin.write(json.dumps(kept) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


# ------------------------------------------------------------------ head --

def name_hosts(count, work):
    """Makes all hosts known by name. Must run before the hosts are created, which
    inherit the mount."""
    path = os.path.join(work, "names")
    with open(path, "w", encoding="ascii") as file:
        print("127.0.0.1 localhost", file=file)
        print(f"{NETWORK}.254 head", file=file)
        for number in range(1, count + 1):
            print(f"{NETWORK}.{number} host{number}", file=file)
    mount("--bind", path, "/etc/hosts")
    socket.sethostname("head")


def traffic():
    """Returns the bytes received and sent by each interface of head."""
    numbers = {}
    with open("/proc/net/dev", encoding="ascii") as table:
        for line in table.readlines()[2:]:
            name, values = line.split(":")
            fields = values.split()
            numbers[name.strip()] = (int(fields[0]), int(fields[8]))
    return numbers


def account(hosts, before, kept):
    """Returns for each host: the bytes that it received and sent over eth0, all
    bytes over away0, and what is left behind on it."""
    after  = traffic()
    report = {"head": {"left": left_on_head(hosts, kept)}}
    for host in hosts:
        hub, away = (f"{end}-{host.name}" for end in ("hub", "away"))
        report[host.name] = {"in": after[hub][1] - before[hub][1],
                             "out": after[hub][0] - before[hub][0],
                             "away": sum(after[away]), "left": host.left(kept)}
    return report


def left_on_head(hosts, kept):
    """Returns what is left behind on head. The processes of the hosts are visible
    on head, but do not count: the hosts report them."""
    def left():
        theirs = {f"process {pid}" for host in hosts
                  for pid in members(host.process.pid)}
        return [one for one in left_behind(kept) if one not in theirs]
    return until_none(left)


def members(pid):
    """Returns the ids on head of a host's processes: `pid`, which keeps its
    namespaces, and all in its PID namespace."""
    theirs = os.readlink(f"/proc/{pid}/ns/pid_for_children")
    found  = [str(pid)]
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{other}/ns/pid") == theirs:
                found.append(other)
        except OSError:
            pass  # the process has ended
    return found


def head(job_path):
    """Runs the job that the file describes and writes its report."""
    with open(job_path, encoding="ascii") as file:
        job = json.load(file)
    name_hosts(job["hosts"], job["work"])
    mount("-t", "tmpfs", "tmpfs", "/dev/shm")
    kept = sorted(own_tmp(job["keep"]))
    ip("link", "add", "hub", "type", "bridge")
    ip("link", "set", "hub", "addrgenmode", "none")
    ip("addr", "add", f"{NETWORK}.254/24", "dev", "hub")
    ip("link", "set", "hub", "up")
    ip("link", "set", "lo", "up")

    hosts = []
    try:
        for number in range(1, job["hosts"] + 1):
            hosts.append(Host(number, job["work"]))
            hosts[-1].plug_in(job["extra"])
        before = traffic()
        env    = dict(os.environ, CLIENT_HOSTS=job["work"])
        status = subprocess.run(job["command"], env=env, check=False).returncode
        report = account(hosts, before, kept)
    finally:
        for host in hosts:
            host.end()
    with open(job["report"], "w", encoding="ascii") as file:
        json.dump(report, file)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    if sys.argv[1] == "--keep":
        keep(sys.argv[2])
    else:
        sys.exit(head(sys.argv[2]))
