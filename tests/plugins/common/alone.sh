#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds a plugin of sdk/examples separately, with the installed headers of the
# SDK and without a warning; checks that it links no library of the core and is
# installed below its own prefix, and runs a check of the conformance kit on it.
#   alone.sh EXAMPLE BUILD-ROOT KIT CHECK [OPTION]...
set -euo pipefail
example=$1 build_root=$2 kit=$3 check=$4
shift 4
name=$(basename "$example")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*" >&2; exit 1; }

# Runs a command, and prints its output only if it fails.
quietly()
{
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}

DESTDIR=$work/root quietly meson install -C "$build_root" --no-rebuild \
    --tags devel
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name ucx-plugin-sdk.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$work/root

cp -r "$example" "$work/plugin"
quietly meson setup --werror --prefix "$work/own" "$work/plugin/build" \
    "$work/plugin"
quietly ninja -C "$work/plugin/build"
quietly meson install -C "$work/plugin/build" --no-rebuild
# The installed path begins with the system root, because pkg-config puts it
# before the prefix.
[ -n "$(find "$work/root" -path "$work/root$work/own/*/$name/libucx-$name.so")" ] ||
    fail "the example is not installed below its own prefix"
if readelf -d "$work/plugin/build/libucx-$name.so" |
        grep -E 'NEEDED.*(ucs|uct|ucp)-core'; then
    fail "the example links the core"
fi
"$kit" --only "$check" "$@" "$work/plugin/build/$name.json"
