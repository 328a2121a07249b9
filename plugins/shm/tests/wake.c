/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether an interface declares that messages wake it when it sleeps
 * (UCT_IFACE_FLAG_EVENT_RECV), and whether they do. Without /proc a sender
 * cannot wake an interface of sysv.
 */
#include "child.h"
#include "kill_side.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { SKIPPED = 77 }; /* Exit status of a skipped test */

/* Limit in milliseconds for a wake-up; only a lost one reaches it. */
#define TIMEOUT 120000

/* `declares`: the interface must declare that messages wake it. If it does not
 * declare so, it is not tested whether they do. */
static void run(const char *tl, int declares)
{
    kill_side_t receiver, sender;
    kill_link_t link;
    struct pollfd pfd = {.events = POLLIN};

    /* Without a check of its peers, nothing but the message wakes it */
    kill_side_open_keepalive(&receiver, tl, UCS_TIME_INFINITY);
    kill_side_open(&sender, tl);
    EXPECT_EQ(!!(receiver.attr.cap.event_flags & UCT_IFACE_FLAG_EVENT_RECV),
              declares);
    if (declares) {
        EXPECT_TRUE(kill_link_open(&link, &sender, &receiver.card));
        EXPECT_EQ(uct_iface_event_fd_get(receiver.iface, &pfd.fd), UCS_OK);
        while (uct_iface_event_arm(receiver.iface, UCT_EVENT_RECV) ==
               UCS_ERR_BUSY) {
            uct_worker_progress(receiver.worker);
        }
        EXPECT_EQ(kill_link_step(&link), UCS_OK);
        EXPECT_EQ(link.sent, 1);
        EXPECT_EQ(poll(&pfd, 1, TIMEOUT), 1);
        while (receiver.received == 0) {
            uct_worker_progress(receiver.worker);
        }
        kill_link_close(&link);
    }
    kill_side_close(&sender);
    kill_side_close(&receiver);
}

static void with_proc(void *arg, int fd)
{
    run("posix", 1);
    run("sysv", 1);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    EXPECT_TRUE((file != NULL) && (fputs(text, file) >= 0));
    EXPECT_EQ(fclose(file), 0);
}

/* Runs as root of a new user namespace, where it may hide /proc from itself by
 * an empty file system. */
static void without_proc(void *arg, int fd)
{
    unsigned uid = geteuid(), gid = getegid();
    char text[64];

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        /* The thread sanitizer has a thread of its own, with which the kernel
         * denies this */
        fprintf(stderr, "without /proc: no user namespace here: %s\n",
                strerror(errno));
        _exit(SKIPPED);
    }
    snprintf(text, sizeof(text), "0 %u 1", uid);
    write_text("/proc/self/uid_map", text);
    write_text("/proc/self/setgroups", "deny");
    snprintf(text, sizeof(text), "0 %u 1", gid);
    write_text("/proc/self/gid_map", text);
    if ((mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) ||
        (mount("tmpfs", "/proc", "tmpfs", 0, NULL) != 0)) {
        fprintf(stderr, "without /proc: cannot mount over it: %s\n",
                strerror(errno));
        _exit(SKIPPED);
    }
    EXPECT_EQ(access("/proc/self", F_OK), -1);
    run("posix", 1);
    run("sysv", 0);
    /* The leak sanitizer reads /proc at the end */
    EXPECT_EQ(umount2("/proc", MNT_DETACH), 0);
}

/* Runs the body in a child process, and returns its exit status. */
static int run_child(void (*body)(void *arg, int fd))
{
    int fd, status;
    pid_t pid = child_start(body, NULL, &fd);

    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    close(fd);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(void)
{
    EXPECT_EQ(run_child(with_proc), 0);
    return run_child(without_proc);
}
