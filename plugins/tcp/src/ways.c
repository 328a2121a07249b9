/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of alternative addresses: see ways.h. */
#include "ways.h"
#include "sock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Timeout in seconds of the first attempt at each address. It doubles whenever
 * all addresses of the list have been tried, at most 8 times. It allows for one
 * lost connection request, which the kernel retransmits after one second. */
#define WAYS_PATIENCE 1.5

/* --- Addresses ----------------------------------------------------------- */

void tcp_ways_reserve(tcp_iface_t *iface)
{
    tcp_md_t *md = iface->md;

    iface->num_others = 0;
    if (iface->device.is_loopback) {
        return;
    }
    pthread_mutex_lock(&md->devices_lock);
    for (unsigned i = 0; i < md->num_devices; ++i) {
        iface->num_others += !md->devices[i].is_loopback &&
                             (md->devices[i].index != iface->device.index) &&
                             (md->devices[i].addr.sa.sa_family ==
                              iface->device.addr.sa.sa_family);
    }
    pthread_mutex_unlock(&md->devices_lock);
    iface->num_others = tcp_min(iface->num_others, TCP_WIRE_OTHERS_MAX);
}

/* Returns the size in bytes of the entry of another interface in an interface
 * address (wire.h), for the family of `addr`. */
static size_t other_length(const tcp_sockaddr_t *addr)
{
    return tcp_dev_addr_length(addr) - TCP_WIRE_DEV_HEAD +
           sizeof(tcp_wire_iface_addr_t);
}

size_t tcp_ways_length(const tcp_iface_t *iface)
{
    return iface->num_others * other_length(&iface->device.addr);
}

static int ways_can_tell(const tcp_iface_t *iface, const tcp_iface_t *other)
{
    return (other != iface) && (other->super.worker == iface->super.worker) &&
           !other->device.is_loopback &&
           (other->device.addr.sa.sa_family == iface->device.addr.sa.sa_family);
}

void tcp_ways_pack(tcp_iface_t *iface, void *buffer)
{
    tcp_md_t *md   = iface->md;
    uint8_t *dst   = buffer;
    unsigned count = 0;
    tcp_wire_iface_addr_t wire;
    tcp_sockaddr_t addr;
    tcp_iface_t *other;
    size_t length;
    void *ip;

    memset(buffer, 0, tcp_ways_length(iface));
    pthread_mutex_lock(&md->ifaces_lock);
    for (tcp_list_t *node = md->ifaces.next;
         (node != &md->ifaces) && (count < iface->num_others);
         node = node->next) {
        other = tcp_container_of(node, tcp_iface_t, md_node);
        if (ways_can_tell(iface, other)) {
            addr = other->listen_addr;
            ip   = tcp_sock_addr_ip(&addr, &length);
            tcp_wire_iface_set(&wire, tcp_sock_addr_port(&addr), other->id);
            memcpy(dst, ip, length);
            memcpy(dst + length, &wire, sizeof(wire));
            dst += length + sizeof(wire);
            ++count;
        }
    }
    pthread_mutex_unlock(&md->ifaces_lock);
}

ucs_status_t tcp_ways_unpack(const tcp_way_t *first, const void *buffer,
                             size_t length, tcp_ways_t **ways_p)
{
    const uint8_t *src = buffer;
    size_t num         = tcp_min(length / other_length(&first->addr),
                                 TCP_WIRE_OTHERS_MAX);
    tcp_wire_iface_addr_t wire;
    tcp_ways_t *ways;
    size_t ip_length;
    tcp_way_t *way;
    void *ip;

    *ways_p = NULL;
    if (num == 0) {
        return UCS_OK;
    }
    ways = calloc(1, sizeof(*ways) + (1 + num) * sizeof(*way));
    if (ways == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ways->way[0] = *first;
    ways->num    = 1;
    for (size_t i = 0; i < num; ++i) {
        way                    = &ways->way[ways->num];
        way->addr.sa.sa_family = first->addr.sa.sa_family;
        ip                     = tcp_sock_addr_ip(&way->addr, &ip_length);
        memcpy(ip, src, ip_length);
        memcpy(&wire, src + ip_length, sizeof(wire));
        src += ip_length + sizeof(wire);
        way->id = tcp_wire_load(wire.id);
        tcp_sock_addr_set_port(&way->addr, tcp_wire_iface_port(&wire));
        if ((way->id != 0) && (tcp_sock_addr_port(&way->addr) != 0) &&
            !tcp_sock_addr_is_any(&way->addr)) {
            ++ways->num;
        }
    }
    if (ways->num == 1) {
        free(ways);
        ways = NULL;
    }
    *ways_p = ways;
    return UCS_OK;
}

tcp_ways_t *tcp_ways_copy(const tcp_ways_t *ways)
{
    size_t size;
    tcp_ways_t *copy;

    if (ways == NULL) {
        return NULL;
    }
    size = sizeof(*ways) + ways->num * sizeof(ways->way[0]);
    copy = malloc(size);
    if (copy != NULL) {
        memcpy(copy, ways, size);
    }
    return copy;
}

/* --- Selecting ------------------------------------------------------------ */

void tcp_ways_begin(tcp_conn_t *conn)
{
    conn->ways_failed = 0;
    conn->ways_round  = 0;
}

void tcp_ways_give_up(tcp_conn_t *conn)
{
    conn->ways_failed |= 1u << conn->way;
}

/* Finds the next address after the current one that can be tried. Skips
 * addresses that have failed, and those with an existing connection, which
 * belongs to other endpoints. Returns 0 if there is none. */
static int ways_next(const tcp_conn_t *conn, unsigned *next_p)
{
    const tcp_ways_t *ways = conn->ways;
    unsigned next;

    for (unsigned i = 1; (ways != NULL) && (i < ways->num); ++i) {
        next = (conn->way + i) % ways->num;
        if (!(conn->ways_failed & (1u << next)) &&
            (tcp_conn_find(conn->iface, ways->way[next].id, conn->path) ==
             NULL)) {
            *next_p = next;
            return 1;
        }
    }
    return 0;
}

int tcp_ways_turn(tcp_conn_t *conn)
{
    unsigned next;

    if (!ways_next(conn, &next)) {
        return 0;
    }
    conn->ways_round += (next < conn->way);
    conn->way  = (uint8_t)next;
    conn->peer = conn->ways->way[next].addr;
    tcp_conn_rename(conn, conn->ways->way[next].id);
    return 1;
}

int tcp_ways_has_other(const tcp_conn_t *conn)
{
    unsigned next;

    return ways_next(conn, &next);
}

double tcp_ways_patience(const tcp_conn_t *conn)
{
    return tcp_ways_has_other(conn) ?
               WAYS_PATIENCE * (double)(1u << tcp_min(conn->ways_round, 8)) :
               HUGE_VAL;
}
