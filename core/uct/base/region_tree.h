/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree of address ranges that do not overlap. The nodes are members of the
 * caller's structures. Therefore insertion and removal allocate nothing, so
 * that they can be called from inside malloc() or free(). The caller serializes
 * access.
 */
#ifndef UCT_BASE_REGION_TREE_H
#define UCT_BASE_REGION_TREE_H

#include <stdint.h>

typedef struct uct_region_node {
    uintptr_t start;
    uintptr_t end; /* after the last byte */
    struct uct_region_node *left;
    struct uct_region_node *right;
    uint32_t weight; /* random; not larger than that of the parent node */
} uct_region_node_t;

/* A tree. If all bytes are zero, it is empty. */
typedef struct uct_region_tree {
    uct_region_node_t *root; /* NULL: the tree is empty */
    uint32_t seed;           /* state of the generator of random weights */
} uct_region_tree_t;

/* Returns a node that overlaps [start, end), or NULL. */
uct_region_node_t *uct_region_tree_find(const uct_region_tree_t *tree,
                                        uintptr_t start, uintptr_t end);

/* Inserts a node whose `start` and `end` are set and which overlaps no other
 * node. */
void uct_region_tree_insert(uct_region_tree_t *tree, uct_region_node_t *node);

/* Removes a node, which must be in the tree. */
void uct_region_tree_remove(uct_region_tree_t *tree, uct_region_node_t *node);

#endif
