/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of domains and interfaces as JSON, for -d. The README lists the
 * members; the printer reads them.
 */
#ifndef UCX_INFO_DEVICES_H
#define UCX_INFO_DEVICES_H

#include <uct/api/uct.h>

#include "info.h"

/* Adds the attributes of a domain to `md`. */
void info_md_attr_json(const uct_md_attr_t *attr, json_t *md);

/* Returns the attributes of an interface. */
json_t *info_iface_attr_json(const uct_iface_attr_t *attr);

/* Prints these attributes as lines. */
void info_md_attr_print(const json_t *md);
void info_iface_attr_print(const json_t *capabilities);


#endif
