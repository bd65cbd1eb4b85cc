/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *err, const char *format, ...)
{
    va_list args;

    if (!err)
        return false;
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    return false;
}

bool err_wrap(struct err *err, const char *format, ...)
{
    va_list args;
    struct err inner;

    if (!err)
        return false;
    inner = *err;
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    size_t len = strlen(err->text), room = sizeof(err->text) - len;
    int cut = (int)room - 3; /* a text that does not fit is cut */
    if (cut > 0)
        snprintf(err->text + len, room, ": %.*s", cut, inner.text);
    return false;
}
