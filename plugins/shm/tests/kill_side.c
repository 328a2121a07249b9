/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that survive the exit of their peers: see kill_side.h. */
#include "kill_side.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void kill_die(const char *file, int line, const char *what, long long a,
              long long b)
{
    fprintf(stderr, "%s:%d: expected %s: %lld and %lld (process %d)\n", file,
            line, what, a, b, (int)getpid());
    fflush(stderr);
    _exit(1);
}

double kill_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

uint64_t kill_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

/* ---------------------------------------------------------- open, close -- */

static uct_component_h find_component(const char *name)
{
    uct_component_attr_t attr;
    uct_component_h *list, found = NULL;
    unsigned num;

    EXPECT_EQ(uct_query_components(&list, &num), UCS_OK);
    for (unsigned i = 0; i < num; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
        EXPECT_EQ(uct_component_query(list[i], &attr), UCS_OK);
        if (strcmp(attr.name, name) == 0) {
            found = list[i];
        }
    }
    uct_release_component_list(list);
    EXPECT_TRUE(found != NULL);
    return found;
}

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    kill_side_t *side = arg;

    if ((ep == side->twin) && (ep != NULL)) {
        side->twin = NULL;
        uct_ep_destroy(ep);
    } else {
        ++side->failures;
    }
    return UCS_OK;
}

static uint8_t byte_of(const kill_header_t *header, size_t at)
{
    return (uint8_t)(header->number * 41 + header->pid + at);
}

kill_header_t *kill_side_expected(kill_side_t *side, uint32_t pid)
{
    kill_header_t *entry;
    unsigned i;

    for (i = 0; i < KILL_SENDERS; ++i) {
        if (side->expected[i].pid == pid) {
            return &side->expected[i];
        }
    }
    entry  = &side->expected[side->num_senders++ % KILL_SENDERS];
    *entry = (kill_header_t){pid, 0};
    return entry;
}

/* Checks that the messages of each peer are complete, in order, and not
 * duplicated. A peer's last messages may arrive after it has exited and another
 * peer has connected. */
static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    kill_side_t *side    = arg;
    const uint8_t *bytes = data;
    kill_header_t header, *expected;

    EXPECT_TRUE(length >= sizeof(header));
    memcpy(&header, data, sizeof(header));
    for (size_t i = sizeof(header); i < length; ++i) {
        if (bytes[i] != byte_of(&header, i)) {
            EXPECT_EQ(bytes[i], byte_of(&header, i));
        }
    }
    expected = kill_side_expected(side, header.pid);
    EXPECT_EQ(header.number, expected->number);
    ++expected->number;
    ++side->received;
    return UCS_OK;
}

static void open_iface(kill_side_t *side, const char *tl, ucs_time_t interval)
{
    uct_iface_config_t *options;
    uct_iface_params_t params;

    EXPECT_EQ(uct_md_iface_config_read(side->md, tl, NULL, NULL, &options),
              UCS_OK);
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                        UCT_IFACE_PARAM_FIELD_DEVICE |
                        UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                        UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG;
    params.open_mode            = UCT_IFACE_OPEN_MODE_DEVICE;
    params.mode.device.tl_name  = tl;
    params.mode.device.dev_name = "memory";
    params.err_handler          = on_failure;
    params.err_handler_arg      = side;
    if (interval != 0) {
        params.field_mask |= UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL;
        params.keepalive_interval = interval;
    }
    EXPECT_EQ(uct_iface_open(side->md, side->worker, &params, options,
                             &side->iface),
              UCS_OK);
    uct_config_release(options);
    uct_iface_progress_enable(side->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    EXPECT_EQ(uct_iface_query(side->iface, &side->attr), UCS_OK);
    if (side->attr.cap.flags & UCT_IFACE_FLAG_AM_SHORT) {
        EXPECT_EQ(uct_iface_set_am_handler(side->iface, KILL_AM_ID, on_message,
                                           side, 0),
                  UCS_OK);
    }
}

static void make_card(kill_side_t *side)
{
    size_t i;

    side->memory = mmap(NULL, KILL_MEMORY, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(side->memory != MAP_FAILED);
    side->card.pid    = (uint32_t)getpid();
    side->card.memory = (uintptr_t)side->memory;
    EXPECT_EQ(uct_iface_get_device_address(side->iface, (void *)side->card.dev),
              UCS_OK);
    EXPECT_EQ(uct_iface_get_address(side->iface, (void *)side->card.iface),
              UCS_OK);
    if (side->attr.cap.flags & UCT_IFACE_FLAG_AM_SHORT) {
        return;
    }

    for (i = 0; i < KILL_MEMORY / 2; ++i) {
        side->memory[i] = (uint8_t)(i * 7 + i / 256);
    }
    EXPECT_EQ(uct_md_mem_reg(side->md, side->memory, KILL_MEMORY,
                             UCT_MD_MEM_ACCESS_ALL, &side->memh),
              UCS_OK);
    EXPECT_EQ(uct_md_mkey_pack(side->md, side->memh, side->card.key), UCS_OK);
}

void kill_side_open(kill_side_t *side, const char *tl)
{
    kill_side_open_keepalive(side, tl, 0);
}

void kill_side_open_keepalive(kill_side_t *side, const char *tl,
                              ucs_time_t interval)
{
    uct_md_config_t *options;

    memset(side, 0, sizeof(*side));
    side->random    = 0x2545f4914f6cdd1dull ^ ((uint64_t)getpid() << 20);
    side->component = find_component(tl);
    EXPECT_EQ(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK,
                                       &side->async),
              UCS_OK);
    EXPECT_EQ(uct_worker_create(side->async, UCS_THREAD_MODE_SINGLE,
                                &side->worker),
              UCS_OK);
    EXPECT_EQ(uct_md_config_read(side->component, NULL, NULL, &options),
              UCS_OK);
    EXPECT_EQ(uct_md_open(side->component, tl, options, &side->md), UCS_OK);
    uct_config_release(options);
    open_iface(side, tl, interval);
    make_card(side);
}

void kill_side_close(kill_side_t *side)
{
    if (side->memh != NULL) {
        EXPECT_EQ(uct_md_mem_dereg(side->md, side->memh), UCS_OK);
    }
    munmap(side->memory, KILL_MEMORY);
    uct_iface_close(side->iface);
    uct_md_close(side->md);
    uct_worker_destroy(side->worker);
    ucs_async_context_destroy(side->async);
}

/* ---------------------------------------------------------------- links -- */

static void on_copied(uct_completion_t *comp)
{
    kill_link_t *link = (kill_link_t *)((char *)comp -
                                        offsetof(kill_link_t, comp));

    link->busy   = 0;
    link->status = comp->status;
}

static void close_twin(kill_side_t *side)
{
    if (side->twin != NULL) {
        uct_ep_destroy(side->twin);
        side->twin = NULL;
    }
}

int kill_link_open(kill_link_t *link, kill_side_t *side,
                   const kill_card_t *card)
{
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = side->iface,
        .dev_addr   = (void *)card->dev,
        .iface_addr = (void *)card->iface,
    };

    memset(link, 0, sizeof(*link));
    link->side     = side;
    link->memory   = card->memory;
    side->failures = 0;
    if (!uct_iface_is_reachable(side->iface, (void *)card->dev,
                                (void *)card->iface)) {
        return 0;
    }
    if ((side->twin == NULL) && (kill_random(&side->random) & 1)) {
        (void)uct_ep_create(&params, &side->twin);
    }
    if (uct_ep_create(&params, &link->ep) != UCS_OK) {
        close_twin(side);
        return 0;
    }
    if (side->memh != NULL) {
        EXPECT_EQ(uct_rkey_unpack(side->component, card->key, &link->key),
                  UCS_OK);
    }
    link->buffer = malloc(KILL_MEMORY / 2);
    EXPECT_TRUE(link->buffer != NULL);
    return 1;
}

void kill_link_close(kill_link_t *link)
{
    double end = kill_now() + 30;

    uct_ep_destroy(link->ep);
    close_twin(link->side);
    while (link->busy) { /* The operation ends with the endpoint, or soon
                          * after */
        uct_worker_progress(link->side->worker);
        EXPECT_TRUE(kill_now() < end);
    }
    if (link->side->memh != NULL) {
        uct_rkey_release(link->side->component, &link->key);
    }
    free(link->buffer);
}

static size_t pack(void *dest, void *arg)
{
    kill_link_t *link    = arg;
    kill_header_t header = {(uint32_t)getpid(), link->sent};
    uint8_t *bytes       = dest;

    memcpy(bytes, &header, sizeof(header));
    for (size_t i = sizeof(header); i < link->length; ++i) {
        bytes[i] = byte_of(&header, i);
    }
    return link->length;
}

static ucs_status_t send_message(kill_link_t *link)
{
    kill_side_t *side = link->side;
    uint64_t r        = kill_random(&side->random);
    kill_header_t header;
    ucs_status_t status;
    uct_iov_t iov;
    uint64_t word;
    ssize_t sent;

    link->length = sizeof(header);
    switch (r % 8) {
    case 0:
        link->length += (r >> 8) % (side->attr.cap.am.max_bcopy - 8);
        sent   = uct_ep_am_bcopy(link->ep, KILL_AM_ID, pack, link, 0);
        status = (sent < 0) ? (ucs_status_t)sent : UCS_OK;
        break;
    case 1:
        link->length += (r >> 8) % (side->attr.cap.am.max_zcopy - 8);
        pack(link->buffer, link);
        iov    = (uct_iov_t){link->buffer, link->length, UCT_MEM_HANDLE_NULL, 0,
                             1};
        status = uct_ep_am_zcopy(link->ep, KILL_AM_ID, NULL, 0, &iov, 1, 0,
                                 NULL);
        break;
    default:
        link->length += (r >> 8) % 100;
        pack(link->buffer, link);
        memcpy(&word, link->buffer, sizeof(word));
        status = uct_ep_am_short(link->ep, KILL_AM_ID, word,
                                 link->buffer + sizeof(word),
                                 (unsigned)(link->length - sizeof(word)));
        break;
    }
    link->sent += (status == UCS_OK);
    return (status == UCS_ERR_NO_RESOURCE) ? UCS_OK : status;
}

static void check_copy(kill_link_t *link)
{
    if (link->is_get) {
        for (size_t i = 0; i < link->length; i += 61) {
            if (link->buffer[i] != (uint8_t)(i * 7 + i / 256)) {
                EXPECT_EQ(link->buffer[i], (uint8_t)(i * 7 + i / 256));
            }
        }
    }
    ++link->side->copied;
}

static ucs_status_t copy_piece(kill_link_t *link)
{
    kill_side_t *side = link->side;
    uint64_t r        = kill_random(&side->random);
    uct_iov_t iov;
    ucs_status_t status;

    if (link->busy) {
        return UCS_OK;
    }
    if (link->status != UCS_OK) {
        return link->status;
    }
    if (link->length != 0) {
        check_copy(link);
    }

    link->is_get = r & 1;
    link->length = 1 + (r >> 8) % (((r >> 1) & 1) ? KILL_MEMORY / 2 : 20000);
    link->busy   = 1;
    link->comp   = (uct_completion_t){on_copied, 1, UCS_OK};
    iov    = (uct_iov_t){link->buffer, link->length, UCT_MEM_HANDLE_NULL, 0, 1};
    status = link->is_get ? uct_ep_get_zcopy(link->ep, &iov, 1, link->memory,
                                             link->key.rkey, &link->comp) :
                            uct_ep_put_zcopy(link->ep, &iov, 1,
                                             link->memory + KILL_MEMORY / 2,
                                             link->key.rkey, &link->comp);
    if (status == UCS_INPROGRESS) {
        return UCS_OK;
    }
    link->busy = 0;
    if (status == UCS_ERR_NO_RESOURCE) {
        link->length = 0;
        return UCS_OK;
    }
    return status;
}

ucs_status_t kill_link_step(kill_link_t *link)
{
    return (link->side->memh != NULL) ? copy_piece(link) : send_message(link);
}
