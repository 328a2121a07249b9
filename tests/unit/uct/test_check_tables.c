/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking layer replaces every slot of a plugin's tables (an operation,
 * that is, a function pointer) by a checking function. Exceptions are slots
 * without a rule to check, and a slot whose result the core itself passes to
 * the layer.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "uct/base/defaults.h"
#include "uct/check/internal.h"

typedef void (*slot_t)(void);

static void unchecked(void)
{
}

/* Sets all slots of a table to unchecked(), which stands for the plugin's
 * function. */
static void fill(void *table, size_t size)
{
    const slot_t slot = unchecked;
    size_t offset;

    *(size_t *)table = size;
    for (offset = sizeof(size_t); offset < size; offset += sizeof(slot)) {
        memcpy((char *)table + offset, &slot, sizeof(slot));
    }
}

/* Expects that the slots which were not replaced are those at the offsets in
 * `expected`, a list that ends with 0. */
static void expect_unchecked(const char *name, const void *table, size_t size,
                             const size_t *expected)
{
    size_t offset;
    slot_t slot;

    for (offset = sizeof(size_t); offset < size; offset += sizeof(slot)) {
        memcpy(&slot, (const char *)table + offset, sizeof(slot));
        if (slot == unchecked) {
            ck_assert_msg(*expected == offset,
                          "%s: the slot at offset %zu is not checked", name,
                          offset);
            ++expected;
        }
    }
    ck_assert_msg(*expected == 0, "%s: the slot at offset %zu is checked", name,
                  *expected);
}

START_TEST(every_slot_of_a_transport_is_checked)
{
    /* only endpoints of connection managers have these slots */
    static const size_t of_managers[] = {
        offsetof(ucx_ep_ops_t, cm_connect),
        offsetof(ucx_ep_ops_t, cm_conn_notify),
        offsetof(ucx_ep_ops_t, cm_disconnect),
        0,
    };
    ucx_iface_ops_t of_iface;
    ucx_ep_ops_t of_ep;
    uct_check_tl_t *check;

    fill(&of_iface, sizeof(of_iface));
    fill(&of_ep, sizeof(of_ep));
    ck_ok(uct_check_tl_create("all", &of_iface, &uct_default_iface_ops, &of_ep,
                              &uct_default_ep_ops, &check));
    expect_unchecked("interface", &of_iface, sizeof(of_iface), &(size_t){0});
    expect_unchecked("endpoint", &of_ep, sizeof(of_ep), of_managers);
    uct_check_tl_destroy(check);
}
END_TEST

START_TEST(every_slot_of_a_domain_is_checked)
{
    static const size_t nothing_to_check[] = {
        /* returns nothing that could be checked */
        offsetof(ucx_md_ops_t, close),
        offsetof(ucx_md_ops_t,
                 is_sockaddr_accessible), /* any result is valid */
        0,
    };
    ucx_md_ops_t of_md, *own;

    fill(&of_md, sizeof(of_md));
    ck_ok(uct_check_md_ops(&of_md, &uct_default_md_ops, &own));
    expect_unchecked("domain", &of_md, sizeof(of_md), nothing_to_check);
    free(own);
}
END_TEST

START_TEST(every_slot_of_a_manager_is_checked)
{
    static const size_t elsewhere[] = {
        /* the core calls uct_check_opened() with its result */
        offsetof(ucx_cm_ops_t, open),
        /* returns nothing that could be checked */
        offsetof(ucx_cm_ops_t, close),
        offsetof(ucx_cm_ops_t, ep_ops), /* a pointer to a table, no slot */
        0,
    };
    /* the slots that <ucx/cm.h> lists for endpoints of connection managers */
    static const size_t used[] = {
        offsetof(ucx_ep_ops_t, flush),
        offsetof(ucx_ep_ops_t, destroy),
        offsetof(ucx_ep_ops_t, query_sockaddrs),
        offsetof(ucx_ep_ops_t, cm_connect),
        offsetof(ucx_ep_ops_t, cm_conn_notify),
        offsetof(ucx_ep_ops_t, cm_disconnect),
    };
    ucx_cm_ops_t of_cm;
    ucx_ep_ops_t of_ep;
    uct_check_tl_t *check;
    slot_t slot;
    size_t i;

    fill(&of_cm, sizeof(of_cm));
    fill(&of_ep, sizeof(of_ep));
    ck_ok(uct_check_cm_create("all", &of_cm, &uct_default_cm_ops, &of_ep,
                              &uct_default_ep_ops, &check));
    expect_unchecked("manager", &of_cm, sizeof(of_cm), elsewhere);
    for (i = 0; i < sizeof(used) / sizeof(used[0]); ++i) {
        memcpy(&slot, (char *)&of_ep + used[i], sizeof(slot));
        ck_assert_msg(slot != unchecked, "the slot at offset %zu", used[i]);
    }
    uct_check_tl_destroy(check);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checking layer, tables");
    TCase *tc    = tcase_create("all");

    tcase_add_test(tc, every_slot_of_a_transport_is_checked);
    tcase_add_test(tc, every_slot_of_a_domain_is_checked);
    tcase_add_test(tc, every_slot_of_a_manager_is_checked);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
