/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces: two can be open at once, addresses are complete, addresses and
 * attributes are constant, and opening and closing leaks no descriptors. In the
 * tables of operations, the core has filled the slots that the plugin leaves
 * empty.
 */
#include "party.h"
#include "usage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucx/transport.h>

#define FDS_MAX 1024

/* Checks that an address fills exactly `length` bytes and does not change. */
static void check_address(run_t *run, party_t *party, const char *what,
                          size_t length,
                          ucs_status_t (*get)(uct_iface_h iface, void *addr))
{
    unsigned char *first  = malloc(length + 1);
    unsigned char *second = malloc(length + 1);
    ucs_status_t status;

    if ((first == NULL) || (second == NULL)) {
        goto out;
    }
    memset(first, 0x77, length + 1);
    memset(second, 0x88, length + 1);

    check_doing(run, "getting the %s address", what);
    status = get(party->iface, first);
    if (!check_that(run, 26, status == UCS_OK, "there is no %s address: %s",
                    what, ucs_status_string(status))) {
        goto out;
    }
    get(party->iface, second);
    check_that(run, 25, (first[length] == 0x77) && (second[length] == 0x88),
               "the %s address is longer than the %zu bytes that the query "
               "tells",
               what, length);
    check_that(run, 25, !memcmp(first, second, length),
               "the %s address is not wholly written, or changes", what);
out:
    free(second);
    free(first);
}

static ucs_status_t get_device_address(uct_iface_h iface, void *addr)
{
    return uct_iface_get_device_address(iface, addr);
}

static ucs_status_t get_iface_address(uct_iface_h iface, void *addr)
{
    return uct_iface_get_address(iface, addr);
}

static void check_addresses_of(run_t *run, party_t *party)
{
    const uct_iface_attr_t *attr = party->attr;

    if (attr->device_addr_len <= PARTY_ADDRESS_MAX) {
        check_address(run, party, "device", attr->device_addr_len,
                      get_device_address);
    }
    if ((attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) &&
        (attr->iface_addr_len <= PARTY_ADDRESS_MAX)) {
        check_address(run, party, "interface", attr->iface_addr_len,
                      get_iface_address);
    }
}

/* Checks that a second query returns the same flags, limits of active messages
 * and lengths of addresses as the first. Calls the plugin's slot, because
 * uct_iface_query() returns the result that the core stored when it opened the
 * interface. */
static void check_query(run_t *run, party_t *party)
{
    ucx_iface_attr_t again = {.size = sizeof(again)};
    ucs_status_t status;

    check_doing(run, "querying the interface");
    status = party->iface->ops->query(party->iface, &again);
    check_that(run, 26, status == UCS_OK, "a second query fails: %s",
               ucs_status_string(status));
    check_that(run, 25,
               (again.base.cap.flags == party->attr->cap.flags) &&
                   (again.base.cap.event_flags ==
                    party->attr->cap.event_flags) &&
                   !memcmp(&again.base.cap.am, &party->attr->cap.am,
                           sizeof(again.base.cap.am)) &&
                   (again.base.iface_addr_len == party->attr->iface_addr_len) &&
                   (again.base.device_addr_len == party->attr->device_addr_len),
               "a second query gives another answer than the first");
}

/* Checks that the core has filled each slot of a table, because callers do not
 * test slots for NULL. A table is a size_t, followed by function pointers. */
static void check_filled(run_t *run, const char *name, const void *table,
                         size_t size)
{
    const char *slot = NULL;
    size_t at;

    for (at = sizeof(size_t); at < size; at += sizeof(slot)) {
        memcpy(&slot, (const char *)table + at, sizeof(slot));
        check_that(run, 8, slot != NULL,
                   "the core left the slot at byte %zu of "
                   "%s empty; install a core without this fault",
                   at, name);
    }
}

static void check_tables(run_t *run, party_t *party)
{
    const uct_iface_h iface = party->iface;

    check_filled(run, "ucx_md_ops_t", party->md->ops, sizeof(*party->md->ops));
    check_filled(run, "ucx_iface_ops_t", iface->ops, sizeof(*iface->ops));
    check_filled(run, "ucx_ep_ops_t", iface->ep_ops, sizeof(*iface->ep_ops));
}

static void use_both(run_t *run, party_t *first, party_t *second)
{
    check_tables(run, first);
    if (check_has_failed(run)) {
        return;
    }
    check_query(run, first);
    check_addresses_of(run, first);
    check_addresses_of(run, second);
    check_doing(run, "progressing idle interfaces");
    party_settle(first, 0.02);
    party_settle(second, 0.02);

    check_doing(run, "flushing an idle interface");
    check_that(run, 26,
               uct_iface_flush(first->iface, UCT_FLUSH_FLAG_LOCAL, NULL) ==
                   UCS_OK,
               "flush of an interface that has never sent is not UCS_OK");
    check_doing(run, "fencing an idle interface");
    uct_iface_fence(first->iface, 0);

    /* Disable and enable progress, and call progress once while it is
     * disabled */
    check_doing(run, "switching progress off and on");
    uct_iface_progress_disable(first->iface,
                               UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    uct_iface_progress(first->iface);
    uct_iface_progress_enable(first->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
}

/* Checks that all descriptors that `fds` does not mark are closed. Waits,
 * because another thread may close a descriptor a moment later. */
static void check_closed(run_t *run, const unsigned char *fds)
{
    double end = clock_now() + USAGE_PATIENCE;
    char left[200];

    do {
        usage_new_fds(fds, FDS_MAX, left, sizeof(left));
    } while ((left[0] != '\0') && (clock_now() < end) && (usleep(1000) == 0));
    check_that(run, 27, left[0] == '\0', "closing has left open:%s", left);
}

/* Opens and closes two interfaces in two rounds. The first round is a warm-up:
 * only descriptors that the second round leaves open are findings. */
void check_interface(run_t *run)
{
    static party_t first, second;
    static unsigned char fds[FDS_MAX];
    unsigned round;

    for (round = 0; round < 2; ++round) {
        usage_mark_fds(fds, FDS_MAX);
        if (!party_open(run, &first, 0)) {
            return;
        }
        if (party_open(run, &second, 24)) {
            use_both(run, &first, &second);
            party_close(&second);
        }
        party_close(&first);
    }

    check_closed(run, fds);
}
