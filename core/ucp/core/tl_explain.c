/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_tl_select_check(): log messages about entries of UCX_TLS and of the
 * lists of devices that have no effect on this machine, and about lists that
 * leave nothing to use.
 */
#include "ucp/core/tl_select.h"

#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"
#include "uct/base/words.h"

#include <string.h>

enum { MAX_WORD_TEXT = 512, MAX_LIST_TEXT = 256, MAX_CANDIDATES = 128 };

/* The variable with the list of devices of each type, and the name of the type
 * in messages; indexed by uct_device_type_t. */
static const struct {
    const char *variable;
    const char *kind;
} device_types[UCT_DEVICE_TYPE_LAST] = {
    [UCT_DEVICE_TYPE_NET]  = {"UCX_NET_DEVICES", "network"},
    [UCT_DEVICE_TYPE_SHM]  = {"UCX_SHM_DEVICES", "shared memory"},
    [UCT_DEVICE_TYPE_ACC]  = {"UCX_ACC_DEVICES", "accelerator"},
    [UCT_DEVICE_TYPE_SELF] = {"UCX_SELF_DEVICES", "loopback"},
};

/* Appends a setting, like "UCX_TLS=^a,b". */
static void append_setting(ucs_string_buffer_t *strb, const char *variable,
                           const ucs_config_allow_list_t *list)
{
    char text[MAX_LIST_TEXT];

    ucs_config_type_allow_list.print(text, sizeof(text), list, NULL);
    ucs_string_buffer_appendf(strb, "%s=%s", variable, text);
}

/* True if the transport is used by default (UCX_TLS=all), and has all of these
 * capabilities and reaches all of these kinds of peers. */
static int is_offered(const uct_component_decl_t *decl, const uct_tl_decl_t *tl,
                      uint64_t cap_flags, unsigned reach)
{
    return !decl->by_name_only && !(cap_flags & ~tl->cap_flags) &&
           !(reach & ~tl->reach);
}

/* Appends the names of transports. If `word` is not NULL: those with this name
 * or alias. Otherwise: those that are used by default, have all of these
 * capabilities and reach all of these kinds of peers. */
static void append_tls(const ucp_tl_select_t *selection, uint64_t cap_flags,
                       unsigned reach, const char *word,
                       ucs_string_buffer_t *strb)
{
    const uct_component_decl_t *decl;
    const uct_tl_decl_t *tl;
    unsigned i, j, count = 0;

    for (i = 0; i < selection->num_components; ++i) {
        decl = uct_component_decl(selection->components[i]);
        for (j = 0; j < decl->num_transports; ++j) {
            tl = &decl->transports[j];
            if ((word != NULL) ? uct_tl_decl_is_called(tl, word) :
                                 is_offered(decl, tl, cap_flags, reach)) {
                ucs_string_buffer_appendf(strb, "%s%s",
                                          (count++ == 0) ? "" : ", ", tl->name);
            }
        }
    }
}

/* True if `name` is not the name of any transport. An entry "\NAME" then
 * selects nothing, even if NAME is an alias. */
static int is_exact_flaw(const ucp_tl_select_t *selection, const char *name)
{
    const uct_component_decl_t *decl;
    unsigned i, j;

    for (i = 0; i < selection->num_components; ++i) {
        decl = uct_component_decl(selection->components[i]);
        for (j = 0; j < decl->num_transports; ++j) {
            if (!strcmp(decl->transports[j].name, name)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Explains what is wrong with an entry of UCX_TLS. Returns 0 if it is valid. */
static int explain_tl_word(const ucp_tl_select_t *selection, const char *text,
                           ucs_string_buffer_t *strb)
{
    char reason[MAX_WORD_TEXT];
    ucp_tl_word_t word;

    ucp_tl_word_read(text, &word);
    if (uct_explain_word(word.name, reason, sizeof(reason)) != UCS_OK) {
        ucs_string_buffer_appendf(strb, "%s", reason);
        return 1;
    } else if (!word.is_exact || !is_exact_flaw(selection, word.name)) {
        return 0;
    }

    ucs_string_buffer_appendf(strb,
                              "no transport has the very name \"%s\","
                              " which is an alias of ",
                              word.name);
    append_tls(selection, 0, 0, word.name, strb);
    ucs_string_buffer_appendf(strb, "; leave the \\ out");
    return 1;
}

/* Appends the names of the devices of a type to the text. Also stores the first
 * MAX_CANDIDATES of them in `candidates`, which ends with NULL, for
 * ucs_config_nearest(). Returns the number of names that are stored. */
static unsigned append_devices(const ucp_tl_select_t *selection,
                               uct_device_type_t type,
                               const char *candidates[MAX_CANDIDATES + 1],
                               ucs_string_buffer_t *strb)
{
    unsigned i, count = 0;

    for (i = 0; i < selection->num_devices; ++i) {
        if (selection->devices[i].type != type) {
            continue;
        }
        ucs_string_buffer_appendf(strb, "%s%s", (count == 0) ? "" : ", ",
                                  selection->devices[i].name);
        if (count < MAX_CANDIDATES) {
            candidates[count++] = selection->devices[i].name;
        }
    }
    candidates[count] = NULL;
    return count;
}

static int is_device_there(const ucp_tl_select_t *selection,
                           uct_device_type_t type, const char *word)
{
    unsigned i;

    for (i = 0; i < selection->num_devices; ++i) {
        if ((selection->devices[i].type == type) &&
            ucs_config_device_is_called(selection->devices[i].name, word)) {
            return 1;
        }
    }
    return 0;
}

/* Explains what is wrong with an entry of a device list. Returns 0 if it is
 * valid. */
static int explain_device_word(const ucp_tl_select_t *selection,
                               uct_device_type_t type, const char *word,
                               ucs_string_buffer_t *strb)
{
    const char *candidates[MAX_CANDIDATES + 1];
    ucs_string_buffer_t names;
    const char *nearest;

    if (is_device_there(selection, type, word)) {
        return 0;
    }

    ucs_string_buffer_init(&names);
    append_devices(selection, type, candidates, &names);
    nearest = ucs_config_nearest(word, candidates);
    ucs_string_buffer_appendf(strb, "there is no %s device \"%s\"",
                              device_types[type].kind, word);
    if (nearest != NULL) {
        ucs_string_buffer_appendf(strb, "; did you mean \"%s\"?", nearest);
    } else if (candidates[0] != NULL) {
        ucs_string_buffer_appendf(strb, ", but %s",
                                  ucs_string_buffer_cstr(&names));
    }
    ucs_string_buffer_cleanup(&names);
    return 1;
}

/* Explains that a list of devices has no effect, because no transport that
 * UCX_TLS selects has devices of this type. Returns 0 if the list has an effect
 * or is not set. */
static int explain_useless_list(const ucp_tl_select_t *selection,
                                uct_device_type_t type,
                                ucs_string_buffer_t *strb)
{
    const ucs_config_allow_list_t *list = &selection->options->devices[type];
    const ucs_config_allow_list_t *tls  = &selection->options->tls;
    const char *candidates[MAX_CANDIDATES + 1];
    ucs_string_buffer_t names;
    unsigned count;

    if ((list->mode != UCS_CONFIG_ALLOW_LIST_ALLOW) ||
        (list->array.count == 0)) {
        return 0;
    }

    ucs_string_buffer_init(&names);
    count = append_devices(selection, type, candidates, &names);
    ucs_string_buffer_cleanup(&names);
    if (count > 0) {
        return 0;
    }

    append_setting(strb, device_types[type].variable, list);
    ucs_string_buffer_appendf(strb, " has no effect: ");
    if (tls->mode == UCS_CONFIG_ALLOW_LIST_ALLOW_ALL) {
        ucs_string_buffer_appendf(strb, "no transport here uses %s devices",
                                  device_types[type].kind);
    } else {
        append_setting(strb, "UCX_TLS", tls);
        ucs_string_buffer_appendf(strb,
                                  " allows no transport that uses %s"
                                  " devices",
                                  device_types[type].kind);
    }
    return 1;
}

/* ---- result ---- */

/* Called with each explanation. `variable`: the name of the variable with the
 * invalid entry. NULL if the explanation is a consequence of UCX_TLS, and no
 * entry of the list itself is invalid. */
typedef void (*explain_cb_t)(const char *variable, const char *text, void *arg);

static void explain_words(const ucp_tl_select_t *selection, explain_cb_t report,
                          void *arg)
{
    const ucs_config_names_array_t *words = &selection->options->tls.array;
    ucs_string_buffer_t strb;
    unsigned type, i;

    ucs_string_buffer_init(&strb);
    for (i = 0; i < words->count; ++i) {
        ucs_string_buffer_reset(&strb);
        if (explain_tl_word(selection, words->names[i], &strb)) {
            report("UCX_TLS", ucs_string_buffer_cstr(&strb), arg);
        }
    }

    for (type = 0; type < UCT_DEVICE_TYPE_LAST; ++type) {
        ucs_string_buffer_reset(&strb);
        if (explain_useless_list(selection, (uct_device_type_t)type, &strb)) {
            report(NULL, ucs_string_buffer_cstr(&strb), arg);
            continue;
        }
        words = &selection->options->devices[type].array;
        for (i = 0; i < words->count; ++i) {
            ucs_string_buffer_reset(&strb);
            if (explain_device_word(selection, (uct_device_type_t)type,
                                    words->names[i], &strb)) {
                report(device_types[type].variable,
                       ucs_string_buffer_cstr(&strb), arg);
            }
        }
    }
    ucs_string_buffer_cleanup(&strb);
}

static void warn_of(const char *variable, const char *text, void *arg)
{
    ucs_warn("%s%s%s", (variable == NULL) ? "" : variable,
             (variable == NULL) ? "" : ": ", text);
}

static void add_reason(const char *variable, const char *text, void *arg)
{
    ucs_string_buffer_t *strb = arg;

    if (variable == NULL) {
        /* A consequence of other lists, which have their own explanations */
        return;
    }
    ucs_string_buffer_appendf(strb, "%s%s",
                              (ucs_string_buffer_length(strb) == 0) ? "" : "; ",
                              text);
}

/* Appends all lists that the user has set and a verb: "UCX_TLS=a and
 * UCX_NET_DEVICES=b leave". */
static void append_settings(const ucp_tl_select_t *selection,
                            ucs_string_buffer_t *strb)
{
    const ucs_config_allow_list_t *list = &selection->options->tls;
    unsigned type, count = 0;

    if (list->mode != UCS_CONFIG_ALLOW_LIST_ALLOW_ALL) {
        append_setting(strb, "UCX_TLS", list);
        ++count;
    }
    for (type = 0; type < UCT_DEVICE_TYPE_LAST; ++type) {
        list = &selection->options->devices[type];
        if (list->mode != UCS_CONFIG_ALLOW_LIST_ALLOW_ALL) {
            ucs_string_buffer_appendf(strb, "%s", (count++ > 0) ? " and " : "");
            append_setting(strb, device_types[type].variable, list);
        }
    }
    ucs_string_buffer_appendf(strb, (count == 0) ? "all there is leaves" :
                                    (count == 1) ? " leaves" :
                                                   " leave");
}

/* Appends the reason why nothing is selected although every entry is valid. */
static void append_exclusion(const ucp_tl_select_t *selection,
                             ucs_string_buffer_t *strb)
{
    unsigned i;

    if (selection->num_auxiliary > 0) {
        ucs_string_buffer_appendf(strb, ":aux is for connecting others, and"
                                        " there are none");
        return;
    }
    if ((selection->num_devices == 0) &&
        (selection->options->tls.mode == UCS_CONFIG_ALLOW_LIST_ALLOW)) {
        ucs_string_buffer_appendf(strb, "they find no device on this machine");
        return;
    }

    for (i = 0; i < selection->num_devices; ++i) {
        if (!ucp_tl_select_is_allowed(
                &selection->options->devices[selection->devices[i].type],
                selection->devices[i].name)) {
            ucs_string_buffer_appendf(strb, "the devices of the transports are"
                                            " excluded");
            return;
        }
    }
    ucs_string_buffer_appendf(strb, "there are only ");
    append_tls(selection, 0, 0, NULL, strb);
}

static void report_nothing_left(const ucp_tl_select_t *selection)
{
    ucs_string_buffer_t settings, why;

    ucs_string_buffer_init(&settings);
    ucs_string_buffer_init(&why);
    append_settings(selection, &settings);
    explain_words(selection, add_reason, &why);
    if (ucs_string_buffer_length(&why) == 0) {
        append_exclusion(selection, &why);
    }
    ucs_error("%s no transport to use: %s", ucs_string_buffer_cstr(&settings),
              ucs_string_buffer_cstr(&why));
    ucs_string_buffer_cleanup(&why);
    ucs_string_buffer_cleanup(&settings);
}

/* Warns that no selected transport carries messages: endpoints need one that
 * does. */
static void warn_no_messages(const ucp_tl_select_t *selection)
{
    ucs_string_buffer_t strb;

    ucs_string_buffer_init(&strb);
    append_setting(&strb, "UCX_TLS", &selection->options->tls);
    ucs_string_buffer_appendf(&strb,
                              " allows no transport that carries"
                              " messages, which every endpoint needs; add one"
                              " of ");
    append_tls(selection, UCT_IFACE_FLAG_AM_BCOPY, UCT_TL_REACH_NODE, NULL,
               &strb);
    ucs_warn("%s", ucs_string_buffer_cstr(&strb));
    ucs_string_buffer_cleanup(&strb);
}

UCS_F_COLD ucs_status_t ucp_tl_select_check(const ucp_tl_select_t *selection)
{
    if (selection->num_selected == 0) {
        report_nothing_left(selection);
        return UCS_ERR_NO_DEVICE;
    }

    if (selection->options->warn_invalid_config) {
        explain_words(selection, warn_of, NULL);
        if (selection->num_messaging == 0) {
            warn_no_messages(selection);
        }
    }
    return UCS_OK;
}
