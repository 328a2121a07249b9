#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what joins the libraries with the reference's names to the core.

    forward.py aliases MODULE PUBLIC.TXT    options for the linker of the core's
                                            library: it has each public function
                                            as NAME and as core_NAME
    forward.py forward MODULE PUBLIC.TXT    assembler: NAME jumps to core_NAME

A forward cannot go to a function of its own name, since the dynamic linker would
find the forward again: hence the second names.
"""
import sys

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by forward.py from public.txt. */
#if defined(__x86_64__)
#  include <cet.h>
.macro forward name
        .globl  \\name
        .type   \\name, @function
        .p2align 4
\\name:
        _CET_ENDBR
        jmp     *core_\\name@GOTPCREL(%rip)
        .size   \\name, . - \\name
.endm
#elif defined(__aarch64__)
.macro forward name
        .globl  \\name
        .type   \\name, %function
        .p2align 4
\\name:
        hint    #34                     /* bti c */
        adrp    x16, :got:core_\\name
        ldr     x16, [x16, :got_lo12:core_\\name]
        br      x16
        .size   \\name, . - \\name
.endm
#else
#  error forward.py knows no jump for this processor
#endif
        .section .note.GNU-stack, "", %progbits
        .text
"""


def public_functions(module, path):
    with open(path, encoding="ascii") as lines:
        names = [line.split("#")[0].strip() for line in lines]
    return [name for name in names if name.startswith(module + "_")]


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("aliases", "forward"):
        sys.exit("usage: forward.py aliases|forward MODULE PUBLIC.TXT")
    module = sys.argv[2]
    names = public_functions(module, sys.argv[3])
    if not names:
        sys.exit(f"{sys.argv[3]}: no function of {module}")
    if sys.argv[1] == "aliases":
        for name in names:
            # names/private.py has renamed the functions of all but ucp
            both = (f"core_{name}", name)
            print("--defsym=%s=%s" % (both if module == "ucp" else both[::-1]))
    else:
        print(HEAD, end="")
        for name in names:
            print(f"forward {name}")


if __name__ == "__main__":
    main()
