/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preset: what is known of a runtime by its name, so that a trigger's config need not repeat it:
 * its dialect and how many wakes it bears. What the config says itself wins. Where each figure
 * comes from stands in dialects/README.md.
 */
#ifndef WAKEGATE_RELAY_PRESET_H
#define WAKEGATE_RELAY_PRESET_H

#include "dialects/dialect.h"
#include "gateway/store/store.h"

struct preset {
    const char *name; /* config: "runtime" */
    const char *dialect;
    struct pace pace;   /* per_hour 0: no limit is documented */
    int64_t timeout_ms; /* 0: the default of every target */
};

/* All of them; the last has no name. */
extern const struct preset presets[];

/* Reads the key "runtime". NULL: absent, or wrong, which stands in the report. */
const struct preset *preset_read(struct settings *settings);

/* The dialect that the config names, or else the preset's; NULL after a mistake. */
const struct dialect *preset_dialect(const struct preset *preset, struct settings *settings);

#endif
