/* Filter 40002, without a codec: writes every byte as often as the parameter says. */
#include "records.h"

static size_t run(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer) {
    size_t times = count > 0 ? words[0] : 2;
    if (flags & DECODE) {
        unsigned char *bytes = *buffer;
        for (size_t at = 0; at < len / times; at++)
            bytes[at] = bytes[at * times];
        return len / times;
    }
    unsigned char *bytes = realloc(*buffer, len * times);
    if (bytes == NULL)
        return 0;
    for (size_t at = len; at-- > 0;)
        memset(bytes + at * times, bytes[at], times);
    *buffer = bytes;
    *room = len * times;
    return len * times;
}

static const struct filter filter = {1, 40002, 1, 1, "repeats bytes", NULL, NULL, run};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
