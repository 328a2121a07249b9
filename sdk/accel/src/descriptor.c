/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplicates file descriptors of other processes: see descriptor.h. */
#include "descriptor.h"
#include "fd_server.h"
#include "process.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers of the system calls, for C libraries that do not define them. They
 * are the same on all processor architectures. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

enum {
    /** Maximum milliseconds to wait for space in the queue of the socket of the
     * key's owner, and again for the owner's answer. Both waits end early when
     * the owner exits. They may be long on an oversubscribed host. */
    ANSWER_LIMIT = 10000,
    /** Number of entries of `known` */
    MAX_SOCKETS  = 32,
};

/* A socket that was tried. */
typedef struct {
    accel_process_t owner; /* The process that the key states */
    unsigned number; /* Number in the socket's name (accel_key_t.socket) */
    int is_good; /* A descriptor has arrived; 0: the owner does not answer */
} known_socket_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known_socket_t known[MAX_SOCKETS];
static unsigned num_known; /* Number of sockets ever added; a new entry of
                            * `known` replaces the oldest */

/* ---------------------------------------------------------- pidfd_getfd -- */

/* Duplicates a descriptor of another process by pidfd_getfd(2). Returns -1 and
 * sets errno on failure. EPERM: the kernel does not permit it (see
 * PTRACE_MODE_ATTACH_REALCREDS in ptrace(2)). */
static int duplicate(pid_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int copy, error;

    if (process < 0) {
        return -1;
    }
    copy  = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    error = errno;
    close(process);
    errno = error;
    return copy;
}

/* Returns whether the kernel permits to duplicate descriptors of a process. The
 * kernel checks the permission before the descriptor, so an attempt with an
 * invalid descriptor shows this. */
static int is_permitted(pid_t pid)
{
    int copy = duplicate(pid, -1);

    if (copy >= 0) {
        close(copy);
        return 1;
    }
    return errno == EBADF;
}

/* ------------------------------------------------------------ the socket -- */

/* Waits for `events` on the socket, or for the exit of the process with this
 * pidfd. Returns whether the events have occurred. */
static int wait_for(int sock, short events, int process)
{
    struct pollfd fds[] = {
        {.fd = sock, .events = events},
        {.fd = process, .events = POLLIN},
    };
    int count;

    do {
        count = poll(fds, 2, ANSWER_LIMIT);
    } while ((count < 0) && (errno == EINTR));
    return (count > 0) && (fds[0].revents & events);
}

static int send_request(int sock, const accel_key_t *key, int process)
{
    char request[ACCEL_KEY_SIZE];

    accel_key_pack(key, request);
    while (send(sock, request, sizeof(request), MSG_NOSIGNAL) !=
           sizeof(request)) {
        if ((errno != EINTR) &&
            ((errno != EAGAIN) || !wait_for(sock, POLLOUT, process))) {
            return 0;
        }
    }
    return 1;
}

/* Returns the descriptor in the answer, or -1. Sets *has_answered_p to 1 if the
 * owner has sent the answer, to 0 if another process has. In the latter case,
 * closes the descriptor. */
static int receive_answer(int sock, const accel_process_t *owner,
                          int *has_answered_p)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    } control;
    char byte         = 0;
    struct iovec iov  = {&byte, sizeof(byte)};
    struct msghdr msg = {
        .msg_iov        = &iov,
        .msg_iovlen     = 1,
        .msg_control    = &control,
        .msg_controllen = sizeof(control),
    };
    struct ucred peer = {.pid = 0};
    int fd            = -1;
    struct cmsghdr *header;

    if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) < 0) {
        return -1;
    }
    for (header = CMSG_FIRSTHDR(&msg); header != NULL;
         header = CMSG_NXTHDR(&msg, header)) {
        if (header->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (header->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&peer, CMSG_DATA(header), sizeof(peer));
        } else if ((header->cmsg_type == SCM_RIGHTS) &&
                   (header->cmsg_len == CMSG_LEN(sizeof(fd)))) {
            memcpy(&fd, CMSG_DATA(header), sizeof(fd));
        }
    }
    *has_answered_p = (peer.pid == owner->pid) && (peer.uid == getuid());
    if ((fd >= 0) && !*has_answered_p) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Requests the key's descriptor on the socket of the key's owner. Returns the
 * duplicate, or -1. */
static int request(const accel_key_t *key, int *has_answered_p)
{
    const struct sockaddr_un unnamed = {.sun_family = AF_UNIX};
    const int one                    = 1;
    struct sockaddr_un address;
    socklen_t length = accel_fd_address(key->socket, &address);
    int fd           = -1;
    int sock, process;

    sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0) {
        return -1;
    }
    process = (int)syscall(SYS_pidfd_open, key->owner.pid, 0);
    if ((bind(sock, (const struct sockaddr *)&unnamed, sizeof(sa_family_t)) ==
         0) &&
        (setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) == 0) &&
        (connect(sock, (struct sockaddr *)&address, length) == 0) &&
        send_request(sock, key, process) && wait_for(sock, POLLIN, process)) {
        fd = receive_answer(sock, &key->owner, has_answered_p);
    }
    if (process >= 0) {
        close(process);
    }
    close(sock);
    return fd;
}

/* -------------------------------------------------------- both methods -- */

int accel_descriptor_get(const accel_key_t *key)
{
    int fd = duplicate(key->owner.pid, key->fd);
    int has_answered;

    return ((fd >= 0) || (key->socket == 0)) ? fd : request(key, &has_answered);
}

/* Returns the entry of the key's socket in `known`, or NULL. Called with the
 * lock held. */
static const known_socket_t *find_known(const accel_key_t *key)
{
    unsigned i;

    for (i = 0; (i < num_known) && (i < MAX_SOCKETS); ++i) {
        if ((known[i].number == key->socket) &&
            accel_process_is_same(&known[i].owner, &key->owner)) {
            return &known[i];
        }
    }
    return NULL;
}

/* Returns whether descriptors arrive from the socket of the key's owner:
 * requests the key's descriptor, unless an earlier call for this socket has
 * found this out. A request for each key would delay each large message, which
 * contains a key. If the owner answers without a descriptor, the next call
 * requests one again: the key may be wrong, or the owner may have run out of
 * descriptors. */
static int socket_is_good(const accel_key_t *key)
{
    const known_socket_t *found;
    int is_good = 0, has_answered = 0;
    int fd;

    pthread_mutex_lock(&lock);
    found = find_known(key);
    if (found != NULL) {
        is_good = found->is_good;
    }
    pthread_mutex_unlock(&lock);
    if (found != NULL) {
        return is_good;
    }

    fd      = request(key, &has_answered);
    is_good = (fd >= 0);
    if (is_good) {
        close(fd);
    }
    if (is_good || !has_answered) {
        pthread_mutex_lock(&lock);
        known[num_known++ % MAX_SOCKETS] = (known_socket_t){key->owner,
                                                            key->socket,
                                                            is_good};
        pthread_mutex_unlock(&lock);
    }
    return is_good;
}

int accel_descriptor_is_available(const accel_key_t *key)
{
    return is_permitted(key->owner.pid) ||
           ((key->socket != 0) && socket_is_good(key));
}
