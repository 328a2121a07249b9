/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wakes the creator of a segment: a pipe, or a FIFO for a segment with a name
 * (names.c), that every peer can write to. Writers also hold it open for
 * reading, so that writing does not raise SIGPIPE if the creator has ended.
 */
#include "kind.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

ucs_status_t shm_event_make(shm_seg_t *seg)
{
    const ucx_host_t *host = seg->space->host;
    struct stat st;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
        ucx_error("cannot make a pipe for wake-ups: %s; raise the limit of "
                  "open files (ulimit -n)",
                  strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    if (fstat(fds[0], &st) != 0) {
        close(fds[0]);
        close(fds[1]);
        return UCS_ERR_IO_ERROR;
    }

    seg->event_rd  = fds[0];
    seg->event_wr  = fds[1];
    seg->event_fd  = fds[0];
    seg->event_ino = st.st_ino;
    return UCS_OK;
}

void shm_event_close(shm_seg_t *seg)
{
    if (seg->event_rd >= 0) {
        close(seg->event_rd);
    }
    if (seg->event_wr >= 0) {
        close(seg->event_wr);
    }
    seg->event_rd = seg->event_wr = -1;
}

/* Opens the FIFO of a named segment. */
static int open_fifo(const shm_seg_t *seg)
{
    char path[SHM_PATH_MAX];
    struct stat st;
    int fd, own;

    if (!shm_name_path(seg->space, seg->token, 1, path, sizeof(path))) {
        return -1;
    }
    fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    own = -1;
    if ((fstat(fd, &st) == 0) && S_ISFIFO(st.st_mode)) {
        own = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    }
    close(fd);
    return own;
}

static int open_event(const shm_seg_t *seg)
{
    const shm_space_t *space = seg->space;
    int fd                   = -1;

    if (seg->event_fd < 0) {
        return -1;
    }
    if (space->use_proc && space->has_proc) {
        fd = shm_proc_open(seg->maker_pid, seg->event_fd, S_IFIFO,
                           seg->event_ino, UINT64_MAX, O_RDWR | O_NONBLOCK);
    }
    if ((fd < 0) && seg->is_named) {
        fd = open_fifo(seg);
    }
    return fd;
}

/* A process that attaches a posix segment without /proc gets the event together
 * with the segment, by the socket or by name. A System V segment has neither. */
int shm_seg_can_wake(const shm_space_t *space)
{
    return (space->kind == &shm_kind_posix) || space->has_proc;
}

/* Logs why the event cannot be opened, unless the reason may be that the creator
 * has exited. `error`: the errno of opening it. */
static void report_event(shm_seg_t *seg, int error)
{
    const ucx_host_t *host = seg->space->host;
    const char *why        = NULL;

    if (!shm_seg_can_wake(seg->space)) {
        why = "there is no /proc of this PID namespace; use posix";
    } else if ((error == EMFILE) || (error == ENFILE)) {
        why = "raise the limit of open files (ulimit -n)";
    }
    if ((seg->event_fd < 0) || (why == NULL) || seg->wake_told) {
        return;
    }
    seg->wake_told = 1;
    ucx_error("%s: cannot wake process %u, which sleeps until it checks its "
              "peers: %s",
              seg->space->kind->name, seg->maker_pid, why);
}

void shm_seg_wake(shm_seg_t *seg)
{
    ssize_t n;

    if (seg->event_wr < 0) {
        errno         = 0;
        seg->event_wr = open_event(seg);
        if (seg->event_wr < 0) {
            report_event(seg, errno);
            return;
        }
    }
    do {
        n = write(seg->event_wr, "", 1);
    } while ((n < 0) && (errno == EINTR));
    /* If the pipe is full, the write fails; the creator wakes up nevertheless,
     * because the pipe is readable */
}

void shm_seg_event_clear(shm_seg_t *seg)
{
    char buffer[4096];
    ssize_t n;

    /* Read little more than the capacity of a pipe, in case a peer writes
     * continuously */
    for (int i = 0; (i < 17) && (seg->event_rd >= 0); ++i) {
        n = read(seg->event_rd, buffer, sizeof(buffer));
        if (n < (ssize_t)sizeof(buffer)) {
            break;
        }
    }
}
