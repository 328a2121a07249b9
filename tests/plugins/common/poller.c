/* SPDX-License-Identifier: BSD-3-Clause */
/* See poller.h. */
#include "poller.h"

#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { SOURCES_A_ROUND = 32 };

ucs_status_t poller_open(poller_t *poller)
{
    poller->running  = 0;
    poller->given_up = NULL;
    poller->epoll    = epoll_create1(EPOLL_CLOEXEC);
    return (poller->epoll >= 0) ? UCS_OK : UCS_ERR_IO_ERROR;
}

void poller_close(poller_t *poller)
{
    close(poller->epoll);
}

poller_source_t *poller_add(poller_t *poller, int fd, uint32_t events,
                            void (*ready)(poller_source_t *, uint32_t),
                            void *owner)
{
    poller_source_t *source  = malloc(sizeof(*source));
    struct epoll_event event = {.events = events, .data.ptr = source};

    if ((source == NULL) ||
        (epoll_ctl(poller->epoll, EPOLL_CTL_ADD, fd, &event) != 0)) {
        free(source);
        close(fd);
        return NULL;
    }
    source->fd    = fd;
    source->ready = ready;
    source->owner = owner;
    return source;
}

void poller_modify(poller_t *poller, poller_source_t *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    epoll_ctl(poller->epoll, EPOLL_CTL_MOD, source->fd, &event);
}

void poller_remove(poller_t *poller, poller_source_t *source)
{
    if (source != NULL) {
        epoll_ctl(poller->epoll, EPOLL_CTL_DEL, source->fd, NULL);
        close(source->fd);
        source->fd = -1;
        poller_free(poller, source, &source->memory);
    }
}

void poller_free(poller_t *poller, void *block, poller_memory_t *memory)
{
    if (poller->running) {
        memory->block    = block;
        memory->next     = poller->given_up;
        poller->given_up = memory;
    } else {
        free(block);
    }
}

void poller_hold(poller_t *poller)
{
    ++poller->running;
}

void poller_release(poller_t *poller)
{
    poller_memory_t *memory;

    if (--poller->running > 0) {
        return;
    }
    while ((memory = poller->given_up) != NULL) {
        poller->given_up = memory->next;
        free(memory->block);
    }
}

unsigned poller_run(poller_t *poller)
{
    struct epoll_event events[SOURCES_A_ROUND];
    int count = epoll_wait(poller->epoll, events, SOURCES_A_ROUND, 0), i;

    poller_hold(poller);
    for (i = 0; i < count; ++i) {
        poller_source_t *source = events[i].data.ptr;

        if (source->fd >= 0) {
            source->ready(source, events[i].events);
        }
    }
    poller_release(poller);
    return (count > 0) ? (unsigned)count : 0;
}

int poller_is_ready(const poller_t *poller)
{
    struct pollfd fd = {.fd = poller->epoll, .events = POLLIN};

    return poll(&fd, 1, 0) > 0;
}
