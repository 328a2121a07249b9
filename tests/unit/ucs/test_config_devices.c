/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of devices in options: ranges of names, ports, and invalid lists. */
#include "suite.h"

#include "ucs/config/config.h"

static ucs_config_allow_list_t list;

static ucs_status_t parse(const char *text, char *why)
{
    *why = '\0';
    return ucs_config_type_device_list.parse(text, &list, NULL, why);
}

static void expect_flaw(const char *text, const char *flaw)
{
    char why[UCS_CONFIG_WHY_MAX];

    ck_assert_int_eq(parse(text, why), UCS_ERR_INVALID_PARAM);
    ck_assert_msg(strstr(why, flaw) != NULL, "'%s': %s", text, why);
}

START_TEST(a_range_means_its_numbers)
{
    ck_assert(ucs_config_device_is_called("eth0", "eth[0-3]"));
    ck_assert(ucs_config_device_is_called("eth3", "eth[0-3]"));
    ck_assert(!ucs_config_device_is_called("eth4", "eth[0-3]"));
    ck_assert(!ucs_config_device_is_called("eth", "eth[0-3]"));
    ck_assert(!ucs_config_device_is_called("eth01", "eth[0-3]"));
    ck_assert(!ucs_config_device_is_called("eth1x", "eth[0-3]"));
    ck_assert(ucs_config_device_is_called("eth1x", "eth[0-3]x"));
    ck_assert(ucs_config_device_is_called("p12s3", "p[10-12]s[3-3]"));
    ck_assert(!ucs_config_device_is_called("p13s3", "p[10-12]s[3-3]"));
    ck_assert(!ucs_config_device_is_called("p99999999999999999999999s3",
                                           "p[10-12]s[3-3]"));
}
END_TEST

START_TEST(a_name_means_its_ports)
{
    ck_assert(ucs_config_device_is_called("ib_0:1", "ib_0"));
    ck_assert(ucs_config_device_is_called("ib_0:1", "ib_[0-1]"));
    ck_assert(ucs_config_device_is_called("ib_0:1", "ib_0:1"));
    ck_assert(ucs_config_device_is_called("ib_0:2", "ib_0:[1-2]"));
    ck_assert(!ucs_config_device_is_called("ib_0:2", "ib_0:1"));
    ck_assert(!ucs_config_device_is_called("ib_0", "ib_0:1"));
    ck_assert(!ucs_config_device_is_called("ib_01", "ib_0"));
    ck_assert(!ucs_config_device_is_called("ib_0", ""));
}
END_TEST

START_TEST(lists_are_read_and_printed)
{
    char why[UCS_CONFIG_WHY_MAX], text[64];

    ck_ok(parse("^eth[0-3], lo", why));
    ck_assert_int_eq(list.mode, UCS_CONFIG_ALLOW_LIST_NEGATE);
    ck_assert_uint_eq(list.array.count, 2);
    ucs_config_type_device_list.print(text, sizeof(text), &list, NULL);
    ck_assert_str_eq(text, "^eth[0-3],lo");
    ucs_config_type_device_list.release(&list, NULL);

    ck_ok(parse("all", why));
    ck_assert_int_eq(list.mode, UCS_CONFIG_ALLOW_LIST_ALLOW_ALL);
    ucs_config_type_device_list.release(&list, NULL);
    ck_ok(parse("", why));
    ck_assert_uint_eq(list.array.count, 0);
    ucs_config_type_device_list.release(&list, NULL);
}
END_TEST

START_TEST(invalid_device_names_are_explained)
{
    expect_flaw("eth[0-3", "[FIRST-LAST]");
    expect_flaw("eth0-3]", "[FIRST-LAST]");
    expect_flaw("eth[-3]", "[FIRST-LAST]");
    expect_flaw("eth[a-b]", "[FIRST-LAST]");
    expect_flaw("eth[]", "[FIRST-LAST]");
    expect_flaw("eth[0-99999999999999999999999]", "[FIRST-LAST]");
    expect_flaw("lo,eth[3-1]", "larger than the last");
    expect_flaw("lo,^eth0", "one ^ before the whole list");
    expect_flaw("!lo", "one ^ before the whole list");
    expect_flaw("lo eth0", "by commas");
    expect_flaw("all,lo", "must stand alone");
    expect_flaw("^all", "must stand alone");
}
END_TEST

SUITE_MAIN("config devices", a_range_means_its_numbers, a_name_means_its_ports,
           lists_are_read_and_printed, invalid_device_names_are_explained)
