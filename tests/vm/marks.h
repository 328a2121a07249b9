/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks in the code of a program, which counter.c detects. The instruction has
 * no effect: a nop of eight bytes, whose displacement is the mark. */
#ifndef TEST_VM_MARKS_H
#define TEST_VM_MARKS_H

#define MARK_OPCODE 0x0f, 0x1f, 0x84, 0x00

enum {
    MARK_BEGIN = 0x55435801, /* A region begins */
    MARK_KEEP  = 0x55435802, /* It ends, and counts */
    MARK_DROP  = 0x55435803, /* It ends, and is counted separately */
    MARK_PRINT = 0x55435804, /* Prints the sums, and resets them */
};

#define MARK(_mark) \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0" \
                     : \
                     : "i"(_mark) \
                     : "memory")

#endif
