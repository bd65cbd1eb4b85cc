/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the files that the config was read from: itself, the secrets, the keys of the
 * store's TLS. Symbolic links are followed: what counts is the file itself. One that cannot be read
 * is a mistake of the config already. The config may be read by anybody as long as no secret stands
 * in it.
 */
#include <string.h>

#include "gateway/core/regular_file.h"
#include "gateway/doctor/checks.h"
#include "gateway/store/redis_url.h"
#include "gateway/store/store.h"

const char *file_fault(mode_t mode, bool is_secret)
{
    if (mode & S_IWOTH)
        return "may be written by everybody; take that right away (chmod o-w)";
    if (mode & S_IROTH && is_secret)
        return "holds a secret and may be read by everybody; take that right away (chmod o-r)";
    return NULL;
}

static void look_at(struct doctor *doctor, const char *name, bool is_secret)
{
    struct stat file;

    if (stat(name, &file) != 0)
        return;
    const char *fault = file_fault(file.st_mode, is_secret);
    if (fault)
        findings_add(&doctor->findings, LEVEL_WARNING, CHECK_FILE, name, "%s", fault);
    else
        findings_add(&doctor->findings, LEVEL_OK, CHECK_FILE, name,
                     is_secret ? "is not open to everybody" : "cannot be changed by everybody");
}

/* Does a secret stand in the config itself? */
static bool has_literal(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t index;

    json_object_foreach ((json_t *)(uintptr_t)value, key, member)
        if ((strcmp(key, "literal") == 0 && json_is_string(member)) || has_literal(member))
            return true;
    json_array_foreach (value, index, member)
        if (has_literal(member))
            return true;
    return false;
}

static bool holds_secret(const struct config *config)
{
    const json_t *store = json_object_get(config->root, "store");

    return has_literal(config->root) ||
           (json_is_string(store) && strchr(json_string_value(store), '@'));
}

static void look_at_store_key(struct doctor *doctor)
{
    const struct slice text = slice_from(doctor->config->store);
    struct redis_url url;

    if (store_find(text, NULL) != &store_redis || !redis_url_init(&url, text, NULL))
        return;
    if (url.key_file)
        look_at(doctor, url.key_file, true);
    redis_url_release(&url);
}

/* The report has the config first, and then the secrets. */
void check_files(struct doctor *doctor)
{
    struct slice files = buf_slice(&doctor->report->files), name;
    bool is_config = true;

    while (files.len > sizeof(struct file_version)) {
        slice_cut(slice_from_at(files, sizeof(struct file_version)), '\0', &name, &files);
        look_at(doctor, name.data, !is_config || holds_secret(doctor->config));
        is_config = false;
    }
    look_at_store_key(doctor);
}
