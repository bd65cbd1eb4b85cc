/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/pem.h"

#include <stdio.h>

#include "tests/check.h"

struct buf pem_make(const char *key, const char *more)
{
    struct buf pem = BUF_INIT(64 * 1024);
    char command[512];
    size_t len = 1;

    snprintf(command, sizeof(command),
             "openssl req -x509 -newkey %s -nodes -days 2 -subj /CN=localhost "
             "-addext subjectAltName=DNS:localhost -keyout /dev/stdout -out /dev/stdout %s "
             "2>/dev/null",
             key, more);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    while (len > 0) {
        char *room = buf_reserve(&pem, 4096);
        assert_non_null(room);
        len = fread(room, 1, 4096, output);
        pem.len += len;
    }
    assert_int_equal(pclose(output), 0);
    return pem;
}

struct certificate *pem_certificate(const char *key)
{
    struct buf pem = pem_make(key, "");
    struct err err = {""};
    struct certificate *certificate =
        certificate_new(buf_slice(&pem), buf_slice(&pem), false, &err);

    if (!certificate)
        fail_msg("%s", err.text);
    buf_release(&pem);
    return certificate;
}
