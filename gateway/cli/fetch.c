/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/fetch.h"

#include <string.h>

enum { AWAKE_MS = 60000 };

struct waiting {
    struct http_call call; /* the caller's, while it runs */
    uv_loop_t loop;
    struct turn turn;
    uv_timer_t awake; /* the loop would end when there is no more than a finished op left */
};

static void stay_awake(uv_timer_t *timer)
{
    (void)timer;
}

static void on_answer(struct op *op)
{
    struct waiting *waiting = CONTAINER_OF(op, struct waiting, call.op);

    uv_close((uv_handle_t *)&waiting->awake, NULL);
}

void fetch(const struct fetch_from *from, struct http_call *call)
{
    struct waiting waiting = {.call = *call};

    uv_loop_init(&waiting.loop);
    turn_open(&waiting.turn, &waiting.loop);
    uv_timer_init(&waiting.loop, &waiting.awake);
    uv_timer_start(&waiting.awake, stay_awake, AWAKE_MS, AWAKE_MS);
    struct http_client *client = http_client_open(&waiting.turn, from->private_too, from->ca_file);
    if (strcmp(call->method, "GET") == 0)
        http_client_get(client, &waiting.call, on_answer);
    else
        http_client_send(client, &waiting.call, on_answer);
    uv_run(&waiting.loop, UV_RUN_DEFAULT);
    http_client_close(client, NULL, NULL);
    turn_close(&waiting.turn);
    uv_run(&waiting.loop, UV_RUN_DEFAULT);
    uv_loop_close(&waiting.loop);
    *call = waiting.call;
}
