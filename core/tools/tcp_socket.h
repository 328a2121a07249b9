/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sockets by which two processes of a tool connect to each other. */
#ifndef TOOLS_TCP_SOCKET_H
#define TOOLS_TCP_SOCKET_H

enum { TOOL_TCP_ERROR_MAX = 96 };

/*
 * All functions return a descriptor that is closed on exec, or -1 and the
 * reason in `error`. errno is then that of the failed system call, or 0 if
 * `host` has no address.
 */

/** Listens on a numeric address (NULL: any) and a numeric port ("0": a free
 *  port). AF_UNSPEC selects an IPv6 socket that also accepts IPv4, or an IPv4
 *  socket if the system has no IPv6. */
int tool_tcp_listen(const char *host, const char *port, int family, int backlog,
                    char error[TOOL_TCP_ERROR_MAX]);

/** Waits for a connection. Connections that the peer has already aborted are
 *  skipped. */
int tool_tcp_accept(int listener, char error[TOOL_TCP_ERROR_MAX]);

/** Tries each address of the host for ten seconds, because a connection to a
 *  host that drops packets would otherwise block for minutes. */
int tool_tcp_connect(const char *host, const char *port, int family,
                     char error[TOOL_TCP_ERROR_MAX]);

/** Returns the local port. */
unsigned tool_tcp_port(int fd);

#endif
