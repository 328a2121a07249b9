/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Length of an x86-64 instruction, for instructions at function entries and for
 * padding. Not a disassembler: unknown instructions have length 0. At a
 * function entry, patch.c then changes them only if there is no other thread.
 */
#include "ucm/internal.h"

enum {
    X86_NONE,  /* unknown */
    X86_PLAIN, /* the opcode alone */
    X86_IMM8,
    X86_IMM32,
    X86_MODRM,
    X86_MODRM_IMM8,
    X86_MODRM_IMM32,
};

/* Returns X86_*: the operands of an instruction with this one-byte opcode. */
static unsigned x86_kind(uint8_t op)
{
    if ((op < 0x40) && ((op & 7) < 4)) {
        return X86_MODRM; /* add ... cmp, registers */
    }
    if ((op < 0x40) && ((op & 7) < 6)) {
        return ((op & 7) == 4) ? X86_IMM8 : X86_IMM32;
    }
    if (((op >= 0x50) && (op < 0x60)) || (op == 0x90) || (op == 0xc3) ||
        (op == 0xcc)) {
        return X86_PLAIN; /* push, pop, nop, ret, int3 */
    }
    if (((op >= 0x70) && (op < 0x80)) || (op == 0xeb) || (op == 0x6a) ||
        (op == 0xa8) || ((op >= 0xb0) && (op < 0xb8))) {
        return X86_IMM8; /* jcc, jmp, push, test, mov */
    }
    if ((op == 0x68) || (op == 0xa9) || (op == 0xe8) || (op == 0xe9)) {
        return X86_IMM32; /* push, test, call, jmp */
    }
    if (((op >= 0x84) && (op <= 0x8b)) || (op == 0x63) || (op == 0x8d) ||
        (op == 0xff)) {
        return X86_MODRM; /* test, xchg, mov, lea, ... */
    }
    if ((op == 0x80) || (op == 0x83) || (op == 0xc0) || (op == 0xc1) ||
        (op == 0xc6) || (op == 0x6b)) {
        return X86_MODRM_IMM8;
    }
    if ((op == 0x81) || (op == 0xc7) || (op == 0x69)) {
        return X86_MODRM_IMM32;
    }
    return X86_NONE;
}

/* Length in bytes of the operand that begins with this ModRM byte, without
 * immediates. */
static unsigned x86_modrm_length(const uint8_t *modrm)
{
    unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    unsigned length = 1;

    if (mod == 3) {
        return length;
    }
    if (rm == 4) {
        ++length;
        if ((mod == 0) && ((modrm[1] & 7) == 5)) {
            length += 4;
        }
    } else if ((mod == 0) && (rm == 5)) {
        length += 4;
    }
    return length + ((mod == 1) ? 1 : (mod == 2) ? 4 : 0);
}

static int x86_is_prefix(uint8_t byte)
{
    return (byte == 0x66) || (byte == 0x2e) || (byte == 0x3e) ||
           (byte == 0x64) || (byte == 0x65) || (byte == 0xf2) || (byte == 0xf3);
}

/* Returns the length of an instruction without its prefixes, whose opcode
 * begins with 0x0f; 0 if the instruction is unknown. */
static unsigned x86_length_0f(const uint8_t *p)
{
    if (p[1] == 0x05) {
        return 2; /* syscall */
    }
    if ((p[1] >= 0x80) && (p[1] < 0x90)) {
        return 6; /* jcc */
    }
    if ((p[1] == 0x1e) || (p[1] == 0x1f) || (p[1] == 0xaf) ||
        ((p[1] >= 0xb6) && (p[1] <= 0xb7)) ||
        ((p[1] >= 0xbe) && (p[1] <= 0xbf)) ||
        ((p[1] >= 0x40) && (p[1] < 0x50))) {
        return 2 + x86_modrm_length(p + 2); /* endbr, nop, movzx, ... */
    }
    return 0;
}

unsigned ucm_x86_length(const uint8_t *code)
{
    const uint8_t *p = code;
    int short_imm    = 0; /* prefix 0x66: immediates of 32 bits have 16 bits */
    int wide         = 0; /* REX.W prefix: mov has a 64-bit immediate */
    unsigned length;

    for (; x86_is_prefix(*p); ++p) {
        short_imm |= (*p == 0x66);
        if (p - code > 6) {
            return 0;
        }
    }
    if ((*p & 0xf0) == 0x40) {
        wide = *p & 8;
        ++p;
    }
    length = (unsigned)(p - code);

    if (*p == 0x0f) {
        unsigned rest = x86_length_0f(p);

        return (rest == 0) ? 0 : length + rest;
    }
    if ((*p >= 0xb8) && (*p < 0xc0)) {
        return short_imm ? 0 : length + (wide ? 9 : 5); /* mov */
    }
    if ((*p == 0xf6) || (*p == 0xf7)) { /* test, not, neg, mul, div */
        unsigned imm = ((p[1] >> 3) & 7) > 1 ? 0 : (*p == 0xf6) ? 1 : 4;

        return short_imm ? 0 : length + 1 + x86_modrm_length(p + 1) + imm;
    }

    switch (x86_kind(*p)) {
    case X86_PLAIN:
        return length + 1;
    case X86_IMM8:
        return length + 2;
    case X86_IMM32:
        return short_imm ? 0 : length + 5;
    case X86_MODRM:
        return length + 1 + x86_modrm_length(p + 1);
    case X86_MODRM_IMM8:
        return length + 2 + x86_modrm_length(p + 1);
    case X86_MODRM_IMM32:
        return short_imm ? 0 : length + 5 + x86_modrm_length(p + 1);
    default:
        return 0;
    }
}
