/* SPDX-License-Identifier: Apache-2.0 */
/* On its own because the kernel's header, which alone knows the counters, redefines the C
 * library's. */
#include "gateway/net/traffic.h"

#include <linux/in.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

bool traffic_of(int fd, struct traffic *traffic)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    unsigned unacknowledged = 0;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return false;
    ioctl(fd, SIOCOUTQ, &unacknowledged);
    traffic->in = info.tcpi_bytes_received;
    traffic->out = info.tcpi_bytes_acked + unacknowledged;
    return true;
}
