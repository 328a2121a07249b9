/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 17 for addresses: truncated addresses are rejected. If a bit is
 * inverted, or all bytes are random, the plugin may accept the address, but it
 * reads nothing beyond it and does not crash.
 *
 * A device address with wrong bits may name another host, so it is only passed
 * to is_reachable, which sends nothing. Interface and endpoint addresses with
 * an inverted bit are also connected to, with the intact device address, so
 * that no other host is contacted.
 */
#include "guard.h"
#include "party.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#define FLIPS_MAX 2048

typedef struct address {
    const char *what;
    unsigned char bytes[PARTY_ADDRESS_MAX];
    size_t size;
} address_t;

typedef struct address_test {
    run_t *run;
    party_t *party;
    guard_t dev_guard, iface_guard, ep_guard;
    address_t dev, iface;
} address_test_t;

/* Calls is_reachable with the first bytes of both addresses; returns its
 * result. */
static int ask(address_test_t *test, size_t dev_size, size_t iface_size)
{
    return slots_is_reachable(
        test->party->iface,
        guard_place(&test->dev_guard, test->dev.bytes, dev_size), dev_size,
        (test->iface.size == 0) ?
            NULL :
            guard_place(&test->iface_guard, test->iface.bytes, iface_size),
        iface_size, NULL, 0);
}

/* Creates an endpoint, runs progress for a moment, and destroys it. */
static ucs_status_t try_ep(address_test_t *test, size_t dev_size,
                           size_t iface_size)
{
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR |
                      UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH,
        .iface    = test->party->iface,
        .dev_addr = guard_place(&test->dev_guard, test->dev.bytes, dev_size),
        .dev_addr_length   = dev_size,
        .iface_addr        = guard_place(&test->iface_guard, test->iface.bytes,
                                         iface_size),
        .iface_addr_length = iface_size,
    };
    ucs_status_t status;

    status = uct_ep_create(&params, &test->party->ep);
    if (status == UCS_OK) {
        party_progress(test->party);
        if (test->party->ep != NULL) { /* The error handler has not destroyed
                                        * the endpoint */
            uct_ep_destroy(test->party->ep);
            test->party->ep = NULL;
        }
        party_progress(test->party);
    }
    return status;
}

static void try_cut(address_test_t *test, const address_t *cut)
{
    const int is_dev = (cut == &test->dev);
    size_t size, dev_size, iface_size;
    ucs_status_t status;

    for (size = 0; size < cut->size; ++size) {
        dev_size   = is_dev ? size : test->dev.size;
        iface_size = is_dev ? test->iface.size : size;
        check_doing(test->run,
                    "asking for %s address cut to %zu of %zu "
                    "bytes",
                    cut->what, size, cut->size);
        /* Only a truncated device address must be unreachable: a transport
         * that needs only the device address may ignore the interface
         * address */
        if (!check_that(test->run, 17,
                        !ask(test, dev_size, iface_size) || !is_dev,
                        "%s address cut to %zu of %zu bytes is reachable",
                        cut->what, size, cut->size)) {
            return;
        }
        if (!(test->party->attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
            continue;
        }

        check_doing(test->run,
                    "creating an endpoint to %s address cut to "
                    "%zu of %zu bytes",
                    cut->what, size, cut->size);
        status = try_ep(test, dev_size, iface_size);
        if (!check_that(test->run, 17, status != UCS_OK,
                        "an endpoint is created to %s address cut to %zu of "
                        "%zu bytes",
                        cut->what, size, cut->size)) {
            return;
        }
    }
}

static void try_turned(address_test_t *test, address_t *turned)
{
    const int connects = (turned == &test->iface) &&
                         (test->party->attr->cap.flags &
                          UCT_IFACE_FLAG_CONNECT_TO_IFACE);
    size_t bits = turned->size * 8, bit;
    size_t step = (bits > FLIPS_MAX) ? bits / FLIPS_MAX : 1;

    for (bit = 0; bit < bits; bit += step) {
        turned->bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        check_doing(test->run, "asking for %s address with bit %zu turned",
                    turned->what, bit);
        ask(test, test->dev.size, test->iface.size);
        if (connects) {
            check_doing(test->run,
                        "creating an endpoint to %s address with "
                        "bit %zu turned",
                        turned->what, bit);
            try_ep(test, test->dev.size, test->iface.size);
        }
        turned->bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
}

static void try_random(address_test_t *test, address_t *random)
{
    address_t good = *random;
    unsigned seed  = 7, round;
    size_t i;

    for (round = 0; round < 256; ++round) {
        for (i = 0; i < random->size; ++i) {
            random->bytes[i] = (unsigned char)rand_r(&seed);
        }
        check_doing(test->run, "asking for random bytes %u as %s address",
                    round, random->what);
        ask(test, test->dev.size, test->iface.size);
    }
    *random = good;
}

/* --- Endpoint addresses -------------------------------------------------- */

static ucs_status_t connect_once(address_test_t *test, const void *bytes,
                                 size_t size)
{
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE,
        .iface      = test->party->iface,
    };
    ucs_status_t status;
    uct_ep_h ep;

    status = uct_ep_create(&params, &ep);
    if (!check_that(test->run, 26, status == UCS_OK,
                    "no unconnected endpoint: %s", ucs_status_string(status))) {
        return UCS_OK;
    }
    status = slots_connect_to_ep(
        ep, guard_place(&test->dev_guard, test->dev.bytes, test->dev.size),
        test->dev.size, guard_place(&test->ep_guard, bytes, size), size);
    uct_ep_destroy(ep);
    return status;
}

static void try_ep_addresses(address_test_t *test)
{
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE,
        .iface      = test->party->iface,
    };
    size_t size         = test->party->attr->ep_addr_len, cut, bit;
    unsigned char *good = calloc(1, size);
    uct_ep_h ep;

    if ((good == NULL) || (uct_ep_create(&params, &ep) != UCS_OK)) {
        free(good);
        return;
    }
    if (uct_ep_get_address(ep, (uct_ep_addr_t *)good) != UCS_OK) {
        goto out;
    }

    for (cut = 0; cut < size; ++cut) {
        check_doing(test->run,
                    "connecting to an endpoint address cut to %zu "
                    "bytes",
                    cut);
        if (!check_that(test->run, 17, connect_once(test, good, cut) != UCS_OK,
                        "an endpoint address cut to %zu of %zu bytes is "
                        "connected to",
                        cut, size)) {
            goto out;
        }
    }
    for (bit = 0; (bit < size * 8) && (bit < FLIPS_MAX); ++bit) {
        check_doing(test->run,
                    "connecting to an endpoint address with bit %zu "
                    "turned",
                    bit);
        good[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        connect_once(test, good, size);
        good[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
out:
    uct_ep_destroy(ep);
    free(good);
}

/* ------------------------------------------------------------------------ */

static int take_addresses(address_test_t *test)
{
    const uct_iface_attr_t *attr = test->party->attr;

    test->dev.what   = "a device";
    test->dev.size   = attr->device_addr_len;
    test->iface.what = "an interface";
    if (attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        test->iface.size = attr->iface_addr_len;
    }
    if ((test->dev.size > PARTY_ADDRESS_MAX) ||
        (test->iface.size > PARTY_ADDRESS_MAX) ||
        (attr->ep_addr_len > PARTY_ADDRESS_MAX)) {
        check_skip(test->run, "its addresses are too long");
        return 0;
    }

    return check_that(test->run, 26,
                      uct_iface_get_device_address(
                          test->party->iface,
                          (uct_device_addr_t *)test->dev.bytes) == UCS_OK,
                      "there is no device address") &&
           ((test->iface.size == 0) ||
            check_that(test->run, 26,
                       uct_iface_get_address(test->party->iface,
                                             (uct_iface_addr_t *)
                                                 test->iface.bytes) == UCS_OK,
                       "there is no interface address"));
}

static void try_all(address_test_t *test)
{
    /* If the intact address is unreachable, rejecting truncated addresses
     * proves nothing */
    if ((run_transport(test->run)->reach & UCX_MANIFEST_REACH_SELF) &&
        !check_that(test->run, 10, ask(test, test->dev.size, test->iface.size),
                    "its own address is not reachable, though the manifest "
                    "declares it")) {
        return;
    }

    try_cut(test, &test->dev);
    try_cut(test, &test->iface);
    try_turned(test, &test->dev);
    try_turned(test, &test->iface);
    try_random(test, &test->dev);
    try_random(test, &test->iface);
    if (test->party->attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP) {
        try_ep_addresses(test);
    }
}

void check_addresses(run_t *run)
{
    static address_test_t test;
    static party_t party;

    if (!party_open(run, &party, 0)) {
        return;
    }

    test                     = (address_test_t){.run = run, .party = &party};
    party.destroy_on_failure = 1;
    if (!guard_open(&test.dev_guard, PARTY_ADDRESS_MAX) ||
        !guard_open(&test.iface_guard, PARTY_ADDRESS_MAX) ||
        !guard_open(&test.ep_guard, PARTY_ADDRESS_MAX)) {
        check_fail(run, 17, "out of memory");
    } else if (take_addresses(&test)) {
        try_all(&test);
    }
    party_close(&party);
}
