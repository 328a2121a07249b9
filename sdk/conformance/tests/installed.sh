#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The kit builds from its own files and the installed headers and libraries, and
# runs with them.
#   installed.sh KIT BUILD-ROOT MANIFEST COMPILER...
set -euo pipefail
kit=$1 build_root=$2 manifest=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/root meson install -C "$build_root" --no-rebuild \
    --tags devel,runtime >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name ucx-plugin-sdk.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$work/root
read -ra flags < <(pkg-config --cflags --libs ucx-plugin-sdk uct-core jansson \
    libelf)
libraries=$(dirname "$PKG_CONFIG_PATH")

# Build copies outside of the source tree: no folder above belongs to this project.
cp "$kit"/*.[ch] "$work"
"$@" -std=gnu11 -D_GNU_SOURCE -Wall -Werror -o "$work/ucx-plugin-check" \
    "$work"/*.c "${flags[@]}" -Wl,-rpath-link,"$libraries" -pthread -ldl -lm
LD_LIBRARY_PATH=$libraries "$work/ucx-plugin-check" --only manifest \
    --only library --only descriptor --only interface "$manifest"
