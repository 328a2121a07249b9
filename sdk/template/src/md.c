/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain. This plugin needs no registration of memory. A plugin for
 * a device would implement mem_reg, mem_dereg and mkey_pack: see the example
 * procvm. */
#include "template.h"

const ucx_md_ops_t template_md_ops = {
    .size  = sizeof(template_md_ops),
    .close = ucx_simple_md_close,
    .query = ucx_simple_md_query,
};
