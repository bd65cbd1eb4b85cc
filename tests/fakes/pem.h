/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pem: certificates with their keys, made by the openssl command at the moment they are wanted.
 */
#ifndef WAKEGATE_TESTS_PEM_H
#define WAKEGATE_TESTS_PEM_H

#include "gateway/core/buf.h"
#include "gateway/net/certificate.h"

#define PEM_EC "ec -pkeyopt ec_paramgen_curve:P-256"

/* A certificate that signs itself and its key, one after the other; `key` is a kind: PEM_EC,
 * "rsa:2048". `more`: further options of `openssl req`. The caller releases it. */
struct buf pem_make(const char *key, const char *more);

/* Fails the test when it cannot be used. The caller drops it. */
struct certificate *pem_certificate(const char *key);

#endif
