/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes segments to processes that do not see this process in /proc. A thread,
 * the service, sends descriptors through a local socket to peers whose request
 * contains a segment's token and which run as the same user or as root.
 *
 * In the usual case (one PID namespace for all) there is neither socket nor
 * thread. They are created with the first segment if this process is in a PID
 * namespace other than the initial one or does not use /proc, when a peer in
 * another namespace was met, or when the user enables them.
 *
 * The socket's name is in the abstract space of the network namespace, so
 * nothing is left behind.
 */
#include "kind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define INITIAL_PID_NS \
    0xeffffffcu /* The kernel's inode number of the initial
                 * namespace */
#define BACKLOG    128
#define STACK_SIZE (128 << 10)

/* Seconds to wait for a place in the listen queue of the segment's creator, and
 * again for its answer. The kernel ends the wait if the creator dies, so it is
 * long only on an oversubscribed host. */
#define ASK_LIMIT 10
/* Seconds after which a silent client is closed if others need its place. */
#define SILENCE_LIMIT 1.0
/* Milliseconds until the next attempt to accept a client after descriptors have
 * run out. */
#define NO_FD_PAUSE 200

typedef struct shm_handover {
    shm_space_t *space;
    pthread_mutex_t lock;
    shm_seg_t *segs; /* Segments created in the space; protected by `lock` */
    int started;     /* 0: no service; 1: it runs; -1: starting it has failed */
    int is_wanted;   /* A peer that needs the service was met */
    int listen_fd;
    int stop_fd; /* An eventfd by which the thread is told to end */
    pthread_t thread;
    shm_fork_item_t fork;
} shm_handover_t;

static socklen_t socket_name(const uint8_t *id, struct sockaddr_un *name)
{
    char *at = name->sun_path + 1;

    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    at += sprintf(at, "ucx-shm-");
    for (size_t i = 0; i < sizeof(((shm_space_t *)NULL)->id); ++i) {
        at += sprintf(at, "%02x", id[i]);
    }
    return (socklen_t)(at - (char *)name);
}

/* Returns whether the peer runs as the same user or as root. Such a process
 * could read our memory in other ways, too. */
static int peer_is_trusted(int fd)
{
    struct ucred cred;
    socklen_t length = sizeof(cred);

    return (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length) == 0) &&
           ((cred.uid == geteuid()) || (cred.uid == 0));
}

/* --- The creator of a segment --------------------------------------------- */

static void send_fds(int sock, const int *fds, int num)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    char byte         = (char)num;
    struct iovec iov  = {&byte, 1};
    struct msghdr msg = {
        .msg_iov        = &iov,
        .msg_iovlen     = 1,
        .msg_control    = &control,
        .msg_controllen = CMSG_SPACE(num * sizeof(int)),
    };
    struct cmsghdr *cmsg;

    memset(&control, 0, sizeof(control));
    cmsg             = CMSG_FIRSTHDR(&msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type  = SCM_RIGHTS;
    cmsg->cmsg_len   = CMSG_LEN(num * sizeof(int));
    memcpy(CMSG_DATA(cmsg), fds, num * sizeof(int));
    (void)sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(shm_handover_t *handover, int sock)
{
    uint8_t token[SHM_TOKEN_LENGTH + 1];
    const shm_seg_t *seg;
    int fds[2];

    if (recv(sock, token, sizeof(token), MSG_DONTWAIT) != SHM_TOKEN_LENGTH) {
        return;
    }

    /* Hold the lock, so that the segment cannot be closed while it is sent */
    pthread_mutex_lock(&handover->lock);
    for (seg = handover->segs; seg != NULL; seg = seg->next) {
        if (memcmp(seg->token, token, SHM_TOKEN_LENGTH) == 0) {
            fds[0] = seg->fd;
            fds[1] = seg->event_rd;
            send_fds(sock, fds, (seg->event_rd < 0) ? 1 : 2);
            break;
        }
    }
    pthread_mutex_unlock(&handover->lock);
}

/* Indices of the descriptors that the thread polls: stop_fd, listen_fd, and
 * from AT_ASKERS on at most MAX_ASKERS clients. Clients are connections that
 * have not sent a request yet, oldest first. If there are MAX_ASKERS, the
 * oldest is closed after SILENCE_LIMIT, so that silent clients do not block
 * others. */
enum { AT_STOP, AT_LISTEN, AT_ASKERS, MAX_ASKERS = 8 };

typedef struct shm_desk {
    struct pollfd pfds[AT_ASKERS + MAX_ASKERS];
    double since[MAX_ASKERS]; /* Host time at which the client was accepted */
    unsigned num;             /* Number of clients */
} shm_desk_t;

static void let_in(shm_handover_t *handover, shm_desk_t *desk)
{
    int sock = accept4(handover->listen_fd, NULL, NULL, SOCK_CLOEXEC);

    if (sock < 0) {
        if ((errno == EMFILE) || (errno == ENFILE)) {
            /* The listening socket stays readable: poll it again later, when a
             * descriptor may be free */
            poll(desk->pfds, 1, NO_FD_PAUSE);
        }
    } else if (!peer_is_trusted(sock)) {
        close(sock);
    } else {
        desk->pfds[AT_ASKERS + desk->num] = (struct pollfd){sock, POLLIN, 0};
        desk->since[desk->num++]          = handover->space->host->time();
    }
}

static void let_go(shm_desk_t *desk, unsigned index)
{
    struct pollfd *pfd = &desk->pfds[AT_ASKERS + index];
    double *since      = &desk->since[index];
    unsigned num_after = --desk->num - index;

    /* shutdown() ends the connection even if a forked child has a copy of the
     * descriptor */
    shutdown(pfd->fd, SHUT_RDWR);
    close(pfd->fd);
    memmove(pfd, pfd + 1, num_after * sizeof(*pfd));
    memmove(since, since + 1, num_after * sizeof(*since));
}

/* Waits for any event, and returns poll()'s result. If there are MAX_ASKERS
 * clients, waits at most until the oldest one exceeds SILENCE_LIMIT, and then
 * closes it. */
static int wait_at(shm_handover_t *handover, shm_desk_t *desk)
{
    int timeout = -1, count;
    double left;

    desk->pfds[AT_LISTEN].fd = handover->listen_fd;
    if (desk->num == MAX_ASKERS) {
        desk->pfds[AT_LISTEN].fd = -1; /* New clients wait in the kernel's
                                        * queue */
        left = desk->since[0] + SILENCE_LIMIT - handover->space->host->time();
        timeout = (left > 0) ? (int)(left * 1e3) + 1 : 0;
    }
    count = poll(desk->pfds, AT_ASKERS + desk->num, timeout);
    if (count == 0) {
        let_go(desk, 0);
    }
    return count;
}

static void *serve(void *arg)
{
    shm_handover_t *handover = arg;
    shm_desk_t desk          = {
                 .pfds =
                     {
                         [AT_STOP]   = {.fd = handover->stop_fd, .events = POLLIN},
                         [AT_LISTEN] = {.events = POLLIN},
            },
    };
    int count;

    while (((count = wait_at(handover, &desk)) >= 0) || (errno == EINTR)) {
        if (count <= 0) {
            continue;
        }
        if (desk.pfds[AT_STOP].revents != 0) {
            break;
        }
        for (unsigned i = desk.num; i-- > 0;) {
            if (desk.pfds[AT_ASKERS + i].revents != 0) {
                answer(handover, desk.pfds[AT_ASKERS + i].fd);
                let_go(&desk, i);
            }
        }
        if (desk.pfds[AT_LISTEN].revents != 0) {
            let_in(handover, &desk);
        }
    }
    while (desk.num > 0) {
        let_go(&desk, 0);
    }
    return NULL;
}

/* Starts the thread of the service, which blocks all signals, so that the
 * program's handlers do not run on it. Returns 0, or an errno. */
static int start_thread(shm_handover_t *handover)
{
    sigset_t all, old;
    pthread_attr_t attr;
    int error;

    error = pthread_attr_init(&attr);
    if (error != 0) {
        return error;
    }
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    error = pthread_create(&handover->thread, &attr, serve, handover);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return error;
}

static void close_fds(shm_handover_t *handover)
{
    if (handover->listen_fd >= 0) {
        close(handover->listen_fd);
    }
    if (handover->stop_fd >= 0) {
        close(handover->stop_fd);
    }
    handover->listen_fd = handover->stop_fd = -1;
}

/* Runs in a forked child. The child has no thread, and must not keep the
 * parent's socket name in use. */
static void forked(shm_fork_item_t *item)
{
    shm_handover_t *handover = shm_container_of(item, shm_handover_t, fork);

    close_fds(handover);
    pthread_mutex_init(&handover->lock, NULL); /* The lock may be held by a
                                                * thread that does not exist in
                                                * the child */
    handover->segs         = NULL;
    handover->started      = -1;
    handover->space->pid   = (uint32_t)getpid();
    handover->space->owner = 0;
}

/* Starts the service. Called with the lock held. */
static void start(shm_handover_t *handover)
{
    const ucx_host_t *host = handover->space->host;
    struct sockaddr_un name;
    socklen_t length;
    int error;

    if (handover->started != 0) {
        return;
    }

    length              = socket_name(handover->space->id, &name);
    handover->listen_fd = socket(AF_UNIX,
                                 SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                 0);
    handover->stop_fd   = eventfd(0, EFD_CLOEXEC);
    if ((handover->listen_fd < 0) || (handover->stop_fd < 0) ||
        (bind(handover->listen_fd, (struct sockaddr *)&name, length) != 0) ||
        (listen(handover->listen_fd, BACKLOG) != 0)) {
        error = errno;
        goto err;
    }
    error = start_thread(handover);
    if (error != 0) {
        goto err;
    }
    handover->started = 1;
    return;

err:
    ucx_debug("cannot hand shared memory to other PID namespaces: %s",
              strerror(error));
    close_fds(handover);
    handover->started = -1;
}

/* Returns whether peers may be unable to open our descriptors in /proc, or the
 * user has enabled the service. */
static int is_needed(const shm_space_t *space)
{
    if ((space->kind != &shm_kind_posix) || (space->use_socket == UCS_NO)) {
        return 0;
    }
    return (space->use_socket == UCS_YES) || !space->use_proc ||
           !space->has_proc || (space->pid_ns != INITIAL_PID_NS);
}

void shm_handover_start(shm_space_t *space)
{
    shm_handover_t *handover = space->handover;

    if ((space->kind == &shm_kind_posix) && (space->use_socket != UCS_NO)) {
        pthread_mutex_lock(&handover->lock);
        handover->is_wanted = 1;
        if (handover->segs != NULL) {
            start(handover);
        }
        pthread_mutex_unlock(&handover->lock);
    }
}

void shm_handover_add(shm_seg_t *seg)
{
    shm_handover_t *handover = seg->space->handover;

    pthread_mutex_lock(&handover->lock);
    seg->next      = handover->segs;
    handover->segs = seg;
    if (handover->is_wanted || is_needed(seg->space)) {
        start(handover);
    }
    pthread_mutex_unlock(&handover->lock);
}

void shm_handover_remove(shm_seg_t *seg)
{
    shm_handover_t *handover = seg->space->handover;
    shm_seg_t **link;

    pthread_mutex_lock(&handover->lock);
    for (link = &handover->segs; *link != NULL; link = &(*link)->next) {
        if (*link == seg) {
            *link = seg->next;
            break;
        }
    }
    pthread_mutex_unlock(&handover->lock);
}

ucs_status_t shm_handover_open(shm_space_t *space)
{
    shm_handover_t *handover = calloc(1, sizeof(*handover));

    if (handover == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    handover->space     = space;
    handover->listen_fd = -1;
    handover->stop_fd   = -1;
    pthread_mutex_init(&handover->lock, NULL);
    shm_fork_add(&handover->fork, forked);
    space->handover = handover;
    return UCS_OK;
}

void shm_handover_close(shm_space_t *space)
{
    shm_handover_t *handover = space->handover;
    uint64_t one             = 1;

    if (handover->started == 1) {
        while ((write(handover->stop_fd, &one, sizeof(one)) < 0) &&
               (errno == EINTR)) {
        }
        pthread_join(handover->thread, NULL);
    }
    shm_fork_remove(&handover->fork);
    close_fds(handover);
    pthread_mutex_destroy(&handover->lock);
    free(handover);
    space->handover = NULL;
}

/* --- The process that attaches a segment ---------------------------------- */

/* Receives descriptors. Stores the first two in `fds`, and closes all others.
 * Returns the number that was stored. */
static int receive_fds(int sock, int *fds)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(8 * sizeof(int))];
    } control;
    char byte;
    struct iovec iov  = {&byte, 1};
    struct msghdr msg = {
        .msg_iov        = &iov,
        .msg_iovlen     = 1,
        .msg_control    = &control,
        .msg_controllen = sizeof(control),
    };
    struct cmsghdr *cmsg;
    size_t count;
    int num = 0, fd;

    if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) <= 0) {
        return 0;
    }
    for (cmsg = CMSG_FIRSTHDR(&msg); cmsg != NULL;
         cmsg = CMSG_NXTHDR(&msg, cmsg)) {
        if ((cmsg->cmsg_level != SOL_SOCKET) ||
            (cmsg->cmsg_type != SCM_RIGHTS)) {
            continue;
        }
        count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(fd), sizeof(fd));
            if (num < 2) {
                fds[num++] = fd;
            } else {
                close(fd);
            }
        }
    }
    return num;
}

/* Closes `fd`, and returns a separate open file description of its file; -1 if
 * the file is not of this type or cannot be opened. */
static int own_description(int fd, mode_t type, int flags)
{
    struct stat st;
    int own = -1;

    if ((fstat(fd, &st) == 0) && ((st.st_mode & S_IFMT) == type)) {
        own = shm_reopen(fd, flags);
    }
    close(fd);
    return own;
}

/* Returns whether a system call was interrupted by a signal before ASK_LIMIT
 * has passed, so that it must be repeated. On a socket with a timeout a signal
 * interrupts calls even with SA_RESTART. */
static int is_interrupted(const shm_space_t *space, double began)
{
    return (errno == EINTR) && (space->host->time() - began < ASK_LIMIT);
}

int shm_handover_ask(shm_space_t *space, const uint8_t *token, int *fd_p,
                     int *event_p)
{
    const struct timeval limit = {.tv_sec = ASK_LIMIT};
    double began               = space->host->time();
    struct sockaddr_un name;
    socklen_t length = socket_name(token, &name);
    int fds[2], num, sock, failed, error = EPERM;

    *fd_p = *event_p = -1;
    if (space->use_socket == UCS_NO) {
        return EPERM;
    }
    sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (sock < 0) {
        return errno;
    }
    (void)setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    do {
        failed = connect(sock, (struct sockaddr *)&name, length);
    } while (failed && is_interrupted(space, began));
    if (failed) {
        error = errno;
        goto out;
    }
    if (!peer_is_trusted(sock)) {
        goto out;
    }
    if (send(sock, token, SHM_TOKEN_LENGTH, MSG_NOSIGNAL) != SHM_TOKEN_LENGTH) {
        error = errno;
        goto out;
    }

    began = space->host->time();
    do {
        errno = ENOENT;
        num   = receive_fds(sock, fds);
    } while ((num == 0) && is_interrupted(space, began));
    error = (num == 0) ? errno : 0;
    if (num > 0) {
        *fd_p = own_description(fds[0], S_IFREG, O_RDWR);
        error = (*fd_p < 0) ? EACCES : 0;
    }
    if (num > 1) {
        *event_p = own_description(fds[1], S_IFIFO, O_RDWR | O_NONBLOCK);
    }

out:
    close(sock);
    return error;
}
