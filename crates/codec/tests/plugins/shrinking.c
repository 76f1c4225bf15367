/* Filter 40003 "runs", described in the form without a version, and with a codec record of the older form: pairs of a
   count and a byte. */
#include "records.h"
#include <stdio.h>

static size_t run(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer) {
    const unsigned char *from = *buffer;
    size_t need = 0, done = 0;
    (void)count, (void)words;
    if (flags & DECODE) {
        for (size_t at = 0; at + 1 < len; at += 2)
            need += from[at];
    } else {
        need = 2 * len;
    }
    unsigned char *to = malloc(need + 1);
    if (to == NULL)
        return 0;
    for (size_t at = 0; at < len;) {
        if (flags & DECODE) {
            memset(to + done, from[at + 1], from[at]);
            done += from[at];
            at += 2;
        } else {
            size_t end = at;
            while (end < len && from[end] == from[at] && end - at < 255)
                end++;
            to[done++] = (unsigned char)(end - at);
            to[done++] = from[at];
            at = end;
        }
    }
    free(*buffer);
    *buffer = to;
    *room = need + 1;
    return done;
}

static int to_words(const char *json, size_t *count, unsigned **words) {
    return one_word(member(json, "level", 1), count, words);
}

static int to_json(size_t count, const unsigned *words, char **json) {
    *json = malloc(64);
    snprintf(*json, 64, "{\"id\": \"runs\", \"level\": \"%u\"}", count > 0 ? words[0] : 1);
    return 0;
}

static const struct old_filter filter = {40003, "runs of bytes", NULL, NULL, run};
static const struct short_codec codec = {1, 1, "runs", 40003, to_words, to_json};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
const void *NCZ_get_codec_info(void) { return &codec; }
