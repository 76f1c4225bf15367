/* Filter 40001 "mixing": adds a number to every byte. The number is three times the visible key, plus one. */
#include "records.h"
#include <stdio.h>

static size_t run(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer) {
    unsigned char *bytes = *buffer;
    unsigned char add;
    if (count != 1 || *room < len)
        return 0;
    add = (unsigned char)words[0];
    for (size_t at = 0; at < len; at++)
        bytes[at] = (unsigned char)((flags & DECODE) ? bytes[at] - add : bytes[at] + add);
    return len;
}

static int to_words(const char *json, size_t *count, unsigned **words) {
    if (strstr(json, "\"mixing\"") == NULL)
        return -137;
    return one_word(member(json, "key", 7), count, words);
}

static int to_json(size_t count, const unsigned *words, char **json) {
    if (count != 1)
        return -137;
    *json = malloc(64);
    snprintf(*json, 64, "{\"id\": \"mixing\", \"key\": %u}", words[0] % 3 == 1 ? words[0] / 3 : words[0]);
    return 0;
}

static int complete(int file, int variable, size_t *visible_count, unsigned **visible, size_t *count, unsigned **words) {
    (void)file, (void)variable;
    /* The visible ones may be replaced as well. */
    unsigned key = (*visible)[0];
    free(*visible);
    one_word(key, visible_count, visible);
    return one_word(key * 3 + 1, count, words);
}

static int set_local(void) { abort(); }

static const struct filter filter = {1, 40001, 1, 1, "adds to every byte", NULL, (void *)set_local, run};
static const struct codec codec = {1, 1, "mixing", 40001, NULL, NULL, to_words, to_json, complete};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
const void *NCZ_get_codec_info(void) { return &codec; }
