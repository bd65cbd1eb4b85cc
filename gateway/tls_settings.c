/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/tls_settings.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "gateway/core/digest.h"
#include "gateway/core/regular_file.h"

enum { CHUNK_BYTES = 16 * 1024, DATE_BYTES = 32 };

static const char *const versions[] = {"1.2", "1.3", NULL};

/* Somebody may have put a key where its path belongs. */
static bool is_path(struct slice name)
{
    return name.len > 0 && (name.data[0] == '/' || name.data[0] == '.');
}

static bool read_stream(FILE *stream, struct buf *text)
{
    size_t len = 1;

    setvbuf(stream, NULL, _IONBF, 0); /* no copy that nobody wipes */
    while (len > 0) {
        char *room = buf_reserve(text, CHUNK_BYTES);
        if (!room) {
            errno = EFBIG;
            return false;
        }
        len = fread(room, 1, CHUNK_BYTES, stream);
        text->len += len;
    }
    return !ferror(stream);
}

static bool read_file(struct settings *tls, const char *key, struct slice name, struct buf *text)
{
    FILE *stream = regular_file_open(name.data);
    int why = errno;

    settings_report_file(tls->report, name.data, stream);
    errno = why;
    bool whole = stream && read_stream(stream, text);
    if (!whole)
        settings_mistake(
            tls, key, "the file%s%s cannot be read (%s); check its path and permissions",
            is_path(name) ? " " : "", is_path(name) ? name.data : "", regular_file_why(errno));
    if (stream)
        fclose(stream);
    return whole;
}

static void warn_of_readers(struct settings *tls, const char *file)
{
    struct stat facts;

    if (stat(file, &facts) == 0 && facts.st_mode & S_IRWXO)
        settings_warning(tls, "key",
                         "everybody on this machine may read it; take that right away: chmod o= %s",
                         file);
}

static void warn_of_dates(struct settings *tls, const struct certificate *certificate,
                          int64_t now_s)
{
    const time_t from = (time_t)certificate_from_s(certificate);
    const time_t until = (time_t)certificate_until_s(certificate);
    bool early = now_s<from, late = now_s> until;
    struct tm parts;
    char date[DATE_BYTES];

    if (!early && !late)
        return;
    gmtime_r(early ? &from : &until, &parts);
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &parts);
    settings_warning(tls, "certificate", "is not valid %s %s, so clients refuse it; %s",
                     early ? "before" : "any more, since", date,
                     early ? "check the clock, or name another" : "renew it");
}

static struct certificate *make(struct settings *tls, const struct buf *chain,
                                const struct buf *key, bool only_1_3)
{
    struct err err;
    struct certificate *certificate =
        certificate_new(buf_slice(chain), buf_slice(key), only_1_3, &err);

    if (!certificate)
        settings_mistake(tls, NULL,
                         "%s; name a file with the certificate and its chain, and one with its key",
                         err.text);
    return certificate;
}

struct certificate *tls_settings_read(struct settings *top, int64_t now_s)
{
    struct buf chain = BUF_INIT(TLS_SETTINGS_FILE_BYTES), key = BUF_INIT(TLS_SETTINGS_FILE_BYTES);
    struct certificate *certificate = NULL;
    char path[SETTINGS_PATH_SIZE];
    struct settings tls;

    json_t *object = settings_object(top, "tls");
    if (!object)
        return NULL;
    settings_path(top, "tls", path);
    settings_begin(&tls, top->report, path, object);
    struct slice chain_file = settings_required_string(&tls, "certificate");
    struct slice key_file = settings_required_string(&tls, "key");
    bool only_1_3 = settings_choice(&tls, "min_version", versions, 0) == 1;
    bool has_chain = chain_file.len > 0 && read_file(&tls, "certificate", chain_file, &chain);
    bool has_key = key_file.len > 0 && read_file(&tls, "key", key_file, &key);
    if (has_chain && has_key)
        certificate = make(&tls, &chain, &key, only_1_3);
    if (has_key)
        warn_of_readers(&tls, key_file.data);
    if (certificate)
        warn_of_dates(&tls, certificate, now_s);
    settings_end(&tls);
    buf_release(&chain);
    digest_wipe(key.data, key.len);
    buf_release(&key);
    return certificate;
}
