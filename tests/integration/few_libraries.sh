#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The project configures where only what sdk/quickstart installs is there: no
# libfabric, rdma-core, Level Zero or check. Meson sees the pkg-config files of
# what is required, and no CMake.
#   few_libraries.sh SOURCE-ROOT
set -euo pipefail
source_root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { cat "$work/log" >&2; echo "$*" >&2; exit 1; }

mkdir "$work/pkgconfig"
for name in jansson libelf zlib; do
    file=$(pkg-config --variable=pcfiledir $name)/$name.pc
    [ ! -f "$file" ] || ln -s "$file" "$work/pkgconfig"
done
printf "[binaries]\ncmake = 'false'\n" >"$work/native.ini"

unset PKG_CONFIG_PATH
PKG_CONFIG_LIBDIR=$work/pkgconfig meson setup --native-file "$work/native.ini" \
    "$work/build" "$source_root" >"$work/log" 2>&1 || fail "meson setup failed"
for name in libfabric libibverbs level-zero check; do
    grep -q "dependency $name found: NO" "$work/log" ||
        fail "$name was not hidden"
done
