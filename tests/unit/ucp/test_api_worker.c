/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: every parameter and attribute that can be tested in one process.
 * tests/integration/options.c tests those that need a peer.
 */
#include "api.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/* the deprecated functions are under test */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void open_worker(local_t *local, const ucp_worker_params_t *params)
{
    ucp_params_t context_params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
                    UCP_FEATURE_WAKEUP,
    };
    ucp_ep_params_t ep_params = {0};

    ck_assert_int_eq(ucp_init(&context_params, NULL, &local->context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(local->context, params, &local->worker),
                     UCS_OK);
    local->ep = connect_self(local->worker, &ep_params);
}

static void pass_a_message(local_t *local)
{
    char in[4];

    ck_assert_int_eq(local_wait(local, local_send(local, "abc", 4, 1)), UCS_OK);
    ck_assert_int_eq(local_wait(local, local_recv(local, in, 4, 1)), UCS_OK);
    ck_assert_str_eq(in, "abc");
}

START_TEST(a_name_is_kept_and_cut_where_it_must_be)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_NAME,
        .name       = "a name that is longer than any name of an entity may be",
    };
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_NAME};
    local_t local;

    open_worker(&local, &params);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ck_assert_uint_eq(strlen(attr.name), UCP_ENTITY_NAME_MAX - 1);
    ck_assert_int_eq(strncmp(attr.name, params.name, strlen(attr.name)), 0);
    local_close(&local);

    params.name = "short";
    open_worker(&local, &params);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ck_assert_str_eq(attr.name, "short");
    local_close(&local);
}
END_TEST

START_TEST(a_name_that_is_made_up_is_unique_on_the_host)
{
    enum { COUNT = 4 };
    ucp_worker_params_t params = {0};
    ucp_worker_attr_t attr     = {.field_mask = UCP_WORKER_ATTR_FIELD_NAME};
    ucp_ep_attr_t ep_attr      = {.field_mask = UCP_EP_ATTR_FIELD_NAME};
    char names[2 * COUNT][UCP_ENTITY_NAME_MAX], pid[16];
    local_t locals[COUNT];
    int i, j;

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    for (i = 0; i < COUNT; ++i) {
        open_worker(&locals[i], &params);
        ck_assert_int_eq(ucp_worker_query(locals[i].worker, &attr), UCS_OK);
        strcpy(names[2 * i], attr.name);
        ck_assert_int_eq(ucp_ep_query(locals[i].ep, &ep_attr), UCS_OK);
        strcpy(names[2 * i + 1], ep_attr.name);
    }
    for (i = 0; i < 2 * COUNT; ++i) {
        ck_assert_ptr_nonnull(strstr(names[i], pid));
        for (j = 0; j < i; ++j) {
            ck_assert_str_ne(names[i], names[j]);
        }
    }
    for (i = 0; i < COUNT; ++i) {
        local_close(&locals[i]);
    }
}
END_TEST

START_TEST(each_thread_mode_is_what_was_asked_for)
{
    static const ucs_thread_mode_t modes[] = {
        UCS_THREAD_MODE_SINGLE,
        UCS_THREAD_MODE_SERIALIZED,
        UCS_THREAD_MODE_MULTI,
    };
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
    };
    ucp_worker_attr_t attr = {
        .field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE,
    };
    ucp_worker_h worker;
    local_t local;
    size_t i;

    for (i = 0; i < 3; ++i) {
        params.thread_mode = modes[i];
        open_worker(&local, &params);
        ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
        ck_assert_int_eq(attr.thread_mode, modes[i]);
        pass_a_message(&local);
        params.thread_mode = UCS_THREAD_MODE_LAST;
        ck_assert_int_eq(ucp_worker_create(local.context, &params, &worker),
                         UCS_ERR_INVALID_PARAM);
        local_close(&local);
    }
}
END_TEST

START_TEST(a_worker_near_some_processors_works_as_any)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_CPU_MASK,
    };
    local_t local;
    unsigned cpu;

    for (cpu = 0; cpu < UCS_CPU_SETSIZE; cpu += UCS_CPU_SETSIZE - 1) {
        UCS_CPU_ZERO(&params.cpu_mask);
        UCS_CPU_SET(cpu, &params.cpu_mask);
        ck_assert(ucs_cpu_is_set(cpu, &params.cpu_mask));
        open_worker(&local, &params);
        pass_a_message(&local);
        local_close(&local);
    }
}
END_TEST

/* The masks of the first 4 calls of sched_setaffinity(), and the number of all
 * calls. The test replaces that function below. */
static struct {
    cpu_set_t masks[4];
    unsigned calls;
} bound;

__attribute__((visibility("default"))) int
sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
    if ((bound.calls < 4) && (size == sizeof(*mask))) {
        bound.masks[bound.calls] = *mask;
    }
    ++bound.calls;
    return (int)syscall(SYS_sched_setaffinity, pid, size, mask);
}

START_TEST(a_worker_is_made_on_the_processors_it_is_to_be_near)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_CPU_MASK,
    };
    cpu_set_t before, after, wanted;
    local_t local;
    int cpu;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    for (cpu = 0; !CPU_ISSET(cpu, &before); ++cpu) {
    }
    CPU_ZERO(&wanted);
    CPU_SET(cpu, &wanted);
    UCS_CPU_SET(cpu, &params.cpu_mask);
    /* a CPU that does not exist is ignored */
    UCS_CPU_SET(UCS_CPU_SETSIZE - 1, &params.cpu_mask);

    bound.calls = 0;
    open_worker(&local, &params);
    ck_assert_uint_eq(bound.calls, 2);
    ck_assert(CPU_EQUAL(&bound.masks[0], &wanted));
    ck_assert(CPU_EQUAL(&bound.masks[1], &before));
    ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
    ck_assert(CPU_EQUAL(&before, &after));
    pass_a_message(&local);
    local_close(&local);

    /* The mask contains only CPUs that this thread may not use, or there is no
     * mask: the thread is not bound. */
    UCS_CPU_CLR(cpu, &params.cpu_mask);
    bound.calls = 0;
    open_worker(&local, &params);
    local_close(&local);
    params.field_mask = 0;
    open_worker(&local, &params);
    local_close(&local);
    ck_assert_uint_eq(bound.calls, 0);
}
END_TEST

START_TEST(a_network_address_leaves_out_what_the_network_cannot_reach)
{
    ucp_worker_params_t params = {0};
    ucp_worker_attr_t full     = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_worker_attr_t net      = {
             .field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS |
                           UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
             .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY,
    };
    ucp_worker_address_attr_t of_full = {
        .field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID,
    };
    ucp_worker_address_attr_t of_net = of_full;
    ucp_ep_params_t ep_params        = {
               .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    local_t local;
    ucp_ep_h ep;

    open_worker(&local, &params);
    ck_assert_int_eq(ucp_worker_query(local.worker, &full), UCS_OK);
    ck_assert_int_eq(ucp_worker_query(local.worker, &net), UCS_OK);
    ck_assert_uint_lt(net.address_length, full.address_length);
    ck_assert_int_eq(ucp_worker_address_query(full.address, &of_full), UCS_OK);
    ck_assert_int_eq(ucp_worker_address_query(net.address, &of_net), UCS_OK);
    ck_assert_uint_eq(of_full.worker_uid, of_net.worker_uid);

    /* the transports of this test do not connect to other hosts */
    ep_params.address = net.address;
    ck_assert_int_eq(ucp_ep_create(local.worker, &ep_params, &ep),
                     UCS_ERR_UNREACHABLE);
    ucp_worker_release_address(local.worker, full.address);
    ucp_worker_release_address(local.worker, net.address);
    local_close(&local);
}
END_TEST

START_TEST(the_old_call_gives_the_same_address)
{
    ucp_worker_params_t params = {0};
    ucp_worker_attr_t attr     = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_address_t *address;
    size_t length;
    local_t local;

    open_worker(&local, &params);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ck_assert_int_eq(ucp_worker_get_address(local.worker, &address, &length),
                     UCS_OK);
    ck_assert_uint_eq(length, attr.address_length);
    ck_assert_mem_eq(address, attr.address, length);
    ucp_worker_release_address(local.worker, address);
    ucp_worker_release_address(local.worker, attr.address);
    local_close(&local);
}
END_TEST

/* Calls progress until the worker has no events and is armed. */
static void arm(local_t *local)
{
    ucs_status_t status;

    while ((status = ucp_worker_arm(local->worker)) == UCS_ERR_BUSY) {
        ucp_worker_progress(local->worker);
    }
    ck_assert_int_eq(status, UCS_OK);
}

START_TEST(each_kind_of_event_makes_the_descriptor_readable)
{
    static const unsigned events[] = {
        UCP_WAKEUP_RMA,      UCP_WAKEUP_AMO, UCP_WAKEUP_TAG_SEND,
        UCP_WAKEUP_TAG_RECV, UCP_WAKEUP_TX,  UCP_WAKEUP_RX,
    };
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_EVENTS,
    };
    struct pollfd set = {.events = POLLIN};
    ucs_status_ptr_t send;
    local_t local;
    char in[4];
    size_t i;

    for (i = 0; i < sizeof(events) / sizeof(events[0]); ++i) {
        params.events = events[i];
        open_worker(&local, &params);
        ck_assert_int_eq(ucp_worker_get_efd(local.worker, &set.fd), UCS_OK);
        arm(&local);
        ck_assert_int_eq(poll(&set, 1, 0), 0);
        /* Any message is an event, even if the user has requested only events
         * of completed sends or gets: the message may be the reply to such an
         * operation. */
        send = local_send(&local, "abc", 4, 1);
        ck_assert_int_eq(poll(&set, 1, 0), 1);
        ck_assert_int_eq(ucp_worker_arm(local.worker), UCS_ERR_BUSY);
        ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 4, 1)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        arm(&local);
        ck_assert_int_eq(poll(&set, 1, 0), 0);
        local_close(&local);
    }
}
END_TEST

START_TEST(an_edge_triggered_event_is_reported_once)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_EVENTS |
                      UCP_WORKER_PARAM_FIELD_EVENT_FD,
        .events   = UCP_WAKEUP_RX | UCP_WAKEUP_EDGE,
        .event_fd = epoll_create1(EPOLL_CLOEXEC),
    };
    struct epoll_event event;
    local_t local;

    open_worker(&local, &params);
    while (epoll_wait(params.event_fd, &event, 1, 0) > 0) {
    }
    ck_assert_int_eq(ucp_worker_signal(local.worker), UCS_OK);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 1);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 0);
    ck_assert_int_eq(ucp_worker_signal(local.worker), UCS_OK);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 1);
    local_close(&local);

    /* without UCP_WAKEUP_EDGE the event is reported until it is handled */
    params.events = UCP_WAKEUP_RX;
    open_worker(&local, &params);
    ck_assert_int_eq(ucp_worker_signal(local.worker), UCS_OK);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 1);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 1);
    local_close(&local);
    close(params.event_fd);
}
END_TEST

START_TEST(events_come_to_the_users_own_set_with_the_users_data)
{
    int mark;
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD |
                      UCP_WORKER_PARAM_FIELD_USER_DATA,
        .event_fd  = epoll_create1(EPOLL_CLOEXEC),
        .user_data = &mark,
    };
    struct epoll_event event = {.events = 0};
    ucs_status_ptr_t send;
    local_t local;
    char in[4];
    int fd;

    open_worker(&local, &params);
    ck_assert_int_eq(ucp_worker_get_efd(local.worker, &fd),
                     UCS_ERR_UNSUPPORTED);
    arm(&local);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 0);
    send = local_send(&local, "abc", 4, 1);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 1);
    ck_assert_ptr_eq(event.data.ptr, &mark);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 4, 1)), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);

    /* the user's epoll set outlives the worker, and no descriptor of the worker
     * is left in it */
    ck_assert_int_eq(ucp_worker_signal(local.worker), UCS_OK);
    local_close(&local);
    ck_assert_int_eq(epoll_wait(params.event_fd, &event, 1, 0), 0);
    ck_assert_int_eq(close(params.event_fd), 0);
}
END_TEST

/* Destroys a worker with a request that was not freed; returns the number of
 * bytes that the library logs. */
static long words_about_a_leak(uint64_t flags)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_FLAGS,
        .flags      = flags,
    };
    ucp_request_param_t none = {0};
    taken_stderr_t taken;
    local_t local;
    char in[1];

    open_worker(&local, &params);
    ck_assert(UCS_PTR_IS_PTR(
        ucp_tag_recv_nbx(local.worker, in, 1, 5, UINT64_MAX, &none)));
    taken = take_stderr();
    local_close(&local);
    return give_stderr_back(&taken);
}

START_TEST(leaked_requests_are_told_of_unless_that_is_not_wanted)
{
    ck_assert_int_eq(words_about_a_leak(UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK),
                     0);
    ck_assert_int_gt(words_about_a_leak(0), 0);
}
END_TEST

START_TEST(waiting_for_memory_ends_when_it_is_written_or_before)
{
    ucp_worker_params_t params = {0};
    volatile int word          = 0;
    local_t local;
    int i;

    open_worker(&local, &params);
    /* nothing writes to the word: each call must return nevertheless */
    for (i = 0; i < 1000; ++i) {
        ucp_worker_wait_mem(local.worker, (void *)&word);
    }
    pass_a_message(&local);
    local_close(&local);
}
END_TEST

typedef struct {
    int word;
} watched_t;

static void *write_word(void *arg)
{
    watched_t *watched = arg;

    __atomic_store_n(&watched->word, 1, __ATOMIC_RELEASE);
    return NULL;
}

START_TEST(a_loop_that_watches_memory_sees_the_write)
{
    ucp_worker_params_t params = {0};
    watched_t watched          = {0};
    pthread_t thread;
    local_t local;

    open_worker(&local, &params);
    ck_assert_int_eq(pthread_create(&thread, NULL, write_word, &watched), 0);
    while (__atomic_load_n(&watched.word, __ATOMIC_ACQUIRE) == 0) {
        ucp_worker_wait_mem(local.worker, &watched.word);
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(watched.word, 1);
    local_close(&local);
}
END_TEST

START_TEST(a_worker_prints_what_it_has)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_NAME,
        .name       = "printed",
    };
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    char length[64];
    local_t local;
    print_t print;
    char *text;

    open_worker(&local, &params);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ucp_worker_print_info(local.worker, print_begin(&print));
    text = print_end(&print);
    ck_assert_ptr_nonnull(strstr(text, "# UCP worker 'printed'\n"));
    snprintf(length, sizeof(length), "address: %zu bytes\n",
             attr.address_length);
    ck_assert_ptr_nonnull(strstr(text, length));
    ck_assert_ptr_nonnull(strstr(text, "atomics: 0:self/"));
    /* the protocols of the worker's endpoints, with their message sizes */
    ck_assert_ptr_nonnull(strstr(text, "endpoints over: self/"));
    ck_assert_ptr_nonnull(strstr(text, "tag_send: 0..<egr/short>.."));
    ck_assert_ptr_nonnull(strstr(text, "..<rndv>..(inf)"));
    free(text);
    ucp_worker_release_address(local.worker, attr.address);
    local_close(&local);
}
END_TEST

SUITE_MAIN("workers' options", a_name_is_kept_and_cut_where_it_must_be,
           a_name_that_is_made_up_is_unique_on_the_host,
           each_thread_mode_is_what_was_asked_for,
           a_worker_near_some_processors_works_as_any,
           a_worker_is_made_on_the_processors_it_is_to_be_near,
           a_network_address_leaves_out_what_the_network_cannot_reach,
           the_old_call_gives_the_same_address,
           each_kind_of_event_makes_the_descriptor_readable,
           an_edge_triggered_event_is_reported_once,
           events_come_to_the_users_own_set_with_the_users_data,
           leaked_requests_are_told_of_unless_that_is_not_wanted,
           waiting_for_memory_ends_when_it_is_written_or_before,
           a_loop_that_watches_memory_sees_the_write,
           a_worker_prints_what_it_has)
