/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library for LD_PRELOAD: if a port goes down, the program receives the event
 * of a failed device instead (IBV_EVENT_DEVICE_FATAL). Software devices do not
 * report this event themselves, because the kernel removes them only after the
 * program has closed them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>

typedef int (*get_event_t)(struct ibv_context *context,
                           struct ibv_async_event *event);

__attribute__((visibility("default"))) int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
    get_event_t get_event;
    int ret, error;

    get_event = (get_event_t)dlsym(verbs, "ibv_get_async_event");
    ret       = get_event(context, event);
    error     = errno;
    if ((ret == 0) && (event->event_type == IBV_EVENT_PORT_ERR)) {
        event->event_type = IBV_EVENT_DEVICE_FATAL;
    }
    dlclose(verbs);
    errno = error;
    return ret;
}
