/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets of --listen and --connect: names, ports, one connection.
 */
#include "oob.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"

/* The same default port as in other UCX tools. */
#define USUAL_PORT "13337"

enum { CONNECT_TIMEOUT_MS = 10000 };

typedef struct {
    char host[256]; /* "": any address */
    char port[16];
} place_t;

/* Splits "HOST", "HOST:PORT", "[v6]:PORT", or "PORT" if that is allowed
 * alone. */
static int split(const char *text, int port_alone, place_t *place)
{
    const char *host = text, *end, *port = USUAL_PORT;
    size_t length;

    if (host[0] == '[') {
        ++host;
        end = strchr(host, ']');
        if ((end == NULL) || ((end[1] != '\0') && (end[1] != ':'))) {
            return 0;
        }
        port = (end[1] == ':') ? end + 2 : port;
    } else {
        end = strchr(host, ':');
        if ((end != NULL) && (strchr(end + 1, ':') != NULL)) {
            end = host + strlen(host); /* an IPv6 address without a port */
        } else if (end != NULL) {
            port = end + 1;
        } else if (port_alone && (text[strspn(text, "0123456789")] == '\0')) {
            end  = host;
            port = (text[0] == '\0') ? port : text;
        } else {
            end = host + strlen(host);
        }
    }

    length = (size_t)(end - host);
    if ((length >= sizeof(place->host)) || (port[0] == '\0') ||
        (strlen(port) >= sizeof(place->port)) ||
        (port[strspn(port, "0123456789")] != '\0') || (atoi(port) > 65535)) {
        return 0;
    }
    memcpy(place->host, host, length);
    place->host[length] = '\0';
    strcpy(place->port, port);
    return 1;
}

static struct addrinfo *resolve(const place_t *place, int flags)
{
    struct addrinfo hints = {.ai_flags    = flags,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int error;

    error = getaddrinfo((place->host[0] == '\0') ? NULL : place->host,
                        place->port, &hints, &list);
    if (error != 0) {
        info_complain("%s: %s", place->host, gai_strerror(error));
        return NULL;
    }
    return list;
}

/* IPv6 sockets also accept IPv4 peers, if the address is any. */
static int listen_on(const struct addrinfo *address)
{
    int on = 1, off = 0;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
    if ((bind(fd, address->ai_addr, address->ai_addrlen) != 0) ||
        (listen(fd, 1) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The assigned port, if any was requested. */
static unsigned port_of(int listener)
{
    struct sockaddr_storage name = {0};
    socklen_t length             = sizeof(name);

    getsockname(listener, (struct sockaddr *)&name, &length);
    return ntohs((name.ss_family == AF_INET6) ?
                 ((struct sockaddr_in6 *)&name)->sin6_port :
                 ((struct sockaddr_in *)&name)->sin_port);
}

static int accept_one(int listener)
{
    int fd;

    do {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while ((fd < 0) && ((errno == EINTR) || (errno == ECONNABORTED)));
    if (fd < 0) {
        info_complain("no connection: %s", strerror(errno));
    }
    return fd;
}

int info_oob_listen(const char *where)
{
    struct addrinfo *list, *address;
    int family, listener = -1, fd = -1;
    place_t place;

    if (!split(where, 1, &place)) {
        info_complain("--listen takes [IP:]PORT, not '%s'", where);
        return -1;
    }
    list = resolve(&place, AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST);
    if (list == NULL) {
        return -1;
    }
    /* for "any", an IPv6 socket serves both; some machines have no IPv6 */
    for (family = AF_INET6; (listener < 0) && (family != AF_UNSPEC);
         family = (family == AF_INET6) ? AF_INET : AF_UNSPEC) {
        for (address = list; (address != NULL) && (listener < 0);
             address = address->ai_next) {
            if (address->ai_family == family) {
                listener = listen_on(address);
            }
        }
    }
    freeaddrinfo(list);
    if (listener < 0) {
        info_complain("cannot listen on port %s: %s", place.port,
                      strerror(errno));
        return -1;
    }

    fprintf(stderr, "ucx_info: waiting on port %u for `ucx_info -e "
            "--connect`\n", port_of(listener));
    fd = accept_one(listener);
    close(listener);
    return fd;
}

/* Connects, with a timeout. */
static int connect_within(const struct addrinfo *address, int timeout_ms)
{
    int fd = socket(address->ai_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd event = {.fd = fd, .events = POLLOUT};
    socklen_t size      = sizeof(int);
    int error           = 0, flags = 0;

    if (fd < 0) {
        return -1;
    }
    if ((connect(fd, address->ai_addr, address->ai_addrlen) != 0) &&
        (errno != EINPROGRESS)) {
        error = errno;
    } else if (poll(&event, 1, timeout_ms) != 1) {
        error = ETIMEDOUT;
    } else {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) {
        flags = fcntl(fd, F_GETFL);
        if (fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0) {
            return fd;
        }
        error = errno;
    }
    close(fd);
    errno = error;
    return -1;
}

int info_oob_connect(const char *where)
{
    struct addrinfo *list, *address;
    place_t place;
    int fd = -1;

    if ((where[0] == '\0') || !split(where, 0, &place)) {
        info_complain("--connect takes HOST[:PORT], not '%s'", where);
        return -1;
    }
    list = resolve(&place, AI_NUMERICSERV);
    if (list == NULL) {
        return -1;
    }
    for (address = list; (address != NULL) && (fd < 0);
         address = address->ai_next) {
        fd = connect_within(address, CONNECT_TIMEOUT_MS);
    }
    if (fd < 0) {
        info_complain("%s, port %s: %s. Does `ucx_info -e --listen` run "
                      "there?",
                      place.host, place.port, strerror(errno));
    }
    freeaddrinfo(list);
    return fd;
}

int info_oob_parse(const char *address, int ipv6,
                   struct sockaddr_storage *result, socklen_t *length_p)
{
    struct addrinfo hints = {.ai_flags    = AI_NUMERICHOST | AI_NUMERICSERV,
                             .ai_family   = ipv6 ? AF_INET6 : AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *list;

    if (getaddrinfo(address, "0", &hints, &list) != 0) {
        return -1;
    }
    memcpy(result, list->ai_addr, list->ai_addrlen);
    *length_p = list->ai_addrlen;
    freeaddrinfo(list);
    return 0;
}
