/* SPDX-License-Identifier: Apache-2.0 */
/* The check of descriptors: the limit of this process, which a service's may differ from. */
#include "gateway/doctor/checks.h"

void check_descriptors(struct doctor *doctor)
{
    const struct front_settings *front = &doctor->config->front;
    unsigned wanted = front->connections;
    unsigned most = front_connection_limit(wanted, front_descriptors(front));

    if (most < wanted)
        findings_add(&doctor->findings, LEVEL_WARNING, CHECK_DESCRIPTORS, "",
                     "max_connections is %u, and a process started here has descriptors for %u "
                     "connections; raise the hard limit (ulimit -Hn, LimitNOFILE=), or set "
                     "max_connections to %u",
                     wanted, most, most);
    else
        findings_add(&doctor->findings, LEVEL_OK, CHECK_DESCRIPTORS, "",
                     "enough for %u connections and what the relays need", wanted);
}
