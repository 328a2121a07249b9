/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of domains and interfaces as JSON, for -d. The README lists the
 * members; printing reads them back.
 */
#ifndef UCX_INFO_DEVICES_H
#define UCX_INFO_DEVICES_H

#include <uct/api/uct.h>

#include "info.h"

/* What a domain can do. */
void info_md_attr_json(const uct_md_attr_t *attr, json_t *md);

/* What an interface can do. */
json_t *info_iface_attr_json(const uct_iface_attr_t *attr);

/* The same as lines. */
void info_md_attr_print(const json_t *md);
void info_iface_attr_print(const json_t *capabilities);


#endif
