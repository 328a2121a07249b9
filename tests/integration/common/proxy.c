/* SPDX-License-Identifier: BSD-3-Clause */
/* See proxy.h. One thread, one poll(); bytes are forwarded as they arrive. */
#include "proxy.h"

#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RELAYS = 64 };

/* Shared by all members. connect() stores the destination of each redirected
 * connection by its source port, so that the proxy finds it there. */
struct shared {
    /* Network order, like all ports in this file */
    _Atomic uint16_t proxy_port;
    atomic_flag lock;
    struct sockaddr_in destinations[UINT16_MAX + 1]; /* Index: source port */
    struct proxy_plan plan;
};

static struct shared *shared;
static bool redirect; /* Set in processes whose connections go to the proxy */
static int listener = -1;

typedef int (*connect_t)(int, const struct sockaddr *, socklen_t);

static void lock_shared(void)
{
    while (atomic_flag_test_and_set(&shared->lock)) {
    }
}

__attribute__((visibility("default"))) int
connect(int fd, const struct sockaddr *address, socklen_t length)
{
    connect_t real = (connect_t)dlsym(RTLD_NEXT, "connect");
    struct sockaddr_in proxy, own;
    socklen_t own_length = sizeof(own);
    int result, error;

    if (!redirect || (address->sa_family != AF_INET)) {
        return real(fd, address, length);
    }
    proxy = (struct sockaddr_in){.sin_family = AF_INET,
                                 .sin_port   = shared->proxy_port,
                                 .sin_addr   = {
                                       .s_addr = htonl(INADDR_LOOPBACK),
                                 }};
    /* The lock keeps the proxy from reading the destination before it is
     * written. */
    lock_shared();
    result = real(fd, (struct sockaddr *)&proxy, sizeof(proxy));
    error  = errno;
    if (getsockname(fd, (struct sockaddr *)&own, &own_length) == 0) {
        memcpy(&shared->destinations[own.sin_port], address,
               sizeof(struct sockaddr_in));
    }
    atomic_flag_clear(&shared->lock);
    errno = error;
    return result;
}

void proxy_redirect(void)
{
    redirect = true;
    close(listener);
}

struct relay {
    int ends[2]; /* -1: unused */
};

static struct relay relays[RELAYS];
static char bytes[64 * 1024];

static void close_relay(struct relay *relay, bool reset)
{
    struct linger linger = {.l_onoff = reset, .l_linger = 0};
    int i;

    for (i = 0; i < 2; ++i) {
        if (relay->ends[i] >= 0) {
            setsockopt(relay->ends[i], SOL_SOCKET, SO_LINGER, &linger,
                       sizeof(linger));
            close(relay->ends[i]);
            relay->ends[i] = -1;
        }
    }
}

static void accept_relay(void)
{
    struct sockaddr_in from, to;
    socklen_t length = sizeof(from);
    int i, fd = accept(listener, (struct sockaddr *)&from, &length);

    EXPECT(fd >= 0);
    lock_shared();
    to = shared->destinations[from.sin_port];
    atomic_flag_clear(&shared->lock);
    for (i = 0; (i < RELAYS) && (relays[i].ends[0] >= 0); ++i) {
    }
    EXPECT_INT(i, <, RELAYS);
    relays[i].ends[0] = fd;
    relays[i].ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(relays[i].ends[1], (struct sockaddr *)&to, sizeof(to)) != 0) {
        close_relay(&relays[i], true);
    }
}

static bool write_all(int fd, const char *next, size_t length)
{
    ssize_t done;

    for (; length > 0; next += done, length -= done) {
        done = send(fd, next, length, MSG_NOSIGNAL);
        if (done <= 0) {
            return false;
        }
    }
    return true;
}

/* Forwards the bytes that are available. If they exceed plan.cut_after (and it
 * is not -1), forwards only that many and returns false, or with plan.garble
 * changes the next byte and forwards all. Returns false if the relay must be
 * closed. */
static bool move_bytes(int from, int to)
{
    int64_t left = shared->plan.cut_after;
    ssize_t got;

    got = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got <= 0) {
        return (got < 0) && (errno == EAGAIN);
    }
    if ((left >= 0) && (got > left)) {
        shared->plan.cut_after = -1;
        ++shared->plan.cuts;
        if (!shared->plan.garble) {
            write_all(to, bytes, left);
            return false;
        }
        bytes[left] ^= (char)(1 << (left % 8));
        return write_all(to, bytes, got);
    }
    if (left >= 0) {
        shared->plan.cut_after = left - got;
    }
    return write_all(to, bytes, got);
}

static void serve_relay(struct relay *relay, const struct pollfd *fds)
{
    int i;

    for (i = 0; i < 2; ++i) {
        if ((relay->ends[i] >= 0) && (fds[i].revents != 0) &&
            !move_bytes(relay->ends[i], relay->ends[1 - i])) {
            close_relay(relay, shared->plan.reset);
        }
    }
}

static void fill_poll(struct pollfd *fds)
{
    int i, end;

    for (i = 0; i < RELAYS; ++i) {
        for (end = 0; end < 2; ++end) {
            *fds++ = (struct pollfd){.fd     = relays[i].ends[end],
                                     .events = POLLIN};
        }
    }
}

void proxy_serve(struct team *team, int until)
{
    struct pollfd fds[2 + (2 * RELAYS)];
    int i;

    memset(relays, -1, sizeof(relays));
    for (;;) {
        fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = team->channels[until], .events = POLLIN};
        fill_poll(fds + 2);
        EXPECT(poll(fds, 2 + (2 * RELAYS), -1) > 0);
        if (fds[1].revents != 0) {
            break;
        }
        for (i = 0; i < RELAYS; ++i) {
            serve_relay(&relays[i], &fds[2 + (2 * i)]);
        }
        if (fds[0].revents != 0) {
            accept_relay();
        }
    }
    for (i = 0; i < RELAYS; ++i) {
        close_relay(&relays[i], false);
    }
}

struct proxy_plan *proxy_prepare(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr   = {.s_addr = htonl(INADDR_LOOPBACK)},
    };
    socklen_t length = sizeof(address);

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(shared != MAP_FAILED);
    atomic_flag_clear(&shared->lock);
    shared->plan.cut_after = -1;
    listener               = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(listener, (struct sockaddr *)&address, length) == 0);
    EXPECT(listen(listener, 16) == 0);
    EXPECT(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    shared->proxy_port = address.sin_port;
    return &shared->plan;
}
