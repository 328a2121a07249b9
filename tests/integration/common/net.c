/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See net.h. Member 0 creates the veth pair in its own namespace and moves one
 * end to that of member 1. No device is created in the host's namespace.
 */
#include "net.h"

#include "check.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

static bool ip_command(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static bool ip_command(const char *format, ...)
{
    char line[256] = "ip ";
    va_list args;

    va_start(args, format);
    vsnprintf(line + 3, sizeof(line) - 3, format, args);
    va_end(args);
    return system(line) == 0;
}

void net_prepare(void)
{
    /* A user namespace would be sufficient for the network, but in it the
     * plugin folders have no valid owner, and the loader rejects such
     * plugins. */
    if (geteuid() != 0) {
        check_skip("network namespaces need root");
    }
    if (system("ip -Version >/dev/null 2>&1") != 0) {
        check_skip("no 'ip' command here: install iproute2");
    }
}

static void say(struct team *team, char word)
{
    team_put(team, 1 - team->rank, &word, 1);
}

static void hear(struct team *team, char expected)
{
    char word;

    team_get(team, 1 - team->rank, &word, 1);
    EXPECT_INT(word, ==, expected);
}

static void own_network(void)
{
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) {
        check_skip("no network namespace here: %s", strerror(errno));
    }
    /* /sys shows the interfaces of the network namespace in which it was
     * mounted. */
    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    if (mount("sysfs", "/sys", "sysfs", 0, NULL) != 0) {
        check_skip("cannot mount /sys of a network namespace: %s",
                   strerror(errno));
    }
    if (!ip_command("link set lo up")) {
        check_skip("cannot bring up the loopback of a network namespace");
    }
}

/* Opens a socket that receives all link changes from the kernel. */
static int open_link_news(void)
{
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK,
    };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    EXPECT(fd >= 0);
    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

/* Waits until the device runs, which is shortly after both ends of the link are
 * up. `news` is the socket of open_link_news(). */
static void wait_running(int news, const char *name)
{
    struct ifreq request = {0};
    struct pollfd fd     = {.fd = news, .events = POLLIN};
    char message[8192];

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    for (;;) {
        EXPECT(ioctl(news, SIOCGIFFLAGS, &request) == 0);
        if (request.ifr_flags & IFF_RUNNING) {
            return;
        }
        if (poll(&fd, 1, 10000) <= 0) {
            FAIL("the veth pair does not come up");
        }
        EXPECT(recv(news, message, sizeof(message), 0) > 0);
    }
}

const char *net_host(int rank)
{
    /* join() sets these addresses */
    return (rank == 0) ? "10.77.0.1" : "10.77.0.2";
}

static const char *names[NET_LINKS][2] = {
    {"ucx0", "ucx1"},
    {"ucy0", "ucy1"},
};

const char *net_device(int rank, int link)
{
    return names[link][rank];
}

void net_use(int rank, int link, const char *name)
{
    names[link][rank] = name;
}

/* Creates link `link` between the namespaces; both members call it. Link 0 has
 * the network 10.77.0.0/24, link 1 10.78.0.0/24. */
static void join(struct team *team, int link)
{
    const char *name = net_device(team->rank, link);
    int news         = open_link_news();

    say(team, 'n');
    hear(team, 'n');
    if (team->rank == 0) {
        if (!ip_command("link add %s type veth peer name %s netns %d", name,
                        net_device(1, link), (int)team->pids[1])) {
            check_skip("no veth pair here");
        }
        say(team, 'v');
    } else {
        hear(team, 'v');
    }
    if (!ip_command("address add 10.%d.0.%d/24 dev %s", 77 + link,
                    team->rank + 1, name) ||
        !ip_command("link set %s up", name)) {
        check_skip("cannot set up the veth pair");
    }
    say(team, 'u');
    hear(team, 'u');
    wait_running(news, name);
    close(news);
    say(team, 'r');
    hear(team, 'r');
}

void net_enter(struct team *team)
{
    EXPECT_INT(team->size, ==, 2);
    own_network();
    join(team, 0);
}

void net_join_again(struct team *team)
{
    join(team, 1);
}

void net_dead_end(struct team *team)
{
    int rank = team->rank;

    if (!ip_command("link add dead type veth peer name end") ||
        !ip_command("address add 172.%d.0.1/16 dev dead", 17 + rank) ||
        !ip_command("link set dead up") || !ip_command("link set end up")) {
        check_skip("cannot make a device that leads nowhere");
    }
    EXPECT(ip_command("route add default via %s", net_host(1 - rank)));
}

void net_link(struct team *team, int link, bool up)
{
    EXPECT(ip_command("link set %s %s", net_device(team->rank, link),
                      up ? "up" : "down"));
}

uint64_t net_bytes(struct team *team, int link)
{
    unsigned long long bytes = 0;
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_bytes",
             net_device(team->rank, link));
    file = fopen(path, "r");
    EXPECT((file != NULL) && (fscanf(file, "%llu", &bytes) == 1));
    fclose(file);
    return bytes;
}

bool net_limit(struct team *team, int link, unsigned mbits)
{
    char line[256];

    snprintf(line, sizeof(line),
             "tc qdisc replace dev %s root tbf rate %umbit"
             " burst 256k latency 20ms 2>/dev/null",
             net_device(team->rank, link), mbits);
    return system(line) == 0;
}
