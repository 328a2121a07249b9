/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulation of <ucx/window.h>: the two sides of a connection, and a network
 * between them that loses, repeats and reorders packets. It uses no device and
 * no real time; the seed of the random numbers determines all events. It checks
 * that packets are delivered once and in order, and are acknowledged (`done`)
 * once and in order.
 */
#ifndef IB_TEST_SIMULATION_H
#define IB_TEST_SIMULATION_H

#include <ucx/window.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_EVENTS  = 8192, /* Maximum number of packets on their way */
    MAX_PACKETS = 4000, /* Maximum number of packets that one side sends */
    NUM_BUFFERS = 512,  /* Number of receive buffers of one side */
};

typedef struct network {
    /* Numbers of packets out of 1000 that are lost, repeated, reordered */
    unsigned loss, repeat, reorder;
    double delay;    /* Seconds from sending to receiving, if not reordered */
    uint64_t random; /* State of next_random() */
} network_t;

/* A packet, or an acknowledgement without data, on its way. */
typedef struct event {
    double at;      /* Time of arrival */
    uint64_t order; /* Order among events at the same time */
    int to;         /* Index in world_t.ends of the receiver */
    int is_ack;     /* An acknowledgement without data: no psn, no value */
    int asks;       /* Requests an acknowledgement at once */
    uint32_t psn, ack;
    uint64_t sack;
    unsigned value; /* Payload of the packet */
} event_t;

/* A packet of the sender, with the payload that is kept for retransmission. */
typedef struct packet {
    ucx_window_tx_t tx;
    unsigned value; /* Index of the packet in end_t.packets */
} packet_t;

/* A receive buffer. */
typedef struct buffer {
    ucx_window_rx_t rx;
    struct buffer *free; /* Next free buffer */
    unsigned value;      /* Payload of the received packet */
} buffer_t;

/* One side of the connection. */
typedef struct end {
    ucx_window_t window;
    packet_t packets[MAX_PACKETS];
    buffer_t buffers[NUM_BUFFERS];
    buffer_t *free; /* List of the free buffers */
    /* Numbers of packets: sent by this side at least once; sent by this side
     * and acknowledged; received by this side in order */
    unsigned num_sent, num_done, num_delivered;
} end_t;

/* The simulation. Times are in seconds. */
typedef struct world {
    ucx_window_params_t params;
    network_t network;
    event_t events[MAX_EVENTS]; /* Packets on their way, not sorted */
    unsigned num_events;        /* Length of `events` */
    uint64_t num_put;           /* Value of event_t.order for the next event */
    double now;
    double stopped_until; /* The second side receives nothing before this
                           * time */
    end_t ends[2];
    unsigned num_acks; /* Number of acknowledgements sent without data */
} world_t;

static world_t world;

static uint64_t next_random(void)
{
    world.network.random = (world.network.random * 6364136223846793005u) +
                           1442695040888963407u;
    return world.network.random >> 33;
}

/* Returns 1 with a probability of `in_1000` out of 1000, otherwise 0. */
static int happens(unsigned in_1000)
{
    return next_random() % 1000 < in_1000;
}

/* Starts a simulation. `psn`: the first sequence number of the first side. */
static void setup(uint64_t seed, unsigned loss, uint32_t psn)
{
    static const ucx_window_params_t params = {
        .max_window = 128,
        .max_kept   = 64,
        .min_rto    = 0.01,
        .max_rto    = 0.5,
        .backoff    = 2,
        .timeout    = 5,
        .ack_delay  = 0.0002,
    };

    memset(&world, 0, sizeof(world));
    world.params         = params;
    world.network.loss   = loss;
    world.network.delay  = 1e-4;
    world.network.random = seed;
    world.now            = 1;
    for (int i = 0; i < 2; ++i) {
        ucx_window_init(&world.ends[i].window, &world.params, psn + i);
        for (int j = 0; j < NUM_BUFFERS; ++j) {
            world.ends[i].buffers[j].free = world.ends[i].free;
            world.ends[i].free            = &world.ends[i].buffers[j];
        }
    }
    world.ends[0].window.rx_psn = world.ends[1].window.tx_psn;
    world.ends[1].window.rx_psn = world.ends[0].window.tx_psn;
}

static void put_event(const event_t *event)
{
    event_t *copy;

    ck_assert_uint_lt(world.num_events, MAX_EVENTS);
    copy        = &world.events[world.num_events++];
    *copy       = *event;
    copy->at    = world.now + world.network.delay;
    copy->order = world.num_put++;
    if (happens(world.network.reorder)) {
        copy->at += world.network.delay * (double)(next_random() % 1000) / 100;
    }
    if ((copy->to == 1) && (copy->at < world.stopped_until)) {
        copy->at = world.stopped_until;
    }
}

/* Stops the second side for some seconds: packets to it arrive only
 * afterwards. */
static void stop_second(double seconds)
{
    world.stopped_until = world.now + seconds;
    for (unsigned i = 0; i < world.num_events; ++i) {
        if ((world.events[i].to == 1) &&
            (world.events[i].at < world.stopped_until)) {
            world.events[i].at = world.stopped_until;
        }
    }
}

static void transmit(const event_t *event)
{
    if (!happens(world.network.loss)) {
        put_event(event);
    }
    if (happens(world.network.repeat)) {
        put_event(event);
    }
}

static void send_ack(int from)
{
    ucx_window_t *window = &world.ends[from].window;
    event_t event        = {.to = 1 - from, .is_ack = 1};

    event.ack  = window->rx_psn;
    event.sack = ucx_window_sack(window);
    ucx_window_acked(window);
    ++world.num_acks;
    transmit(&event);
}

static void send_packet(int from, packet_t *packet, int asks)
{
    end_t *end    = &world.ends[from];
    event_t event = {.to = 1 - from, .asks = asks};

    event.psn   = packet->tx.psn;
    event.value = packet->value;
    event.ack   = end->window.rx_psn;
    ucx_window_acked(&end->window);
    transmit(&event);
}

/* Sends packets as long as the window permits: first lost packets again, then
 * new ones until this side has sent `total` packets. */
static void send_all(int from, unsigned total)
{
    end_t *end = &world.ends[from];
    packet_t *packet;
    ucx_window_tx_t *tx;
    int asks;

    while ((tx = ucx_window_resend(&end->window, world.now)) != NULL) {
        send_packet(from, (packet_t *)tx, 1);
    }
    while ((end->num_sent < total) && ucx_window_is_open(&end->window)) {
        packet        = &end->packets[end->num_sent];
        packet->value = end->num_sent++;
        asks          = ucx_window_asks(&end->window);
        ucx_window_sent(&end->window, &packet->tx, world.now);
        send_packet(from, packet, asks);
    }
}

/* Checks that packets complete once, in the order in which they were sent. */
static void take_done(end_t *end, ucx_window_tx_t *done)
{
    for (; done != NULL; done = done->next) {
        ck_assert_uint_eq(((packet_t *)done)->value, end->num_done);
        ++end->num_done;
    }
}

static void deliver(end_t *end, buffer_t *buffer)
{
    ck_assert_uint_eq(buffer->value, end->num_delivered);
    ++end->num_delivered;
    buffer->free = end->free;
    end->free    = buffer;
}

static void take_packet(end_t *end, const event_t *event)
{
    buffer_t *buffer = end->free;
    ucx_window_rx_t *rx;

    ck_assert_ptr_nonnull(buffer);
    end->free     = buffer->free;
    buffer->value = event->value;
    switch (
        ucx_window_arrived(&end->window, &buffer->rx, event->psn, world.now)) {
    case UCX_WINDOW_RX_IN_ORDER:
        deliver(end, buffer);
        while ((rx = ucx_window_next(&end->window)) != NULL) {
            deliver(end, (buffer_t *)rx);
        }
        break;
    case UCX_WINDOW_RX_DROPPED:
        buffer->free = end->free;
        end->free    = buffer;
        break;
    case UCX_WINDOW_RX_KEPT:
        break;
    }
    end->window.ack_now |= event->asks;
}

/* Returns the index of the earliest event, or -1. */
static int earliest(void)
{
    const event_t *event, *best = NULL;

    for (event = world.events; event < world.events + world.num_events;
         ++event) {
        if ((best == NULL) || (event->at < best->at) ||
            ((event->at == best->at) && (event->order < best->order))) {
            best = event;
        }
    }
    return (best == NULL) ? -1 : (int)(best - world.events);
}

/* Continues with the next event: a packet arrives, a deadline passes, or a
 * delayed acknowledgement is due. */
static void step(void)
{
    double next = world.now + 1;
    int index   = earliest();
    event_t event;
    end_t *end;

    for (int i = 0; i < 2; ++i) {
        end = &world.ends[i];
        if (!ucx_window_is_idle(&end->window) &&
            (end->window.deadline < next)) {
            next = end->window.deadline;
        }
        if ((end->window.owed > 0) &&
            (end->window.owed_since + world.params.ack_delay < next)) {
            next = end->window.owed_since + world.params.ack_delay;
        }
    }
    if ((index >= 0) && (world.events[index].at <= next)) {
        event               = world.events[index];
        world.events[index] = world.events[--world.num_events];
        world.now           = (event.at > world.now) ? event.at : world.now;
        end                 = &world.ends[event.to];
        take_done(end, ucx_window_take_ack(&end->window, event.ack, event.sack,
                                           world.now));
        if (!event.is_ack) {
            take_packet(end, &event);
        }
    } else {
        world.now = (next > world.now) ? next + 1e-9 : world.now;
    }
    for (int i = 0; i < 2; ++i) {
        end = &world.ends[i];
        if (!ucx_window_is_idle(&end->window) &&
            (world.now >= end->window.deadline)) {
            ucx_window_time_out(&end->window, world.now);
        }
        if (ucx_window_ack_is_due(&end->window, world.now)) {
            send_ack(i);
        }
    }
}

/* Runs the simulation until the first side has sent `first` packets, the second
 * side has sent `second` packets, and all are acknowledged. Fails if this takes
 * more than `seconds` of simulated time. */
static void run(unsigned first, unsigned second, double seconds)
{
    double end = world.now + seconds;

    while ((world.ends[0].num_done < first) ||
           (world.ends[1].num_done < second)) {
        send_all(0, first);
        send_all(1, second);
        step();
        ck_assert_msg(world.now < end,
                      "after %g s %u of %u and %u of %u packets are done",
                      seconds, world.ends[0].num_done, first,
                      world.ends[1].num_done, second);
    }
    ck_assert_uint_eq(world.ends[1].num_delivered, first);
    ck_assert_uint_eq(world.ends[0].num_delivered, second);
    ck_assert_uint_eq(world.ends[0].window.in_flight, 0);
    ck_assert_uint_eq(world.ends[0].window.num_lost, 0);
}

#endif
