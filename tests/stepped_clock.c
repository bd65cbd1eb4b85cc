/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a process whose wall clock a test sets: e2e/stepped.mjs. STEPPED_CLOCK names a
 * file that holds how many seconds it is ahead, as a 64-bit number. The steady clock is not
 * touched.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t ahead(void)
{
    static const volatile int64_t *mapped;

    if (!mapped) {
        const char *name = getenv("STEPPED_CLOCK");
        int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
        void *memory =
            fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*mapped), PROT_READ, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED)
            _exit(99);
        close(fd);
        mapped = memory;
    }
    return *mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += ahead();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    *now = (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *now)
{
    struct timespec exact;

    clock_gettime(CLOCK_REALTIME, &exact);
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
