# SPDX-License-Identifier: BSD-3-Clause
# Shell functions, sourced inside the virtual machine: RDMA devices in
# software, and faults on their links. A new process takes 0.1 to 0.2 s on an
# emulated processor: `ip` gets several commands at once.

# rdma_modules MODULE: loads the modules for devices of this kind
rdma_modules()
{
    modprobe -a crc32c_generic ib_uverbs rdma_ucm "$1" veth ||
        { echo "vm: modules are missing"; return 1; }
}

# two_devices [KIND]: creates rxe1 (10.7.0.1, fd07::1) and rxe2 (10.7.0.2, fd07::2)
# at the ends of a veth pair; or siw1 and siw2. Both are in one network namespace,
# because software RDMA does not work between namespaces; policy routing sends the
# packets between them over the pair.
two_devices()
{
    local kind=${1:-rxe}
    case $kind in
    rxe) rdma_modules rdma_rxe || return 1 ;;
    *) rdma_modules "$kind" || return 1 ;;
    esac
    echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
    ip -batch - <<END
rule add pref 100 lookup local
rule del pref 0
END
    join_devices "$kind" 1 2
}

# four_devices: like two_devices, with rxe3 (10.8.0.3) and rxe4 (10.8.0.4) at the
# ends of another pair
four_devices()
{
    two_devices && join_devices rxe 3 4
}

# set_end I: sets `other` to the number of the device at the other end of I's pair,
# `own`, `own6` and `peer` to the addresses of device I and that device
set_end()
{
    local net=$((7 + ($1 - 1) / 2))
    other=$((($1 - 1 ^ 1) + 1))
    own=10.$net.0.$1
    own6=fd0$net::$1
    peer=10.$net.0.$other
}

# join_devices KIND I J: creates two devices and the veth pair between them
join_devices()
{
    local i other own own6 peer kind=$1
    shift
    {
        echo "link add v$1 type veth peer name v$2"
        for i in "$@"; do
            set_end $i
            echo "addr add $own/24 dev v$i"
            echo "addr add $own6/64 dev v$i nodad"
            echo "link set v$i mtu 4200 up"
            echo "rule add pref $((9 + i)) iif lo from $own to $peer lookup $((100 + i))"
        done
    } | ip -batch - || return 1
    for i in "$@"; do
        echo 1 >/proc/sys/net/ipv4/conf/v$i/accept_local
        echo 0 >/proc/sys/net/ipv4/conf/v$i/rp_filter
    done
    link_routes "$@"
    for i in "$@"; do
        rdma link add $kind$i type $kind netdev v$i || return 1
    done
    for i in "$@"; do
        wait_active $kind$i || return 1
    done
    chmod 666 /dev/infiniband/* 2>/dev/null || true
}

# preempt: from here on this shell and its programs run on one processor with the
# idle policy, and the kernel preempts them in the middle of system calls. A thread
# of the kernel that such a call wakes then runs before the call continues.
preempt()
{
    mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
    echo full >/sys/kernel/debug/sched/preempt || return 1
    taskset -p 1 $$ >/dev/null && chrt -i -p 0 $$
}

# run_program SECONDS LIBRARY FOLDER 'PROGRAM ARG...': runs a program, with LIBRARY
# preloaded unless empty. Reports whether the program has ended with 0.
run_program()
{
    local start=$SECONDS status
    # shellcheck disable=SC2086 # the program and its arguments
    LD_PRELOAD=$2 timeout -k 5 "$1" "$3"/$4 >/run/output 2>&1
    status=$?
    if [ $status -eq 0 ]; then
        echo "ok      $4 ($((SECONDS - start)) s)"
    else
        echo "FAILED  $4 (status $status, $((SECONDS - start)) s)"
        tail -n 30 /run/output
    fi
    return $status
}

# link_routes I...: routes packets from each device I to its peer over the pair
link_routes()
{
    local i other own own6 peer mac
    for i in "$@"; do
        set_end $i
        read -r mac </sys/class/net/v$other/address
        echo "route replace $peer dev v$i table $((100 + i))"
        echo "neigh replace $peer dev v$i nud permanent lladdr $mac"
    done | ip -batch -
}

# link_up: connects the devices again after `ip link set v1 down`, which has removed
# the routes of v1
link_up()
{
    ip link set v1 up
    link_routes 1 2
}

# wait_active DEVICE: waits until its port is active, at most 10 s
wait_active()
{
    local n state
    for ((n = 0; n < 100; n++)); do
        read -r state <"/sys/class/infiniband/$1/ports/1/state"
        [ "${state#*ACTIVE}" = "$state" ] || return 0
        sleep 0.1
    done
    echo "vm: port of $1 is not active"
    return 1
}

# wait_gone DEVICE: waits until the device is removed, at most 10 s
wait_gone()
{
    local n
    for ((n = 0; n < 100; n++)); do
        [ -e "/sys/class/infiniband/$1" ] || return 0
        sleep 0.1
    done
    echo "vm: $1 is not removed"
    return 1
}

# not_ready: prints the number of messages that arrived without a receive buffer
not_ready()
{
    cat /sys/class/infiniband/rxe[12]/ports/1/hw_counters/rcvd_rnr_err |
        awk '{sum += $1} END {print sum + 0}'
}

# lose PERCENT: sets the percentage of lost packets in both directions; 0: no loss
lose()
{
    local i
    modprobe -q sch_netem
    for i in 1 2; do
        tc qdisc del dev v$i root 2>/dev/null || true
        [ "$1" = 0 ] || tc qdisc add dev v$i root netem loss "$1%" || return 1
    done
}
