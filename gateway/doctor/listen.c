/* SPDX-License-Identifier: Apache-2.0 */
/* The check of the addresses to listen on: each is free, or a gateway is there, which /livez tells,
 * or something else is. */
#include <stdlib.h>
#include <string.h>

#include "gateway/doctor/checks.h"
#include "gateway/doctor/visit.h"
#include "gateway/net/listener.h"

struct neighbour { /* who listens there already */
    struct visit visit;
    struct doctor *doctor;
    char *address;
    char url[ADDRESS_URL_SIZE];
};

static bool is_gateway(const struct visit *visit)
{
    const struct slice alive = SLICE("{\"status\":\"ok\"}");
    struct slice answer = buf_slice(&visit->answer);

    return slice_starts(answer, SLICE("HTTP/1.1 200 ")) && slice_ends(answer, alive);
}

static void on_visited(struct visit *visit)
{
    struct neighbour *neighbour = visit->context;
    struct doctor *doctor = neighbour->doctor;

    if (is_gateway(visit))
        findings_add(&doctor->findings, LEVEL_OK, CHECK_LISTEN, neighbour->address,
                     "a gateway listens there already and says that it lives");
    else
        findings_add(&doctor->findings, LEVEL_PROBLEM, CHECK_LISTEN, neighbour->address,
                     "something that is no gateway has this address; stop it, or choose another "
                     "port");
    buf_release(&visit->answer);
    free(neighbour->address);
    free(neighbour);
    doctor_end(doctor);
}

/* "http://127.0.0.1:8080", "http://[::1]:8080" or "unix:/path"; it is cut up where it stands. */
static struct stream_address parts_of(char *url)
{
    if (strncmp(url, "unix:", 5) == 0)
        return (struct stream_address){.host = url + 5, .name = "localhost"};
    char *host = strchr(url, '/') + 2, *port = strrchr(host, ':');
    *port = '\0';
    if (host[0] == '[') {
        host++;
        *strchr(host, ']') = '\0';
    }
    return (struct stream_address){.host = host, .port = port + 1, .name = "localhost"};
}

static void ask(struct doctor *doctor, struct slice text)
{
    struct neighbour *neighbour = mem_new(sizeof(*neighbour));
    union address address;

    neighbour->doctor = doctor;
    neighbour->address = mem_text(text);
    address_parse(text, &address, NULL);
    address_url(&address, "http", neighbour->url);
    neighbour->visit.to = parts_of(neighbour->url);
    neighbour->visit.ask = "/livez";
    neighbour->visit.done = on_visited;
    neighbour->visit.context = neighbour;
    doctor_begin(doctor);
    visit_start(&doctor->loop, &neighbour->visit);
}

/* `tls`: it is spoken there. */
static void look_at(struct doctor *doctor, struct slice text, bool tls)
{
    struct err err = {0};
    char *about = mem_text(text);

    switch (listener_look(text, &err)) {
    case LISTENER_FREE:
        findings_add(&doctor->findings, LEVEL_OK, CHECK_LISTEN, about, "is free");
        break;
    case LISTENER_TAKEN:
        if (tls)
            findings_add(&doctor->findings, LEVEL_WARNING, CHECK_LISTEN, about,
                         "something has this address; if it is not the gateway, which `wakegate "
                         "healthcheck` tells over TLS, stop it, or choose another port");
        else
            ask(doctor, text);
        break;
    case LISTENER_IMPOSSIBLE:
        findings_add(&doctor->findings, LEVEL_PROBLEM, CHECK_LISTEN, about,
                     "cannot be listened on: %s; choose an address of this machine, and a port or "
                     "a directory that this user may use",
                     err.text);
        break;
    }
    free(about);
}

void check_listen(struct doctor *doctor)
{
    const struct config *config = doctor->config;

    for (size_t i = 0; i < config->front.listen_count; i++)
        look_at(doctor, config->front.listen[i],
                config->front.certificate &&
                    !slice_starts(config->front.listen[i], SLICE("unix:")));
    if (config->admin.len > 0)
        look_at(doctor, config->admin, false);
}
