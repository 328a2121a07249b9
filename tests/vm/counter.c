/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin of qemu: counts the instructions and system calls of programs in the
 * virtual machine, between marks in their code (marks.h). Kernel code is not
 * counted. The virtual machine must have one processor.
 *
 * Argument: out=FILE. Each MARK_PRINT appends a line with the counts since the
 * last one: instructions and system calls of the kept regions, the number of
 * these regions, and the same three numbers of the dropped regions.
 */
#include "marks.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Declarations of qemu's plugin interface (version 1), as far as necessary. */
typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*tb_translated_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*executed_t)(unsigned cpu, void *arg);

enum { INLINE_ADD = 0, NO_REGISTERS = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           tb_translated_t callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
                                                int operation, void *counter,
                                                uint64_t amount);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            executed_t callback, int registers,
                                            void *arg);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                        char **argv);

struct counts {
    uint64_t instructions, calls, regions;
};

/* Addresses with this bit belong to the kernel. */
static const uint64_t KERNEL = UINT64_C(1) << 63;

/* Counts since the machine has started, and their values at the last
 * MARK_BEGIN; sums of kept and of dropped regions */
static struct counts now, start, kept, dropped;
static FILE *out;

static void add_region(struct counts *sum)
{
    sum->instructions += now.instructions - start.instructions;
    sum->calls += now.calls - start.calls;
    ++sum->regions;
}

static void marked(unsigned cpu, void *arg)
{
    (void)cpu;
    switch ((uintptr_t)arg) {
    case MARK_BEGIN:
        start = now;
        break;
    case MARK_KEEP:
        add_region(&kept);
        break;
    case MARK_DROP:
        add_region(&dropped);
        break;
    case MARK_PRINT:
        fprintf(out, "%lu %lu %lu %lu %lu %lu\n", kept.instructions, kept.calls,
                kept.regions, dropped.instructions, dropped.calls,
                dropped.regions);
        fflush(out);
        memset(&kept, 0, sizeof(kept));
        memset(&dropped, 0, sizeof(dropped));
        break;
    }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    static const unsigned char mark[] = {MARK_OPCODE}, call[] = {0x0f, 0x05};
    size_t i, size, count = qemu_plugin_tb_n_insns(tb);
    struct qemu_plugin_insn *insn;
    const unsigned char *code;
    uint32_t value;

    (void)id;
    for (i = 0; i < count; ++i) {
        insn = qemu_plugin_tb_get_insn(tb, i);
        if (qemu_plugin_insn_vaddr(insn) & KERNEL) {
            continue;
        }
        qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD,
                                                   &now.instructions, 1);
        code = qemu_plugin_insn_data(insn);
        size = qemu_plugin_insn_size(insn);
        if ((size == sizeof(call)) && (memcmp(code, call, size) == 0)) {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD,
                                                       &now.calls, 1);
        }
        if ((size == sizeof(mark) + sizeof(value)) &&
            (memcmp(code, mark, sizeof(mark)) == 0)) {
            memcpy(&value, code + sizeof(mark), sizeof(value));
            qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, NO_REGISTERS,
                                                   (void *)(uintptr_t)value);
        }
    }
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv)
{
    int i;

    (void)info;
    for (i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            out = fopen(argv[i] + 4, "a");
        }
    }
    if (out == NULL) {
        fprintf(stderr, "counter: out=FILE is needed\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
