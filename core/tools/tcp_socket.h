/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sockets by which two processes of a tool connect to each other. */
#ifndef TOOLS_TCP_SOCKET_H
#define TOOLS_TCP_SOCKET_H

/* Size in bytes of the text of an error, including the terminating zero */
enum { TOOL_TCP_ERROR_MAX = 96 };

/*
 * tool_tcp_listen(), tool_tcp_accept() and tool_tcp_connect() return a
 * descriptor that is closed on exec. On failure they return -1 and write the
 * reason to `error`; errno is then that of the failed system call, or 0 if
 * `host` or `port` cannot be resolved.
 */

/** Listens on a numeric address (NULL: any) and a numeric port ("0": a free
 *  port). If `host` is NULL, AF_UNSPEC selects an IPv6 socket that also accepts
 *  IPv4, or an IPv4 socket if the system has no IPv6. */
int tool_tcp_listen(const char *host, const char *port, int family, int backlog,
                    char error[TOOL_TCP_ERROR_MAX]);

/** Waits for a connection. Skips connections that the peer has aborted before
 *  they are accepted. */
int tool_tcp_accept(int listener, char error[TOOL_TCP_ERROR_MAX]);

/** Connects to a host. Tries its addresses one after the other, each for at
 *  most ten seconds, because a connection to a host that drops packets would
 *  otherwise block for minutes. */
int tool_tcp_connect(const char *host, const char *port, int family,
                     char error[TOOL_TCP_ERROR_MAX]);

/** Returns the local port of a socket. */
unsigned tool_tcp_port(int fd);

#endif
