/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/config_watch.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/core/limits.h"
#include "gateway/core/log.h"
#include "gateway/core/regular_file.h"

enum {
    SETTLE_MS = 200, /* so that what is being written is whole */
    DIRECTORIES = 64,
    FILES_BYTES = 16 * 1024 * 1024
};

struct directory {
    uv_fs_event_t event;
    struct directory *next;
    char name[];
};

/* The next of the files; false: there is none. */
static bool next_file(struct slice *files, struct file_version *version, const char **name)
{
    if (files->len <= sizeof(*version))
        return false;
    memcpy(version, files->data, sizeof(*version));
    *name = files->data + sizeof(*version);
    *files = slice_from_at(*files, sizeof(*version) + strlen(*name) + 1);
    return true;
}

static bool is_changed(const struct config_watch *watch)
{
    struct slice files = buf_slice(&watch->files);
    struct file_version then;
    const char *name;

    while (next_file(&files, &then, &name)) {
        const struct file_version now = regular_file_version_now(name);
        if (!file_version_eq(&then, &now))
            return true;
    }
    return false;
}

static void stir(struct config_watch *watch)
{
    if (watch->stirred)
        return;
    watch->stirred = true;
    deadline_set(&watch->deadline, SETTLE_MS);
}

static void on_settled(struct deadline *deadline)
{
    struct config_watch *watch = CONTAINER_OF(deadline, struct config_watch, deadline);

    watch->stirred = false;
    if (is_changed(watch))
        watch->changed(watch);
}

static void on_event(uv_fs_event_t *event, const char *name, int events, int status)
{
    (void)name;
    (void)events;
    (void)status;
    stir(event->data);
}

static void free_directory(uv_handle_t *handle)
{
    free(CONTAINER_OF(handle, struct directory, event));
}

static void drop_directories(struct config_watch *watch)
{
    struct directory *directory = watch->directories;

    watch->directories = NULL;
    while (directory) {
        struct directory *next = directory->next;
        uv_close((uv_handle_t *)&directory->event, free_directory);
        directory = next;
    }
}

static struct slice directory_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    if (!slash)
        return SLICE(".");
    return (struct slice){.data = file, .len = slash == file ? 1 : (size_t)(slash - file)};
}

static void watch_directory(struct config_watch *watch, struct slice name)
{
    size_t count = 0;

    for (const struct directory *each = watch->directories; each; each = each->next, count++)
        if (slice_eq(slice_from(each->name), name))
            return;
    if (count == DIRECTORIES) {
        log_note(LOG_WARN, "unwatched", "more than %d directories; %.*s is not watched",
                 DIRECTORIES, SLICE_ARG(slice_first(name, 200)));
        return;
    }
    struct directory *directory = mem_new(sizeof(*directory) + name.len + 1);
    memcpy(directory->name, name.data, name.len);
    uv_fs_event_init(watch->loop, &directory->event);
    uv_unref((uv_handle_t *)&directory->event);
    directory->event.data = watch;
    directory->next = watch->directories;
    watch->directories = directory;
    int code = uv_fs_event_start(&directory->event, on_event, directory->name, 0);
    if (code != 0)
        log_note(LOG_WARN, "unwatched", "%s: %s", directory->name, uv_strerror(code));
}

void config_watch_open(struct config_watch *watch, uv_loop_t *loop,
                       void (*changed)(struct config_watch *watch))
{
    *watch =
        (struct config_watch){.loop = loop, .files = BUF_INIT(FILES_BYTES), .changed = changed};
    deadline_open(&watch->deadline, loop, on_settled);
}

void config_watch_follow(struct config_watch *watch, struct slice files)
{
    struct slice left;
    struct file_version version;
    const char *name;

    drop_directories(watch);
    buf_clear(&watch->files);
    buf_append(&watch->files, files);
    left = buf_slice(&watch->files);
    while (next_file(&left, &version, &name))
        watch_directory(watch, directory_of(name));
    if (is_changed(watch))
        stir(watch);
}

void config_watch_close(struct config_watch *watch)
{
    drop_directories(watch);
    deadline_close(&watch->deadline, NULL);
    buf_release(&watch->files);
}
