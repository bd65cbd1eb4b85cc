/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load: what the programs that put load on a server share. They are no tests: anything that is not
 * as it should be ends them with a word on why and exit code 1.
 */
#ifndef WAKEGATE_TESTS_BENCH_LOAD_H
#define WAKEGATE_TESTS_BENCH_LOAD_H

#include <netinet/in.h>
#include <stddef.h>

__attribute__((noreturn, format(printf, 1, 2))) void load_fail(const char *format, ...);

double load_now_ms(void);

/* A number from 1 to `most`. */
unsigned load_number(const char *text, unsigned long most);

/* 127.0.0.1:`port`. */
struct sockaddr_in load_server(const char *port);

/* All the descriptors that the process may have. */
void load_raise_limit(void);

/* A socket with the address 127.0.0.2 + `address`, not connected yet. It leaves no port behind. */
int load_socket(unsigned address);
void load_connect(int fd, const struct sockaddr_in *server);

/* Small next to a socket's buffer, so that all of it is taken. */
void load_send(int fd, const char *bytes, size_t len);

#endif
