/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two survivors and a sequence of victims, which communicate with both. Most
 * victims are killed, at a random moment: while they open, connect, send, copy
 * or close. Each survivor detects that in bounded time, and continues with the
 * next victim. Some victims are spared: they leave normally, and the survivors
 * have received all their messages. No descriptor, file or System V segment is
 * left behind.
 *
 * This process, which does not use the library, forks all others.
 */
#include "child.h"
#include "kill_side.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SURVIVORS = 2, SPARED_EVERY = 8, MAX_ROUNDS = 200 };

/* Limit in seconds for a survivor to detect that a victim has exited, from the
 * close of the victim's socket on. */
#define NOTICE_LIMIT 30.0
/* Limit in seconds for one round of a survivor. It waits three times, each at
 * most NOTICE_LIMIT: for the victim's end, for its messages, and for the last
 * put or get. The rest is for everything else. */
#define ROUND_LIMIT (4 * NOTICE_LIMIT)
/* Seconds for which a spared victim sends. Other victims are killed after at
 * most three times that. */
#if defined(__SANITIZE_ADDRESS__)
#define SPARED_TIME 0.020
#else
#define SPARED_TIME 0.004
#endif

typedef struct way {
    const char *tl;
    const char *use_names; /* Value of UCX_POSIX_USE_NAMES */
    unsigned rounds;       /* Number of victims */
    int tells;             /* Whether a survivor may rely on the error handler
                            * to report the exit of a victim; otherwise the
                            * status of a put or get may report it, too */
} way_t;

static char dir[] = "/dev/shm/ucx-kill-XXXXXX";
static const way_t *way;

/* -------------------------------------------------------------- sockets -- */

static void make_pair(int fds[2])
{
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

static void give_fd(int to, int fd)
{
    char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 'f';
    struct iovec iov  = {&byte, 1};
    struct msghdr msg = {
        .msg_iov        = &iov,
        .msg_iovlen     = 1,
        .msg_control    = room,
        .msg_controllen = sizeof(room),
    };
    struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);

    cm->cmsg_level = SOL_SOCKET;
    cm->cmsg_type  = SCM_RIGHTS;
    cm->cmsg_len   = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
    EXPECT_EQ(sendmsg(to, &msg, MSG_NOSIGNAL), 1);
}

/* Receives a descriptor from the parent. Returns -1 if the parent has closed
 * the socket, because there are no more rounds. */
static int take_fd(int from)
{
    char room[CMSG_SPACE(sizeof(int))], byte;
    struct iovec iov  = {&byte, 1};
    struct msghdr msg = {
        .msg_iov        = &iov,
        .msg_iovlen     = 1,
        .msg_control    = room,
        .msg_controllen = sizeof(room),
    };
    int fd;

    if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != 1) {
        return -1;
    }
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
    return fd;
}

/* Reads `length` bytes and progresses while it waits. Returns zero if the other
 * end was closed. */
static int read_all(kill_side_t *side, int fd, void *data, size_t length)
{
    char *next = data;
    ssize_t n;

    while (length > 0) {
        n = recv(fd, next, length, MSG_DONTWAIT);
        if ((n == 0) || ((n < 0) && (errno != EAGAIN))) {
            return 0;
        }
        if (n < 0) {
            uct_worker_progress(side->worker);
            sched_yield();
            continue;
        }
        next += n;
        length -= (size_t)n;
    }
    return 1;
}

static int write_all(int fd, const void *data, size_t length)
{
    return send(fd, data, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Returns non-zero if the other end was closed or has sent something. */
static int is_over(int fd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};

    return poll(&pfd, 1, 0) != 0;
}

/* -------------------------------------------------------------- victims -- */

/* Sends to all survivors, or copies, until it is killed. If it is spared, does
 * so for SPARED_TIME seconds, and then leaves normally. */
static void victim_main(const int *fds, int spared)
{
    kill_link_t links[SURVIVORS];
    kill_side_t side;
    kill_card_t card;
    double end;
    unsigned i, alive = 1;

    kill_side_open(&side, way->tl);
    for (i = 0; i < SURVIVORS; ++i) {
        EXPECT_TRUE(write_all(fds[i], &side.card, sizeof(side.card)));
        EXPECT_TRUE(read_all(&side, fds[i], &card, sizeof(card)));
        EXPECT_EQ(kill_link_open(&links[i], &side, &card), 1);
    }
    end = kill_now() + SPARED_TIME;
    for (i = 0; alive; i = (i + 1) % SURVIVORS) {
        EXPECT_EQ(kill_link_step(&links[i]), UCS_OK);
        uct_worker_progress(side.worker);
        EXPECT_EQ(side.failures, 0);
        alive = !spared || (kill_now() < end) || links[i].busy;
    }
    for (i = 0; i < SURVIVORS; ++i) {
        while (links[i].busy) {
            uct_worker_progress(side.worker);
        }
        EXPECT_TRUE(write_all(fds[i], &links[i].sent, sizeof(uint32_t)));
    }
    for (i = 0; i < SURVIVORS; ++i) {
        /* The survivor answers when it has received all messages and has
         * closed its endpoint */
        EXPECT_TRUE(read_all(&side, fds[i], &card, 1));
        kill_link_close(&links[i]);
    }
    kill_side_close(&side);
}

/* ------------------------------------------------------------ survivors -- */

static unsigned count_entries(const char *path)
{
    DIR *listing   = opendir(path);
    unsigned count = 0;

    EXPECT_TRUE(listing != NULL);
    while (readdir(listing) != NULL) {
        ++count;
    }
    closedir(listing);
    return count;
}

/* Sends to the victim, or copies, until this side has detected that the victim
 * was killed, or until a spared victim leaves. `pid`: of the victim; `fd`:
 * socket to it. */
static void outlive(kill_link_t *link, uint32_t pid, int fd)
{
    kill_header_t *expected;
    kill_side_t *side   = link->side;
    ucs_status_t status = UCS_OK;
    double end          = 0;
    uint32_t told;

    for (;;) {
        if (status == UCS_OK) {
            status = kill_link_step(link);
        }
        uct_worker_progress(side->worker);
        if ((end == 0) && is_over(fd)) {
            if (read_all(side, fd, &told, sizeof(told))) {
                break; /* The victim was spared, and leaves */
            }
            end = kill_now() + NOTICE_LIMIT;
        }
        if ((side->failures > 0) || (!way->tells && (status != UCS_OK))) {
            return;
        }
        if ((end != 0) && (kill_now() > end)) {
            kill_die(__FILE__, __LINE__, "the end of a victim noticed", status,
                     side->failures);
        }
    }

    /* Wait until all messages of the spared victim (`told` is their number)
     * have arrived, and the operation of this side is complete */
    end      = kill_now() + NOTICE_LIMIT;
    expected = kill_side_expected(side, pid);
    while (link->busy || ((side->memh == NULL) && (expected->number != told))) {
        uct_worker_progress(side->worker);
        EXPECT_TRUE(kill_now() < end);
    }
    EXPECT_EQ(side->failures, 0);
    EXPECT_EQ(link->status, UCS_OK);
}

static void survive(kill_side_t *side, int fd)
{
    kill_link_t link;
    kill_card_t card;

    if (!read_all(side, fd, &card, sizeof(card)) ||
        !write_all(fd, &side->card, sizeof(side->card)) ||
        !kill_link_open(&link, side, &card)) {
        return; /* The victim exited before a connection was made */
    }
    outlive(&link, card.pid, fd);
    kill_link_close(&link);
    (void)write_all(fd, "g", 1);
    EXPECT_TRUE(side->failures <= 1);
}

static void survivor_main(int control)
{
    unsigned round = 0, fds = 0, first = 16;
    kill_side_t side;
    int fd;

    kill_side_open(&side, way->tl);
    while ((fd = take_fd(control)) >= 0) {
        survive(&side, fd);
        close(fd);
        if (++round == first) {
            fds = count_entries("/proc/self/fd");
        }
        EXPECT_TRUE(write_all(control, "r", 1));
    }
    /* At most three descriptors more than before: those of the attachment that
     * is cached for the peer whose reachability was tested last */
    EXPECT_TRUE(count_entries("/proc/self/fd") <= fds + 3);
    EXPECT_TRUE(side.received + side.copied > 0);
    printf("%s%s: %u rounds, %llu messages, %llu copies\n", way->tl,
           (way->use_names[0] == 'y') ? " with names" : "", round,
           (unsigned long long)side.received, (unsigned long long)side.copied);
    kill_side_close(&side);
}

/* --------------------------------------------------------------- parent -- */

/* Counts the existing System V segments that process `maker` has created. */
static unsigned count_segments(pid_t maker)
{
    FILE *file     = fopen("/proc/sysvipc/shm", "r");
    unsigned count = 0;
    char line[512];
    long pid;

    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        count += (sscanf(line, "%*d %*d %*o %*u %ld", &pid) == 1) &&
                 (pid == maker);
    }
    fclose(file);
    return count;
}

/* Waits. Does not sleep, because the end of a sleep would be less exact than
 * the random times at which victims are killed. */
static void spin(double seconds)
{
    double end = kill_now() + seconds;

    while (kill_now() < end) {
        sched_yield();
    }
}

/* Runs one victim, and kills it after `life` seconds if it is not spared.
 * Returns the number of entries of the folder afterwards, with "." and "..". */
static unsigned run_round(const int *controls, unsigned round, double life,
                          pid_t *pid_p)
{
    int spared = (round % SPARED_EVERY) == 0;
    int pairs[SURVIVORS][2], mine[SURVIVORS], status;
    struct pollfd pfd;
    unsigned i;
    pid_t pid;
    char byte;

    for (i = 0; i < SURVIVORS; ++i) {
        make_pair(pairs[i]);
        mine[i] = pairs[i][1];
    }
    pid = child_fork();
    if (pid == 0) {
        for (i = 0; i < SURVIVORS; ++i) {
            close(pairs[i][0]);
        }
        victim_main(mine, spared);
        exit(0);
    }
    for (i = 0; i < SURVIVORS; ++i) {
        give_fd(controls[i], pairs[i][0]);
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
    if (!spared) {
        spin(life);
        EXPECT_EQ(kill(pid, SIGKILL), 0);
    }
    for (i = 0; i < SURVIVORS; ++i) {
        pfd = (struct pollfd){.fd = controls[i], .events = POLLIN};
        EXPECT_EQ(poll(&pfd, 1, (int)(ROUND_LIMIT * 1e3)), 1);
        EXPECT_EQ(recv(controls[i], &byte, 1, 0), 1);
    }
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(spared ? (WIFEXITED(status) && (WEXITSTATUS(status) == 0)) :
                         WIFSIGNALED(status));
    /* A victim that is killed between creating a segment and marking it for
     * removal leaves that segment, until clear_up() */
    EXPECT_TRUE(count_segments(pid) <= (spared ? 0 : 1));
    *pid_p = pid;
    return count_entries(dir);
}

/* Starts a process that opens and closes an interface. This removes the
 * segments and files of victims that died before a peer attached them. */
static void clear_up(const char *tl)
{
    kill_side_t side;
    int status;
    pid_t pid = child_fork();

    if (pid == 0) {
        kill_side_open(&side, tl);
        kill_side_close(&side);
        exit(0);
    }
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
}

static void run_way(const way_t *chosen)
{
    pid_t pids[SURVIVORS];
    int controls[SURVIVORS], pair[2], status;
    uint64_t random = 0x9e3779b97f4a7c15ull;
    unsigned round, i, names, fds = 0;
    double began = kill_now(), life;
    pid_t victims[MAX_ROUNDS];

    EXPECT_TRUE(chosen->rounds <= MAX_ROUNDS);
    way = chosen;
    setenv("UCX_POSIX_USE_NAMES", way->use_names, 1);
    for (i = 0; i < SURVIVORS; ++i) {
        make_pair(pair);
        pids[i] = child_fork();
        if (pids[i] == 0) {
            close(pair[0]);
            for (unsigned j = 0; j < i; ++j) {
                close(controls[j]);
            }
            survivor_main(pair[1]);
            exit(0);
        }
        close(pair[1]);
        controls[i] = pair[0];
    }
    for (round = 0; round < way->rounds; ++round) {
        /* Victims of odd rounds live at most a quarter of the maximum, so that
         * more of them are killed before they have connected */
        life  = (double)(kill_random(&random) % 1000) * 3e-3 * SPARED_TIME;
        names = run_round(controls, round, (round & 1) ? life / 4 : life,
                          &victims[round]);
        if (fds == 0) {
            fds = count_entries("/proc/self/fd");
        }
        EXPECT_EQ(count_entries("/proc/self/fd"), fds);
        /* Entries "." and "..", a file and a FIFO for each survivor, and those
         * of at most one victim */
        EXPECT_TRUE(names <= 2 + (SURVIVORS + 1) * 2);
    }
    for (i = 0; i < SURVIVORS; ++i) {
        close(controls[i]);
        EXPECT_EQ(waitpid(pids[i], &status, 0), pids[i]);
        EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
        EXPECT_EQ(count_segments(pids[i]), 0);
    }
    clear_up(chosen->tl);
    for (round = 0; round < way->rounds; ++round) {
        EXPECT_EQ(count_segments(victims[round]), 0);
    }
    printf("... in %.1f s\n", kill_now() - began);
}

static void remove_dir(void)
{
    if (rmdir(dir) != 0) {
        perror("something is left in the folder");
        _exit(1);
    }
}

int main(int argc, char **argv)
{
    static const way_t ways[] = {
        {"posix", "n", 200, 1},
        {"posix", "y", 100, 1},
        {"sysv", "n", 120, 1},
        {"cma", "n", 120, 0},
    };
    unsigned i;

    EXPECT_TRUE(mkdtemp(dir) != NULL);
    setenv("UCX_POSIX_DIR", dir, 1);
    setenv("UCX_POSIX_KEEPALIVE", "10ms", 1);
    setenv("UCX_SYSV_KEEPALIVE", "10ms", 1);
    setenv("UCX_CMA_KEEPALIVE", "10ms", 1);
    setenv("UCX_POSIX_MAX_PEERS", "8", 1);
    setenv("UCX_SYSV_MAX_PEERS", "8", 1);
    for (i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
        if ((argc < 2) || (strcmp(argv[1], ways[i].tl) == 0)) {
            run_way(&ways[i]);
        }
    }
    remove_dir();
    return 0;
}
