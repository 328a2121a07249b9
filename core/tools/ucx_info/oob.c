/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets of --listen and --connect: names, ports, one connection.
 */
#include "oob.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"
#include "tcp_socket.h"

/* The same default port as in other UCX tools. */
#define USUAL_PORT "13337"

typedef struct {
    char host[256]; /* "": any address */
    char port[16];
} place_t;

/* Splits "HOST", "HOST:PORT", "[v6]:PORT", or a single "PORT" if `port_alone`
 * is set. Without a port, it is USUAL_PORT. Returns 0 if the text is
 * invalid. */
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

int info_oob_listen(const char *where)
{
    char error[TOOL_TCP_ERROR_MAX];
    place_t place;
    int listener, fd;

    if (!split(where, 1, &place)) {
        info_complain("--listen takes [IP:]PORT, not '%s'", where);
        return -1;
    }
    listener = tool_tcp_listen((place.host[0] == '\0') ? NULL : place.host,
                               place.port, AF_UNSPEC, 1, error);
    if (listener < 0) {
        info_complain("cannot listen on port %s%s%s: %s", place.port,
                      (place.host[0] == '\0') ? "" : " of ", place.host, error);
        return -1;
    }
    fprintf(stderr,
            "ucx_info: waiting on port %u for `ucx_info -e "
            "--connect`\n",
            tool_tcp_port(listener));
    fd = tool_tcp_accept(listener, error);
    if (fd < 0) {
        info_complain("cannot accept a connection: %s", error);
    }
    close(listener);
    return fd;
}

int info_oob_connect(const char *where)
{
    char error[TOOL_TCP_ERROR_MAX];
    place_t place;
    int fd;

    if ((where[0] == '\0') || !split(where, 0, &place)) {
        info_complain("--connect takes HOST[:PORT], not '%s'", where);
        return -1;
    }
    fd = tool_tcp_connect(place.host, place.port, AF_UNSPEC, error);
    if (fd < 0) {
        info_complain("%s, port %s: %s.%s", place.host, place.port, error,
                      (errno == 0) ? "" :
                                     " Does `ucx_info -e --listen` run there?");
    }
    return fd;
}

int info_oob_parse(const char *address, int ipv6,
                   struct sockaddr_storage *result, socklen_t *length_p)
{
    struct addrinfo hints = {
        .ai_flags    = AI_NUMERICHOST | AI_NUMERICSERV,
        .ai_family   = ipv6 ? AF_INET6 : AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo *list;

    if (getaddrinfo(address, "0", &hints, &list) != 0) {
        return -1;
    }
    memcpy(result, list->ai_addr, list->ai_addrlen);
    *length_p = list->ai_addrlen;
    freeaddrinfo(list);
    return 0;
}
