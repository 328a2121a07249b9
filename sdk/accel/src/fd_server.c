/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket that sends descriptors: see fd_server.h. */
#include "export.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Maximum number of requests that one call of the handler answers. */
enum { MAX_REQUESTS = 16 };

typedef union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
} credentials_t;

typedef union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
} descriptor_t;

/* ------------------------------------------------------------- answering -- */

/* Returns whether the sender of a request runs as the user of this process. The
 * control buffer of the message has no space for descriptors, so the kernel
 * drops any descriptor that the sender attaches. */
static int is_of_own_user(struct msghdr *msg)
{
    const struct cmsghdr *header = CMSG_FIRSTHDR(msg);
    struct ucred peer;

    if ((header == NULL) || (header->cmsg_level != SOL_SOCKET) ||
        (header->cmsg_type != SCM_CREDENTIALS) ||
        (header->cmsg_len != CMSG_LEN(sizeof(peer)))) {
        return 0;
    }
    memcpy(&peer, CMSG_DATA(header), sizeof(peer));
    return peer.uid == getuid();
}

/* Sends an answer, with the descriptor unless `fd` is -1, and does not wait. If
 * the queue of the importer's socket is full, the answer is lost. This does not
 * happen to correct importers, which open a new socket for each request. */
static void answer(int sock, void *address, socklen_t length, int fd)
{
    descriptor_t control = {{0}};
    char byte            = (fd >= 0);
    struct iovec iov     = {&byte, sizeof(byte)};
    struct msghdr msg    = {
           .msg_name    = address,
           .msg_namelen = length,
           .msg_iov     = &iov,
           .msg_iovlen  = 1,
    };
    struct cmsghdr *header;

    if (fd >= 0) {
        msg.msg_control    = &control;
        msg.msg_controllen = sizeof(control);
        header             = CMSG_FIRSTHDR(&msg);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type  = SCM_RIGHTS;
        header->cmsg_len   = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    (void)sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Answers one request. Returns zero if no request is left. */
static int serve_one(accel_md_t *md, int sock)
{
    char request[ACCEL_KEY_SIZE];
    struct sockaddr_un address;
    credentials_t control;
    struct iovec iov  = {request, sizeof(request)};
    struct msghdr msg = {
        .msg_name       = &address,
        .msg_namelen    = sizeof(address),
        .msg_iov        = &iov,
        .msg_iovlen     = 1,
        .msg_control    = &control,
        .msg_controllen = sizeof(control),
    };
    ssize_t length = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int fd         = -1;

    if (length < 0) {
        return errno == EINTR;
    }
    if (!is_of_own_user(&msg) || (msg.msg_namelen <= sizeof(sa_family_t))) {
        return 1;
    }
    if ((length == sizeof(request)) && !(msg.msg_flags & MSG_TRUNC)) {
        fd = accel_export_dup(md, request);
    }
    answer(sock, &address, msg.msg_namelen, fd);
    if (fd >= 0) {
        close(fd);
    }
    return 1;
}

/* Handler of the socket; runs on a service thread. */
static void serve(int sock, int events, void *arg)
{
    accel_md_t *md = accel_container_of(arg, accel_md_t, fd_server);
    unsigned i;

    for (i = 0; (i < MAX_REQUESTS) && serve_one(md, sock); ++i) {
    }
}

/* -------------------------------------------------------------- lifetime -- */

void accel_fd_server_init(accel_fd_server_t *server, const ucx_host_t *host)
{
    server->host = host;
    server->fd   = -1;
    pthread_mutex_init(&server->lock, NULL);
}

void accel_fd_server_cleanup(accel_fd_server_t *server)
{
    if (server->fd >= 0) {
        close(server->fd);
    }
    pthread_mutex_destroy(&server->lock);
}

/* Binds the socket to an address without a name, for which the kernel selects a
 * name. Returns -1 on failure. */
static int bind_to_new_name(int fd, unsigned *number_p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length           = sizeof(address);

    if ((bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0) ||
        (getsockname(fd, (struct sockaddr *)&address, &length) != 0)) {
        return -1;
    }
    address.sun_path[sizeof(address.sun_path) - 1] = '\0';
    *number_p = (unsigned)strtoul(address.sun_path + 1, NULL, 16);
    return 0;
}

/* Opens the socket, except in a set-user-id program, whose memory must not be
 * accessible to other processes of the user. */
static void open_socket(accel_fd_server_t *server)
{
    const ucx_host_t *host = server->host;
    const int one          = 1;
    unsigned number        = 0;
    int fd;

    if (getuid() != geteuid()) {
        return;
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if ((fd < 0) || (bind_to_new_name(fd, &number) != 0) || (number == 0) ||
        (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) != 0)) {
        ucx_diag("%s: no local socket: processes that may not duplicate"
                 " descriptors of this one get its memory through host memory",
                 accel_driver.names.ipc_transport);
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    server->fd     = fd;
    server->number = number;
}

/* Selects a worker to serve the socket. Called with the lock held. */
static void start_serving(accel_fd_server_t *server)
{
    if ((server->fd < 0) || (server->serving != NULL) ||
        (server->workers == NULL)) {
        return;
    }
    if (server->host->async_add_fd(server->workers->worker, server->fd,
                                   UCS_EVENT_SET_EVREAD, serve, server,
                                   &server->handler) == UCS_OK) {
        server->serving = server->workers;
    }
}

void accel_fd_server_add(accel_fd_server_t *server, accel_fd_worker_t *worker)
{
    pthread_mutex_lock(&server->lock);
    worker->next    = server->workers;
    server->workers = worker;
    start_serving(server);
    pthread_mutex_unlock(&server->lock);
}

void accel_fd_server_remove(accel_fd_server_t *server,
                            accel_fd_worker_t *worker)
{
    accel_fd_worker_t **link = &server->workers;

    pthread_mutex_lock(&server->lock);
    while (*link != worker) {
        link = &(*link)->next;
    }
    *link = worker->next;
    if (server->serving == worker) {
        server->host->async_remove(server->handler);
        server->serving = NULL;
        start_serving(server);
    }
    pthread_mutex_unlock(&server->lock);
}

unsigned accel_fd_server_name(accel_fd_server_t *server)
{
    unsigned number;

    pthread_mutex_lock(&server->lock);
    if ((server->fd < 0) && (server->workers != NULL)) {
        open_socket(server);
    }
    start_serving(server);
    number = (server->serving != NULL) ? server->number : 0;
    pthread_mutex_unlock(&server->lock);
    return number;
}
