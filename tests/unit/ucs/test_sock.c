/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses become text and back, and are compared. */
#include "suite.h"

#include <arpa/inet.h>

#include "ucs/sys/sock.h"

static struct sockaddr_storage storage;

static const struct sockaddr *addr(const char *text)
{
    static struct sockaddr_storage ring[4];
    static int next;
    struct sockaddr_storage *place = &ring[next++ % 4];

    ck_assert_msg(ucs_sockaddr_parse(text, 1, place) == UCS_OK, "%s", text);
    return (struct sockaddr *)place;
}

START_TEST(text_goes_round)
{
    static const char *const same[] = {"1.2.3.4:5",      "0.0.0.0:65535",
                                       "[::1]:80",       "[2001:db8::7]:0",
                                       "[fe80::1%lo]:9", NULL};
    char text[UCS_SOCKADDR_STRING_LEN];
    int i;

    for (i = 0; same[i] != NULL; ++i) {
        ck_assert_str_eq(ucs_sockaddr_str(addr(same[i]), text, sizeof(text)),
                         same[i]);
    }
    ck_assert_str_eq(ucs_sockaddr_str(addr("1.2.3.4"), text, sizeof(text)),
                     "1.2.3.4:1");
    ck_assert_str_eq(ucs_sockaddr_str(addr("::2"), text, sizeof(text)),
                     "[::2]:1");
    ck_assert_str_eq(ucs_sockaddr_str(addr("[::2]"), text, sizeof(text)),
                     "[::2]:1");
    ck_assert_str_eq(ucs_sockaddr_str(NULL, text, sizeof(text)), "<none>");
    storage.ss_family = AF_UNIX;
    ck_assert_ptr_nonnull(strstr(ucs_sockaddr_str((struct sockaddr *)&storage,
                                                  text, sizeof(text)),
                                 "family"));
}
END_TEST

START_TEST(nonsense_is_refused)
{
    static const char *const bad[] = {
        "",
        "x",
        "1.2.3",
        "1.2.3.4:",
        "1.2.3.4:65536",
        "1.2.3.4:1x",
        "[::1",
        "[::1]x",
        "[1.2.3.4]:5",
        "::1%nosuchdevice",
        "[::1]:",
        "1.2.3.4:-1",
        "localhost:5",
        NULL,
    };
    char big[1000];
    int i;

    for (i = 0; bad[i] != NULL; ++i) {
        ck_assert_msg(ucs_sockaddr_parse(bad[i], 1, &storage) != UCS_OK, "%s",
                      bad[i]);
    }
    memset(big, '1', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    ck_assert_int_eq(ucs_sockaddr_parse(big, 1, &storage),
                     UCS_ERR_INVALID_ADDR);
}
END_TEST

START_TEST(addresses_are_ordered)
{
    ck_assert_int_eq(ucs_sockaddr_cmp(addr("1.2.3.4:5"), addr("1.2.3.4:5")), 0);
    ck_assert_int_lt(ucs_sockaddr_cmp(addr("1.2.3.4:5"), addr("1.2.3.4:6")), 0);
    ck_assert_int_eq(ucs_sockaddr_ip_cmp(addr("1.2.3.4:5"), addr("1.2.3.4:6")),
                     0);
    ck_assert_int_gt(ucs_sockaddr_cmp(addr("1.2.3.5"), addr("1.2.3.4")), 0);
    ck_assert_int_ne(ucs_sockaddr_cmp(addr("::1"), addr("127.0.0.1")), 0);
    ck_assert_int_ne(ucs_sockaddr_cmp(addr("fe80::1%lo"), addr("fe80::1")), 0);
}
END_TEST

START_TEST(properties)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    uint16_t port;
    socklen_t size;

    ck_assert(ucs_sockaddr_is_loopback(addr("127.9.9.9")));
    ck_assert(ucs_sockaddr_is_loopback(addr("::1")));
    ck_assert(ucs_sockaddr_is_loopback(addr("::ffff:127.0.0.1")));
    ck_assert(!ucs_sockaddr_is_loopback(addr("10.0.0.1")));
    ck_assert(ucs_sockaddr_is_any(addr("::")) &&
              ucs_sockaddr_is_any(addr("0.0.0.0")));
    ck_assert(!ucs_sockaddr_is_any(addr("::1")));
    ck_ok(ucs_sockaddr_set_port((struct sockaddr *)&in, 77));
    ck_ok(ucs_sockaddr_get_port((struct sockaddr *)&in, &port));
    ck_assert_uint_eq(port, 77);
    ck_ok(ucs_sockaddr_sizeof((struct sockaddr *)&in, &size));
    ck_assert(ucs_sockaddr_is_valid((struct sockaddr *)&in, size));
    ck_assert(!ucs_sockaddr_is_valid((struct sockaddr *)&in, size - 1));
    ck_assert(!ucs_sockaddr_is_valid((struct sockaddr *)&in, 1));
    ck_assert(!ucs_sockaddr_is_valid(NULL, 100));
    ck_ok(ucs_sockaddr_copy(&storage, (struct sockaddr *)&in, sizeof(in)));
    in.sin_family = 250;
    ck_assert_int_eq(ucs_sockaddr_copy(&storage, (struct sockaddr *)&in,
                                       sizeof(in)),
                     UCS_ERR_INVALID_ADDR);
}
END_TEST

SUITE_MAIN("sock", text_goes_round, nonsense_is_refused, addresses_are_ordered,
           properties)
