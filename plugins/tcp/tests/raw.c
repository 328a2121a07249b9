/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that implements the protocol directly: see raw.h. */
#include "raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in host_of(const side_addr_t *addr)
{
    struct sockaddr_in in;

    EXPECT_EQ(addr->dev[0], 4);
    memset(&in, 0, sizeof(in));
    in.sin_family = AF_INET;
    memcpy(&in.sin_addr, addr->dev + TCP_WIRE_DEV_HEAD, 4);
    return in;
}

int raw_hold_port(const side_addr_t *addr, uint16_t *port_p)
{
    struct sockaddr_in in = host_of(addr);
    socklen_t length      = sizeof(in);
    int fd;

    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(bind(fd, (void *)&in, length), 0);
    EXPECT_EQ(getsockname(fd, (void *)&in, &length), 0);
    *port_p = ntohs(in.sin_port);
    return fd;
}

int raw_connect(const side_addr_t *addr)
{
    const tcp_wire_iface_addr_t *iface = (const void *)addr->iface;
    struct sockaddr_in in              = host_of(addr);
    int fd;

    in.sin_port = htons((uint16_t)(iface->port[0] | (iface->port[1] << 8)));
    fd          = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_GE(fd, 0);
    if (connect(fd, (void *)&in, sizeof(in)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void raw_send(int fd, const void *data, size_t length)
{
    EXPECT_EQ(send(fd, data, length, MSG_NOSIGNAL), length);
}

uint64_t raw_id_of(const side_addr_t *addr)
{
    return tcp_wire_load(((const tcp_wire_iface_addr_t *)addr->iface)->id);
}

void raw_hello(int fd, const side_addr_t *addr, uint64_t my_id)
{
    raw_hello_again(fd, addr, my_id, 1);
}

void raw_hello_again(int fd, const side_addr_t *addr, uint64_t my_id,
                     uint32_t epoch)
{
    tcp_wire_hello_t hello;

    memset(&hello, 0, sizeof(hello));
    hello.magic  = htole32(TCP_WIRE_MAGIC);
    hello.major  = TCP_WIRE_MAJOR;
    hello.kind   = TCP_WIRE_HELLO;
    hello.src_id = htole64(my_id);
    hello.dst_id = htole64(raw_id_of(addr));
    hello.epoch  = htole32(epoch);
    raw_send(fd, &hello, sizeof(hello));
}

void raw_wait_ack(side_t *side, int fd)
{
    double end = side_now() + SIDE_TIMEOUT;
    tcp_wire_hello_t hello;
    size_t got = 0;
    ssize_t n;

    while (got < sizeof(hello)) {
        EXPECT_TRUE(side_now() < end);
        side_progress(side);
        n = recv(fd, (char *)&hello + got, sizeof(hello) - got, MSG_DONTWAIT);
        EXPECT_TRUE(n != 0);
        got += (n > 0) ? (size_t)n : 0;
    }
    EXPECT_EQ(hello.kind, TCP_WIRE_HELLO_ACK);
}

void raw_wait_closed(side_t *side, int fd)
{
    double end = side_now() + SIDE_TIMEOUT;
    char buffer[4096];
    ssize_t n;

    for (;;) {
        side_progress(side);
        n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
        if ((n == 0) || ((n < 0) && (errno != EAGAIN))) {
            return;
        }
        EXPECT_TRUE(side_now() < end);
    }
}

int raw_peer(side_t *side, uint64_t my_id)
{
    int fd = raw_connect(&side->addr);

    EXPECT_GE(fd, 0);
    raw_hello(fd, &side->addr, my_id);
    raw_wait_ack(side, fd);
    return fd;
}
