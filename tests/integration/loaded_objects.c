/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a context and a worker, sends itself a message with --talk, and prints
 * the path of every shared object of the process. The tests of lazy loading
 * check which plugins are among them.
 */
#include "common/side.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>

static int show(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    if (info->dlpi_name[0] != '\0') {
        puts(info->dlpi_name);
    }
    return 0;
}

static void talk_to_oneself(struct side *side)
{
    char out = 'x', in = 0;
    struct side_ep *ep;
    size_t length;
    void *address = side_address(side, &length);

    ep = side_connect(side, address);
    side_send_wait(ep, &out, 1, 5);
    EXPECT_INT(side_recv_wait(side, &in, 1, 5, ~(ucp_tag_t)0), ==, 1);
    EXPECT_INT(in, ==, out);
    side_close_ep(ep, 0);
    free(address);
}

int main(int argc, char **argv)
{
    struct side side;

    side_open(&side, UCP_FEATURE_TAG);
    if (team_asked(argc, argv, "--talk")) {
        talk_to_oneself(&side);
    }
    dl_iterate_phdr(show, NULL);
    side_close(&side);
    return 0;
}
