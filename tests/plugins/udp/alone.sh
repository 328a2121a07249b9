#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# sdk/examples/udp builds alone, without a warning, with the installed headers of
# the SDK; it links nothing of the core, and carries messages.
#   alone.sh EXAMPLE BUILD-ROOT KIT
set -euo pipefail
example=$1 build_root=$2 kit=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*" >&2; exit 1; }

# Runs a command quietly; shows what it said only if it fails.
quietly()
{
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}

DESTDIR=$work/root quietly meson install -C "$build_root" --no-rebuild \
    --tags devel
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name ucx-plugin-sdk.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$work/root

cp -r "$example" "$work/udp"
quietly meson setup --werror "$work/udp/build" "$work/udp"
quietly ninja -C "$work/udp/build"
if readelf -d "$work/udp/build/libucx-udp.so" |
        grep -E 'NEEDED.*(ucs|uct|ucp)-core'; then
    fail "the example links the core"
fi
"$kit" --only messages --device lo "$work/udp/build/udp.json"
