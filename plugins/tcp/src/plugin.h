/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of this plugin: the host, and small helpers.
 *
 * The core is the library that loads the plugin. A process may contain two
 * copies of it, each with its own instance of the plugin; therefore no state of
 * an instance is stored in a global variable. The host is the table of
 * functions by which a core serves the plugin; the log macros use it from a
 * local variable `host`.
 */
#ifndef TCP_PLUGIN_H
#define TCP_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/count.h>
#include <ucx/instance.h>
#include <ucx/log.h>

#include <netinet/in.h>
#include <sys/socket.h>

#ifndef TCP_VERSION
#define TCP_VERSION "0.0.0"
#endif

#define TCP_NAME "tcp"

#define tcp_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr)-offsetof(_type, _member)))
#define tcp_likely(_x)   __builtin_expect(!!(_x), 1)
#define tcp_unlikely(_x) __builtin_expect(!!(_x), 0)

/* State of the plugin for one core. */
typedef struct tcp_instance {
    ucx_instance_t super;
    ucx_component_t component;
    const ucx_component_t *components[1];
} tcp_instance_t;

static inline const ucx_host_t *tcp_host(const ucx_component_t *component)
{
    return tcp_container_of(component, tcp_instance_t, component)->super.host;
}

/* A socket address of either family. */
typedef union tcp_sockaddr {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
} tcp_sockaddr_t;

static inline size_t tcp_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

extern const ucx_transport_t tcp_transport;
extern const ucx_cm_ops_t tcp_cm_ops;

#endif
