/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses: validation, copies, and conversion to text. */
#include "suite.h"

#include <arpa/inet.h>
#include <net/if.h>

#include "ucs/sys/sock.h"

static const char *text_of(const void *addr)
{
    static char text[UCS_SOCKADDR_STRING_LEN];

    return ucs_sockaddr_str(addr, text, sizeof(text));
}

START_TEST(ipv4_is_shown_with_its_port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(5)};

    ck_assert_int_eq(inet_pton(AF_INET, "1.2.3.4", &in.sin_addr), 1);
    ck_assert_str_eq(text_of(&in), "1.2.3.4:5");
    in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(65535)};
    ck_assert_str_eq(text_of(&in), "0.0.0.0:65535");
}
END_TEST

START_TEST(ipv6_is_shown_with_its_scope)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};

    ck_assert_int_eq(inet_pton(AF_INET6, "2001:db8::7", &in6.sin6_addr), 1);
    ck_assert_str_eq(text_of(&in6), "[2001:db8::7]:9");
    ck_assert_int_eq(inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr), 1);
    in6.sin6_scope_id = if_nametoindex("lo");
    ck_assert_uint_ne(in6.sin6_scope_id, 0);
    ck_assert_str_eq(text_of(&in6), "[fe80::1%lo]:9");
    in6.sin6_scope_id = 4000000000u; /* no network interface has this index */
    ck_assert_str_eq(text_of(&in6), "[fe80::1%4000000000]:9");
}
END_TEST

START_TEST(other_addresses_are_described)
{
    struct sockaddr addr = {.sa_family = AF_UNIX};

    ck_assert_str_eq(text_of(NULL), "<none>");
    ck_assert_ptr_nonnull(strstr(text_of(&addr), "family"));
}
END_TEST

START_TEST(only_valid_addresses_are_copied)
{
    struct sockaddr_storage storage;
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(77)};
    socklen_t size;

    ck_ok(ucs_sockaddr_sizeof((struct sockaddr *)&in, &size));
    ck_assert(ucs_sockaddr_is_valid((struct sockaddr *)&in, size));
    ck_assert(!ucs_sockaddr_is_valid((struct sockaddr *)&in, size - 1));
    ck_assert(!ucs_sockaddr_is_valid((struct sockaddr *)&in, 1));
    ck_assert(!ucs_sockaddr_is_valid(NULL, 100));
    ck_ok(ucs_sockaddr_copy(&storage, (struct sockaddr *)&in, sizeof(in)));
    ck_assert_int_eq(memcmp(&storage, &in, sizeof(in)), 0);
    in.sin_family = 250;
    ck_assert_int_eq(ucs_sockaddr_copy(&storage, (struct sockaddr *)&in,
                                       sizeof(in)),
                     UCS_ERR_INVALID_ADDR);
}
END_TEST

SUITE_MAIN("sock", ipv4_is_shown_with_its_port, ipv6_is_shown_with_its_scope,
           other_addresses_are_described, only_valid_addresses_are_copied)
