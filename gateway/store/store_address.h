/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_address: what can be known of a store's URL without going there: is it well-formed, do the
 * files and directories that it names serve. Nothing is made, and nobody is asked.
 */
#ifndef WAKEGATE_STORE_STORE_ADDRESS_H
#define WAKEGATE_STORE_STORE_ADDRESS_H

#include "gateway/core/err.h"
#include "gateway/core/slice.h"

/* No text from here quotes a redis URL, which may hold a password. */
bool store_address_check(struct slice url, struct err *err);

#endif
