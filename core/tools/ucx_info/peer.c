/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronization with the peer process over a socket. First both processes
 * exchange the features and the worker's address. When a process has created
 * and flushed its endpoint, it sends a byte, and when it has queried the
 * endpoint, another byte.
 *
 *   A                             B
 *   hello, address  <--------->  hello, address
 *   endpoint, flush <-- UCP -->  endpoint, flush
 *   'r'             <--------->  'r'              ready: query
 *   'd'             <--------->  'd'              done: close
 *
 * Data from the socket is checked: any process may connect to it.
 */
#include "peer.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oob.h"
#include "session.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

/* Timeout of each wait, for data from the peer or for a request. */
#define PATIENCE_SECONDS 30.0

enum { ADDRESS_MAX = 1 << 20 };

typedef struct {
    char magic[8];
    uint64_t features; /* little-endian */
    uint64_t length;   /* little-endian; length of the address that follows */
} hello_t;

_Static_assert(sizeof(hello_t) == 24, "it travels");

static const char hello_magic[8] = {'u', 'c', 'x', 'i', 'n', 'f', 'o', '1'};

/* -------------------------------------------------- the child process -- */

/* Runs in the child: executes another ucx_info with the socket. */
static UCS_F_NORETURN void become_peer(const info_t *info, char *fd_text,
                                       int fd)
{
    static char *const places[] = {
        [INFO_PLACE_SELF]  = "self",
        [INFO_PLACE_INTRA] = "intra",
        [INFO_PLACE_INTER] = "inter",
    };
    char *const argv[] = {"ucx_info", "-e",
                          "-u",       (char *)(uintptr_t)info->features,
                          "-P",       places[info->place],
                          "--peer",   fd_text,
                          NULL};

    fcntl(fd, F_SETFD, 0);
    execv("/proc/self/exe", argv);
    _exit(INFO_BAD);
}

static int open_child(const info_t *info, info_peer_t *peer)
{
    char fd_text[16];
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        info_complain("cannot create a pair of sockets: %s", strerror(errno));
        return INFO_BAD;
    }
    snprintf(fd_text, sizeof(fd_text), "%d", fds[1]);
    fflush(stdout);
    peer->pid = fork();
    if (peer->pid == 0) {
        become_peer(info, fd_text, fds[1]);
    }
    close(fds[1]);
    if (peer->pid < 0) {
        info_complain("cannot start the second process: %s", strerror(errno));
        peer->pid = 0;
        close(fds[0]);
        return INFO_BAD;
    }
    peer->fd = fds[0];
    return INFO_OK;
}

int info_peer_open(const info_t *info, ucp_worker_h worker, info_peer_t *peer)
{
    peer->fd     = -1;
    peer->pid    = 0;
    peer->worker = worker;
    if (info->peer_fd >= 0) {
        peer->fd = info->peer_fd;
    } else if (info->listen != NULL) {
        peer->fd = info_oob_listen(info->listen);
    } else if (info->connect != NULL) {
        peer->fd = info_oob_connect(info->connect);
    } else {
        return open_child(info, peer);
    }
    return (peer->fd < 0) ? INFO_BAD : INFO_OK;
}

void info_peer_close(info_peer_t *peer)
{
    int status;

    if (peer->fd >= 0) {
        close(peer->fd); /* the child detects the end of the connection */
    }
    if (peer->pid > 0) {
        while ((waitpid(peer->pid, &status, 0) < 0) && (errno == EINTR)) {
        }
    }
}

/* ------------------------------------------------------------- waiting -- */

static double now(void)
{
    return ucs_time_to_sec(ucs_get_time());
}

ucs_status_t info_wait(ucp_worker_h worker, ucs_status_ptr_t request)
{
    double end = now() + PATIENCE_SECONDS;
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        if (now() > end) {
            status = UCS_ERR_TIMED_OUT;
            break;
        }
        ucp_worker_progress(worker);
    }
    ucp_request_free(request);
    return status;
}

/* Waits for data while progressing the worker, because the peer may need this
 * progress. UCS_ERR_TIMED_OUT if nothing arrived. */
static ucs_status_t wait_readable(info_peer_t *peer)
{
    struct pollfd event = {.fd = peer->fd, .events = POLLIN};
    double end          = now() + PATIENCE_SECONDS;

    while (poll(&event, 1, 0) == 0) {
        if (now() > end) {
            return UCS_ERR_TIMED_OUT;
        }
        ucp_worker_progress(peer->worker);
    }
    return UCS_OK;
}

/* Receives `length` bytes, with a timeout. */
static ucs_status_t receive(info_peer_t *peer, void *buffer, size_t length)
{
    char *at = buffer;
    ucs_status_t status;
    ssize_t got;

    while (length > 0) {
        status = wait_readable(peer);
        if (status != UCS_OK) {
            return status;
        }
        got = recv(peer->fd, at, length, 0);
        if (got > 0) {
            at += got;
            length -= (size_t)got;
        } else if ((got == 0) || (errno != EINTR)) {
            return UCS_ERR_CONNECTION_RESET;
        }
    }
    return UCS_OK;
}

static ucs_status_t transmit(info_peer_t *peer, const void *buffer,
                             size_t length)
{
    const char *at = buffer;
    ssize_t sent;

    while (length > 0) {
        sent = send(peer->fd, at, length, MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            length -= (size_t)sent;
        } else if ((sent == 0) || (errno != EINTR)) {
            return UCS_ERR_CONNECTION_RESET;
        }
    }
    return UCS_OK;
}

/* Sends a byte and waits for the same byte. */
static ucs_status_t agree(info_peer_t *peer, char word)
{
    ucs_status_t status = transmit(peer, &word, 1);
    char answer;

    if (status == UCS_OK) {
        status = receive(peer, &answer, 1);
    }
    if ((status == UCS_OK) && (answer != word)) {
        status = UCS_ERR_INVALID_PARAM;
    }
    return status;
}

/* ------------------------------------------------------------ handshake -- */

static ucs_status_t send_hello(info_peer_t *peer, uint64_t features)
{
    hello_t hello = {.features = htole64(features)};
    ucp_address_t *address;
    ucs_status_t status;
    size_t length;

    status = ucp_worker_get_address(peer->worker, &address, &length);
    if (status != UCS_OK) {
        return status;
    }
    memcpy(hello.magic, hello_magic, sizeof(hello.magic));
    hello.length = htole64(length);
    status       = transmit(peer, &hello, sizeof(hello));
    if (status == UCS_OK) {
        status = transmit(peer, address, length);
    }
    ucp_worker_release_address(peer->worker, address);
    return status;
}

/* Returns the peer's address. Release it by free(). */
static ucs_status_t receive_hello(info_peer_t *peer, uint64_t features,
                                  void **address_p)
{
    ucs_status_t status;
    hello_t hello;
    size_t length;

    status = receive(peer, &hello, sizeof(hello));
    if (status != UCS_OK) {
        return status;
    }
    length = le64toh(hello.length);
    if ((memcmp(hello.magic, hello_magic, sizeof(hello.magic)) != 0) ||
        (length == 0) || (length > ADDRESS_MAX)) {
        info_complain("the peer is not a ucx_info of this version");
        return UCS_ERR_INVALID_PARAM;
    } else if (le64toh(hello.features) != features) {
        info_complain("the peer uses other features: use the same letters "
                      "after -u on both");
        return UCS_ERR_INVALID_PARAM;
    }

    *address_p = malloc(length);
    if (*address_p == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = receive(peer, *address_p, length);
    if (status != UCS_OK) {
        free(*address_p);
    }
    return status;
}

/* Creates the endpoint and flushes it, which establishes all connections. */
static ucs_status_t connect_to(const info_t *info, info_peer_t *peer,
                               const void *address, ucp_ep_h *ep_p)
{
    const ucp_request_param_t plain = {0};
    ucp_ep_params_t params          = {
                 .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                               UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                 .address  = address,
                 .err_mode = info_error_mode(info) ? UCP_ERR_HANDLING_MODE_PEER :
                                                     UCP_ERR_HANDLING_MODE_NONE,
    };
    ucs_status_t status;

    status = ucp_ep_create(peer->worker, &params, ep_p);
    if (status != UCS_OK) {
        info_complain("no transport reaches the other process: %s. `ucx_info "
                      "-d` shows the transports; UCX_TLS may exclude too many",
                      ucs_status_string(status));
        return status;
    }
    status = info_wait(peer->worker, ucp_ep_flush_nbx(*ep_p, &plain));
    if (status != UCS_OK) {
        info_complain("the connection to the other process failed: %s",
                      ucs_status_string(status));
    }
    return status;
}

int info_peer_meet(const info_t *info, info_peer_t *peer, ucp_ep_h *ep_p)
{
    uint64_t features = 0;
    void *address     = NULL;
    ucs_status_t status;
    char bad;

    *ep_p = NULL;
    info_features_parse(info->features, &features, NULL, &bad);
    status = send_hello(peer, features);
    if (status == UCS_OK) {
        status = receive_hello(peer, features, &address);
    }
    if ((status == UCS_ERR_CONNECTION_RESET) || (status == UCS_ERR_TIMED_OUT)) {
        info_complain("the peer %s before it sent its address",
                      (status == UCS_ERR_TIMED_OUT) ? "did not answer" :
                                                      "ended");
    }
    if (status != UCS_OK) {
        return INFO_BAD;
    }

    status = connect_to(info, peer, address, ep_p);
    free(address);
    if (status != UCS_OK) {
        return INFO_BAD;
    }
    status = agree(peer, 'r');
    if (status != UCS_OK) {
        info_complain("the peer failed: %s", ucs_status_string(status));
        return INFO_BAD;
    }
    return INFO_OK;
}

void info_peer_part(info_peer_t *peer)
{
    agree(peer, 'd');
}
