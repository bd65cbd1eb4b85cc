/* SPDX-License-Identifier: Apache-2.0 */
/* The check of descriptors: the limit of this process, which a service's may differ from. */
#include "gateway/doctor/checks.h"

void check_descriptors(struct doctor *doctor)
{
    unsigned wanted = doctor->config->front.connections, most = front_connection_limit(wanted);

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
