/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of addresses that do not overlap, in a tree whose nodes live in what
 * they stand for: putting one in or taking one out allocates nothing, so it may
 * be done in the middle of somebody's free(). Whoever shares a tree locks it.
 */
#ifndef UCT_BASE_REGION_TREE_H
#define UCT_BASE_REGION_TREE_H

#include <stdint.h>

typedef struct uct_region_node {
    uintptr_t              start;
    uintptr_t              end;       /* behind the last byte */
    struct uct_region_node *left;
    struct uct_region_node *right;
    uint32_t               weight;    /* no child is heavier than its parent */
} uct_region_node_t;

/* All zero is an empty tree. */
typedef struct uct_region_tree {
    uct_region_node_t *root;
    uint32_t          seed;
} uct_region_tree_t;

/* Some node that shares a byte with [start, end), or NULL. */
uct_region_node_t *uct_region_tree_find(const uct_region_tree_t *tree,
                                        uintptr_t start, uintptr_t end);

/* `start` and `end` of the node are set, and no other node overlaps it. */
void uct_region_tree_insert(uct_region_tree_t *tree, uct_region_node_t *node);

/* The node is in the tree. */
void uct_region_tree_remove(uct_region_tree_t *tree, uct_region_node_t *node);

#endif
