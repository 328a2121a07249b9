/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A treap of address ranges: ordered by address like a search tree, and by
 * random weights like a heap. The weights keep the expected depth logarithmic.
 */
#include "uct/base/region_tree.h"

#include <stddef.h>

uct_region_node_t *uct_region_tree_find(const uct_region_tree_t *tree,
                                        uintptr_t start, uintptr_t end)
{
    uct_region_node_t *node = tree->root;

    while (node != NULL) {
        if (end <= node->start) {
            node = node->left;
        } else if (start >= node->end) {
            node = node->right;
        } else {
            return node;
        }
    }
    return NULL;
}

/* Splits a tree into two: *low receives the nodes that begin below `start`,
 * *high the others. */
static void region_split(uct_region_node_t *node, uintptr_t start,
                         uct_region_node_t **low, uct_region_node_t **high)
{
    while (node != NULL) {
        if (node->start < start) {
            *low = node;
            low  = &node->right;
            node = node->right;
        } else {
            *high = node;
            high  = &node->left;
            node  = node->left;
        }
    }
    *low  = NULL;
    *high = NULL;
}

/* Joins two trees and returns the root. All addresses in `low` must be below
 * all addresses in `high`. */
static uct_region_node_t *region_join(uct_region_node_t *low,
                                      uct_region_node_t *high)
{
    uct_region_node_t *root   = NULL;
    uct_region_node_t **place = &root;

    while ((low != NULL) && (high != NULL)) {
        if (low->weight >= high->weight) {
            *place = low;
            place  = &low->right;
            low    = low->right;
        } else {
            *place = high;
            place  = &high->left;
            high   = high->left;
        }
    }
    *place = (low != NULL) ? low : high;
    return root;
}

void uct_region_tree_insert(uct_region_tree_t *tree, uct_region_node_t *node)
{
    uct_region_node_t **place = &tree->root;

    tree->seed   = (tree->seed * 1664525u) + 1013904223u;
    node->weight = tree->seed ^ (tree->seed >> 16);

    while ((*place != NULL) && ((*place)->weight >= node->weight)) {
        place = (node->start < (*place)->start) ? &(*place)->left :
                                                  &(*place)->right;
    }
    region_split(*place, node->start, &node->left, &node->right);
    *place = node;
}

void uct_region_tree_remove(uct_region_tree_t *tree, uct_region_node_t *node)
{
    uct_region_node_t **place = &tree->root;

    while (*place != node) {
        place = (node->start < (*place)->start) ? &(*place)->left :
                                                  &(*place)->right;
    }
    *place = region_join(node->left, node->right);
}
