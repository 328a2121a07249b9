/* SPDX-License-Identifier: BSD-3-Clause */
/* See sock.h. */
#include "sock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

sock_host_t sock_host(const ucx_host_t *host)
{
    sock_host_t name = {.machine = host->machine_guid()};
    struct stat st;

    if (stat("/proc/self/ns/net", &st) == 0) {
        name.network = st.st_ino;
    }
    return name;
}

int sock_is_here(const ucx_host_t *host, const void *bytes, size_t length)
{
    sock_host_t here = sock_host(host);

    return (bytes != NULL) && (length == sizeof(here)) &&
           (memcmp(bytes, &here, sizeof(here)) == 0);
}

static socklen_t fill_address(const sock_name_t *name, struct sockaddr_un *addr)
{
    memset(addr, 0, sizeof(*addr));
    addr->sun_family = AF_UNIX;
    memcpy(addr->sun_path + 1, name->bytes, sizeof(name->bytes));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       sizeof(name->bytes));
}

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int sock_listen(sock_name_t *name)
{
    struct sockaddr_un addr;
    socklen_t length;
    int fd;

    if (getrandom(name->bytes, sizeof(name->bytes), 0) !=
        (ssize_t)sizeof(name->bytes)) {
        return -1;
    }

    length = fill_address(name, &addr);
    fd     = open_socket();
    if (fd < 0) {
        return -1;
    }
    if ((bind(fd, (struct sockaddr *)&addr, length) != 0) ||
        (listen(fd, BACKLOG) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int sock_connect(const sock_name_t *name)
{
    struct sockaddr_un addr;
    socklen_t length = fill_address(name, &addr);
    int fd           = open_socket();

    if ((fd >= 0) && (connect(fd, (struct sockaddr *)&addr, length) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int sock_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

ucs_status_t sock_send(int fd, const struct iovec *iov, size_t count)
{
    struct msghdr msg = {.msg_iov = (struct iovec *)iov, .msg_iovlen = count};

    if (sendmsg(fd, &msg, MSG_NOSIGNAL) >= 0) {
        return UCS_OK;
    }
    return ((errno == EAGAIN) || (errno == ENOBUFS) || (errno == EINTR)) ?
               UCS_ERR_NO_RESOURCE :
               UCS_ERR_CONNECTION_RESET;
}

ssize_t sock_recv(int fd, void *buffer, size_t size)
{
    struct iovec iov  = {buffer, size};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t length    = recvmsg(fd, &msg, 0);

    if (length < 0) {
        return ((errno == EAGAIN) || (errno == EINTR)) ?
                   UCS_ERR_NO_PROGRESS :
                   UCS_ERR_CONNECTION_RESET;
    }
    return ((length > 0) && !(msg.msg_flags & MSG_TRUNC)) ?
               length :
               UCS_ERR_CONNECTION_RESET;
}

int sock_is_writable(int fd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLOUT};

    return (poll(&pfd, 1, 0) > 0) && (pfd.revents & POLLOUT) &&
           !(pfd.revents & (POLLHUP | POLLERR));
}

int sock_has_message(int fd)
{
    char byte;

    return recv(fd, &byte, sizeof(byte), MSG_PEEK) > 0;
}
