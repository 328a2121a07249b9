/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes for tests of cma with failing peers: see cma_fault.h. */
#include "cma_fault.h"

#include <check.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "cma_side.h"

void cma_fault_serve(void *arg, int fd)
{
    const char *more = (arg == NULL) ? "" : arg;
    char config[64];
    cma_side_t side;
    cma_link_t link;
    char byte;

    snprintf(config, sizeof(config), "CHUNK=16k%s", more);
    cma_side_open(&side, WINDOW, config);
    memset(side.memory, 0x11, WINDOW);
    cma_side_meet(&side, fd, &link);
    cma_side_serve(&side, fd, &byte, 1);
    cma_side_part(&link);
    cma_side_close(&side);
}

void cma_fault_pause(unsigned us)
{
    struct timespec ts = {0, (long)us * 1000};

    nanosleep(&ts, NULL);
}

void cma_fault_run_quietly(void (*body)(void *arg, int fd))
{
    char text[4096];
    int fds[2], fd, saved;
    ssize_t n;
    pid_t pid;

    EXPECT_EQ(pipe(fds), 0);
    fflush(stderr);
    saved = dup(2);
    dup2(fds[1], 2);
    pid = child_start(body, NULL, &fd);
    dup2(saved, 2);
    close(fds[1]);
    n                     = read(fds[0], text, sizeof(text) - 1);
    text[(n > 0) ? n : 0] = '\0';
    ck_assert_msg(cma_side_join(pid), "it failed: %s", text);
    ck_assert_msg(n == 0, "it said: %s", text);
    close(fds[0]);
    close(fd);
    close(saved);
}
