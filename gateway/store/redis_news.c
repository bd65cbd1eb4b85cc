/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_news.h"

#include <string.h>

#include "gateway/core/log.h"

static void tell(const struct redis_news *news, enum log_level level, const char *event,
                 const char *text)
{
    if (text)
        log_note(level, event, "Redis at %s%s: %s", news->place, news->name, text);
    else
        log_note(level, event, "Redis at %s%s", news->place, news->name);
}

static void tell_up(struct redis_news *news)
{
    tell(news, LOG_INFO, "store_up", NULL);
    news->down = (struct err){0};
    news->told = 0;
}

void redis_news_down(struct redis_news *news, const struct err *why)
{
    if (strcmp(news->down.text, why->text) != 0)
        tell(news, LOG_WARN, "store_down", why->text);
    news->down = *why;
}

void redis_news_ready(struct redis_news *news)
{
    if (!news->refuses)
        tell_up(news);
}

void redis_news_refused(struct redis_news *news, const struct redis_fault *fault,
                        const struct err *why, struct slice key, uint64_t now_ms)
{
    uint64_t kind = UINT64_C(1) << fault->kind;

    if (!(news->told & kind)) {
        log_begin(LOG_WARN, "store_refuses");
        log_text("place", news->place);
        log_text("text", why->text);
        log_str("key", key);
        log_end();
    }
    news->told |= kind;
    news->refused_ms = now_ms;
}

void redis_news_answered(struct redis_news *news, uint64_t now_ms)
{
    bool calm = now_ms - news->refused_ms >= REDIS_CALM_MS;

    if (news->refuses || (news->told && calm))
        tell_up(news);
    news->refuses = false;
}

void redis_news_warning(struct redis_news *news, const struct err *warning)
{
    if (warning->text[0])
        tell(news, LOG_WARN, "store_forgets", warning->text);
}
