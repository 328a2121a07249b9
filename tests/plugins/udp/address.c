/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that endpoints of the example plugin udp fail with UCS_ERR_UNREACHABLE
 * when the device loses its address. A timeout would have another status: the
 * plugin must monitor the address by an asynchronous descriptor. The test runs
 * in its own network namespace and changes only the loopback device in it.
 */
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "opened.h"

enum { SKIPPED = 77 /* exit code */, PATIENCE = 60000 /* ms */ };

/* Issues an ioctl() on a network device. The caller has the CAP_NET_ADMIN that
 * this needs, because it has created the network namespace. */
static int control(unsigned long what, struct ifreq *request)
{
    int fd     = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = ioctl(fd, what, request);

    close(fd);
    return result == 0;
}

static void enter_namespace(void)
{
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

    if ((unshare(CLONE_NEWNET) != 0) &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)) {
        printf("skipped: no permission to create a network namespace\n");
        exit(SKIPPED);
    }
    udp_require(control(SIOCSIFFLAGS, &up), "setting lo up");
}

static int remove_address(void)
{
    struct ifreq request  = {.ifr_name = "lo"};
    struct sockaddr_in in = {.sin_family = AF_INET}; /* 0.0.0.0: none */

    memcpy(&request.ifr_addr, &in, sizeof(in));
    return control(SIOCSIFADDR, &request);
}

/* Progresses until the failure is reported, at most PATIENCE times. Sleeps 1 ms
 * after each call without effect, to use less processor time. */
static void wait_for_failure(uct_worker_h worker)
{
    int left;

    for (left = PATIENCE; (udp_failure == UCS_OK) && (left > 0); --left) {
        if (uct_worker_progress(worker) == 0) {
            poll(NULL, 0, 1);
        }
    }
}

int main(void)
{
    opened_t opened;
    uct_ep_h ep;

    enter_namespace();
    udp_open(&opened);
    ep = udp_connect(&opened);
    uct_worker_progress(opened.worker);
    udp_require(udp_failure == UCS_OK,
                "no failure before the address is removed");

    udp_require(remove_address(), "removing the address");
    wait_for_failure(opened.worker);
    printf("reported: %s\n", ucs_status_string(udp_failure));
    udp_require(udp_failure == UCS_ERR_UNREACHABLE,
                "UCS_ERR_UNREACHABLE is reported");
    udp_require(uct_ep_am_short(ep, 0, 0, NULL, 0) == UCS_ERR_UNREACHABLE,
                "a send on the failed endpoint");

    uct_ep_destroy(ep);
    udp_close(&opened);
    return 0;
}
