/* SPDX-License-Identifier: BSD-3-Clause */
/* A side of a cma test: see cma_side.h. */
#include "cma_side.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define SIDE_TIMEOUT 30.0

void cma_side_die(const char *file, int line, const char *what, long long a,
                  long long b)
{
    fprintf(stderr, "%s:%d: expected %s: %lld and %lld (process %d)\n", file,
            line, what, a, b, (int)getpid());
    fflush(stderr);
    _exit(1);
}

double cma_side_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* --- Opening and closing ------------------------------------------------- */

static uct_component_h find_component(void)
{
    uct_component_attr_t attr;
    uct_component_h *list, found = NULL;
    unsigned num;

    EXPECT_EQ(uct_query_components(&list, &num), UCS_OK);
    for (unsigned i = 0; i < num; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
        EXPECT_EQ(uct_component_query(list[i], &attr), UCS_OK);
        if (strcmp(attr.name, "cma") == 0) {
            found = list[i];
        }
    }
    uct_release_component_list(list);
    EXPECT_TRUE(found != NULL);
    return found;
}

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    cma_side_t *side = arg;

    ++side->failures;
    side->failed_status = status;
    return UCS_OK;
}

static void configure(uct_iface_config_t *options, const char *config)
{
    char *copy = strdup((config == NULL) ? "" : config);
    char *item, *save, *value;

    for (item = strtok_r(copy, ",", &save); item != NULL;
         item = strtok_r(NULL, ",", &save)) {
        value    = strchr(item, '=');
        *value++ = '\0';
        EXPECT_EQ(uct_config_modify(options, item, value), UCS_OK);
    }
    free(copy);
}

static void open_iface(cma_side_t *side, const char *config)
{
    uct_iface_config_t *options;
    uct_iface_params_t params;

    EXPECT_EQ(uct_md_iface_config_read(side->md, "cma", NULL, NULL, &options),
              UCS_OK);
    configure(options, config);
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                        UCT_IFACE_PARAM_FIELD_DEVICE |
                        UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                        UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG;
    params.open_mode            = UCT_IFACE_OPEN_MODE_DEVICE;
    params.mode.device.tl_name  = "cma";
    params.mode.device.dev_name = "memory";
    params.err_handler          = on_failure;
    params.err_handler_arg      = side;
    EXPECT_EQ(uct_iface_open(side->md, side->worker, &params, options,
                             &side->iface),
              UCS_OK);
    uct_config_release(options);
    uct_iface_progress_enable(side->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    EXPECT_EQ(uct_iface_query(side->iface, &side->attr), UCS_OK);
    EXPECT_TRUE(side->attr.device_addr_len <= sizeof(side->card.dev));
    EXPECT_TRUE(side->attr.iface_addr_len <= sizeof(side->card.iface));
}

void cma_side_open(cma_side_t *side, size_t length, const char *config)
{
    uct_md_config_t *options;

    memset(side, 0, sizeof(*side));
    side->component = find_component();
    EXPECT_EQ(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK,
                                       &side->async),
              UCS_OK);
    EXPECT_EQ(uct_worker_create(side->async, UCS_THREAD_MODE_SINGLE,
                                &side->worker),
              UCS_OK);
    EXPECT_EQ(uct_md_config_read(side->component, NULL, NULL, &options),
              UCS_OK);
    EXPECT_EQ(uct_md_open(side->component, "cma", options, &side->md), UCS_OK);
    uct_config_release(options);
    open_iface(side, config);

    side->length = length;
    side->memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(side->memory != MAP_FAILED);
    EXPECT_EQ(uct_md_mem_reg(side->md, side->memory, length,
                             UCT_MD_MEM_ACCESS_ALL, &side->memh),
              UCS_OK);

    side->card.memory = (uintptr_t)side->memory;
    side->card.length = length;
    EXPECT_EQ(uct_iface_get_device_address(side->iface, (void *)side->card.dev),
              UCS_OK);
    EXPECT_EQ(uct_iface_get_address(side->iface, (void *)side->card.iface),
              UCS_OK);
    EXPECT_EQ(uct_md_mkey_pack(side->md, side->memh, side->card.key), UCS_OK);
}

void cma_side_close(cma_side_t *side)
{
    EXPECT_EQ(uct_md_mem_dereg(side->md, side->memh), UCS_OK);
    uct_iface_close(side->iface);
    uct_md_close(side->md);
    uct_worker_destroy(side->worker);
    ucs_async_context_destroy(side->async);
    munmap(side->memory, side->length);
}

int cma_side_reaches(cma_side_t *side, const cma_card_t *card)
{
    return uct_iface_is_reachable(side->iface, (void *)card->dev,
                                  (void *)card->iface);
}

void cma_side_connect(cma_side_t *side, const cma_card_t *card,
                      cma_link_t *link)
{
    uct_ep_params_t params;

    link->side = side;
    link->card = *card;
    EXPECT_TRUE(cma_side_reaches(side, card));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                        UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface      = side->iface;
    params.dev_addr   = (void *)link->card.dev;
    params.iface_addr = (void *)link->card.iface;
    EXPECT_EQ(uct_ep_create(&params, &link->ep), UCS_OK);
    EXPECT_EQ(uct_rkey_unpack(side->component, link->card.key, &link->key),
              UCS_OK);
}

void cma_side_meet(cma_side_t *side, int fd, cma_link_t *link)
{
    cma_card_t card;

    cma_side_write(fd, &side->card, sizeof(side->card));
    cma_side_read(fd, &card, sizeof(card));
    cma_side_connect(side, &card, link);
}

void cma_side_part(cma_link_t *link)
{
    EXPECT_EQ(uct_rkey_release(link->side->component, &link->key), UCS_OK);
    uct_ep_destroy(link->ep);
}

/* --- Operations ---------------------------------------------------------- */

static void on_done(uct_completion_t *comp)
{
    ++((cma_wait_t *)comp)->done;
}

void cma_wait_init(cma_wait_t *wait)
{
    wait->comp = (uct_completion_t){on_done, 1, UCS_OK};
    wait->done = 0;
}

ucs_status_t cma_side_start(cma_link_t *link, int is_put, void *buffer,
                            size_t offset, size_t length, unsigned pieces,
                            cma_wait_t *wait)
{
    uint64_t remote = link->card.memory + offset;
    size_t done     = 0, part;
    uct_iov_t iov[16];

    cma_wait_init(wait);
    for (unsigned i = 0; i < pieces; ++i) {
        part   = (i + 1 == pieces) ? length - done : (length - done) / 3;
        /* With a gap of 7 bytes, so that cma cannot merge the entries */
        iov[i] = (uct_iov_t){(char *)buffer + done + i * 7, part, NULL, 0, 1};
        done += part;
    }
    return is_put ? uct_ep_put_zcopy(link->ep, iov, pieces, remote,
                                     link->key.rkey, &wait->comp) :
                    uct_ep_get_zcopy(link->ep, iov, pieces, remote,
                                     link->key.rkey, &wait->comp);
}

ucs_status_t cma_side_finish(cma_side_t *side, ucs_status_t started,
                             cma_wait_t *wait)
{
    double end     = cma_side_now() + SIDE_TIMEOUT;
    unsigned spins = 0;

    if (started != UCS_INPROGRESS) {
        EXPECT_EQ(wait->done, 0);
        return started;
    }
    while (wait->done == 0) {
        uct_worker_progress(side->worker);
        if ((++spins & 1023) == 0) {
            sched_yield();
            EXPECT_TRUE(cma_side_now() < end);
        }
    }
    EXPECT_EQ(wait->done, 1);
    return wait->comp.status;
}

ucs_status_t cma_side_copy(cma_link_t *link, int is_put, void *buffer,
                           size_t offset, size_t length, unsigned pieces)
{
    ucs_status_t status;
    cma_wait_t wait;

    status = cma_side_start(link, is_put, buffer, offset, length, pieces,
                            &wait);
    return cma_side_finish(link->side, status, &wait);
}

/* --- Processes ----------------------------------------------------------- */

int cma_side_join(pid_t pid)
{
    int status;

    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0);
}

void cma_side_write(int fd, const void *data, size_t length)
{
    EXPECT_EQ(send(fd, data, length, MSG_NOSIGNAL), length);
}

void cma_side_read(int fd, void *data, size_t length)
{
    EXPECT_EQ(recv(fd, data, length, MSG_WAITALL), length);
}

void cma_side_serve(cma_side_t *side, int fd, void *data, size_t length)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    unsigned spins    = 0;

    for (;;) {
        side->events += uct_worker_progress(side->worker);
        if ((++spins & 255) == 0) {
            if (poll(&pfd, 1, 0) != 0) {
                break;
            }
            sched_yield();
        }
    }
    cma_side_read(fd, data, length);
}
