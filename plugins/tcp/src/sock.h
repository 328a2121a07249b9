/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for socket addresses and descriptors, without state. */
#ifndef TCP_SOCK_H
#define TCP_SOCK_H

#include "plugin.h"

/* Size of a buffer for tcp_sock_str(), which writes "address:port" or
 * "[address]:port", without the port if that is 0. */
#define TCP_SOCK_STR_MAX 64

socklen_t tcp_sock_addr_len(const tcp_sockaddr_t *addr);
/* Returns a pointer to the IP address in `addr`, of 4 or 16 bytes. */
void *tcp_sock_addr_ip(tcp_sockaddr_t *addr, size_t *length_p);
uint16_t tcp_sock_addr_port(const tcp_sockaddr_t *addr);
void tcp_sock_addr_set_port(tcp_sockaddr_t *addr, uint16_t port);
int tcp_sock_addr_same_ip(const tcp_sockaddr_t *a, const tcp_sockaddr_t *b);
int tcp_sock_addr_is_loopback(const tcp_sockaddr_t *addr);
int tcp_sock_addr_is_any(const tcp_sockaddr_t *addr);

/* Copies a caller's sockaddr of `length` bytes (0: determined by its family).
 * An IPv4 address that is mapped into IPv6 becomes IPv4 if `unmap`. */
ucs_status_t tcp_sock_addr_copy(tcp_sockaddr_t *dst, const struct sockaddr *src,
                                socklen_t length, int unmap);

/* Formats the address for log messages; returns `buf`. */
const char *tcp_sock_str(const tcp_sockaddr_t *addr, char *buf, size_t size);

/* Returns the status for the endpoints of a connection that failed with this
 * errno. */
ucs_status_t tcp_sock_status(int error);

/* Returns whether this errno means that descriptors have run out. */
int tcp_sock_no_files(int error);
/* Returns the smaller of `limit` and 1/`share` of the maximum number of open
 * files of the process, but at least 1. */
unsigned tcp_sock_file_share(unsigned limit, unsigned share);

/* Returns whether the socket has unread data. */
int tcp_sock_has_data(int fd);
int tcp_sock_open(int family);
void tcp_sock_set_int(int fd, int level, int option, int value);
/* Selects the congestion control algorithm, if the kernel has it. */
void tcp_sock_set_congestion(int fd, const char *name);

#endif
