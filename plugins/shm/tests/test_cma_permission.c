/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma where the kernel does not permit copies: no domain or no peer is found,
 * and nothing is logged. If only one of two processes may access the memory of
 * the other, that one copies everything.
 */
#include "cma_fault.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cma_side.h"
#include "suite.h"

#define NOBODY 65534

/* Makes process_vm_readv() and process_vm_writev() fail with EPERM in this
 * process from now on, as in many containers. */
static void forbid_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {
        .len    = sizeof(filter) / sizeof(filter[0]),
        .filter = filter,
    };

    EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void finds_no_domain(void *arg, int fd)
{
    uct_component_attr_t attr;
    uct_component_h *list;
    unsigned num;

    forbid_calls();
    EXPECT_EQ(uct_query_components(&list, &num), UCS_OK);
    for (unsigned i = 0; i < num; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME |
                          UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
        EXPECT_EQ(uct_component_query(list[i], &attr), UCS_OK);
        if (strcmp(attr.name, "cma") == 0) {
            EXPECT_EQ(attr.md_resource_count, 0);
        }
    }
    uct_release_component_list(list);
}

START_TEST(no_domain_where_the_calls_are_forbidden)
{
    cma_fault_run_quietly(finds_no_domain);
}
END_TEST

/* The system calls are permitted when the interface is opened, but not when it
 * is to reach its peer. */
static void reaches_nobody(void *arg, int unused)
{
    cma_side_t side;
    cma_card_t card;
    pid_t pid;
    int fd;

    pid = child_start(cma_fault_serve, NULL, &fd);
    cma_side_read(fd, &card, sizeof(card));
    cma_side_open(&side, 4096, NULL);
    EXPECT_TRUE(cma_side_reaches(&side, &card));
    forbid_calls();
    EXPECT_TRUE(!cma_side_reaches(&side, &card));
    cma_side_close(&side);
    kill(pid, SIGKILL);
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

START_TEST(no_peer_where_the_calls_are_forbidden)
{
    cma_fault_run_quietly(reaches_nobody);
}
END_TEST

static void drops_its_rights(void *arg, int fd)
{
    const cma_card_t *card = arg;
    cma_side_t side;

    cma_side_open(&side, 4096, NULL);
    EXPECT_TRUE(cma_side_reaches(&side, card));
    EXPECT_EQ(setuid(NOBODY), 0);
    EXPECT_TRUE(!cma_side_reaches(&side, card));
    cma_side_close(&side);
}

/* The target runs as root. Another process reaches the target only until that
 * process becomes an ordinary user. */
static void becomes_nobody(void *arg, int unused)
{
    pid_t target, pid;
    cma_card_t card;
    int fd, fd2;

    target = child_start(cma_fault_serve, NULL, &fd);
    cma_side_read(fd, &card, sizeof(card));
    pid = child_start(drops_its_rights, &card, &fd2);
    EXPECT_TRUE(cma_side_join(pid));
    kill(target, SIGKILL);
    EXPECT_EQ(waitpid(target, NULL, 0), target);
}

START_TEST(no_peer_without_permission)
{
    if (geteuid() != 0) {
        fprintf(stderr, "left out, needs root: %s\n", __func__);
        return;
    }
    cma_fault_run_quietly(becomes_nobody);
}
END_TEST

/* Body of a target that becomes an ordinary user. It may not access the memory
 * of the initiator, which runs as root, so it cannot help. */
static void serves_as_nobody(void *arg, int fd)
{
    cma_side_t side;
    cma_link_t link;
    char byte;

    cma_side_open(&side, WINDOW, NULL);
    memset(side.memory, 0x11, WINDOW);
    cma_side_meet(&side, fd, &link);
    EXPECT_EQ(setuid(NOBODY), 0);
    cma_side_write(fd, "b", 1);
    cma_side_serve(&side, fd, &byte, 1);
    for (size_t i = 0; i < WINDOW; ++i) {
        EXPECT_EQ(side.memory[i], 0x22);
    }
    cma_side_part(&link);
    cma_side_close(&side);
}

static void meets_nobody(void *arg, int unused)
{
    cma_side_t side;
    cma_link_t link;
    pid_t pid;
    char byte;
    int fd;

    pid = child_start(serves_as_nobody, NULL, &fd);
    cma_side_open(&side, WINDOW, NULL);
    cma_side_meet(&side, fd, &link);
    cma_side_read(fd, &byte, 1);
    for (unsigned i = 0; i < 5; ++i) {
        memset(side.memory, 0, WINDOW);
        EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, WINDOW, 1), UCS_OK);
        for (size_t j = 0; j < WINDOW; ++j) {
            EXPECT_EQ(side.memory[j], 0x11);
        }
    }
    memset(side.memory, 0x22, WINDOW);
    EXPECT_EQ(cma_side_copy(&link, 1, side.memory, 0, WINDOW, 1), UCS_OK);
    cma_side_write(fd, "q", 1);
    EXPECT_TRUE(cma_side_join(pid));
    cma_side_part(&link);
    cma_side_close(&side);
}

START_TEST(one_sided_permission_is_enough)
{
    if (geteuid() != 0) {
        fprintf(stderr, "left out, needs root: %s\n", __func__);
        return;
    }
    cma_fault_run_quietly(meets_nobody);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        no_domain_where_the_calls_are_forbidden,
        no_peer_where_the_calls_are_forbidden,
        no_peer_without_permission,
        one_sided_permission_is_enough,
    };

    return suite_run("cma permission", tests, sizeof(tests) / sizeof(tests[0]),
                     CK_FORK);
}
