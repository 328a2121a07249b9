/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks in the code of a program, which counter.c detects when the program
 * executes them. The instruction of a mark has no effect: it is a nop of eight
 * bytes whose displacement is the value of the mark. A region is the code that
 * runs between MARK_BEGIN and the next MARK_KEEP or MARK_DROP. */
#ifndef TEST_VM_MARKS_H
#define TEST_VM_MARKS_H

#define MARK_OPCODE 0x0f, 0x1f, 0x84, 0x00

enum {
    MARK_BEGIN = 0x55435801, /* A region begins */
    MARK_KEEP  = 0x55435802, /* The region ends; its counts are added to those
                              * of kept regions */
    MARK_DROP  = 0x55435803, /* The region ends; its counts are added to those
                              * of dropped regions */
    MARK_PRINT = 0x55435804, /* counter.c prints the counts of both kinds, and
                              * resets them */
};

#define MARK(_mark) \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0" \
                     : \
                     : "i"(_mark) \
                     : "memory")

#endif
