/* Filter 40004: refuses chunks that begin with the byte that is its parameter, after having replaced the buffer. */
#include "records.h"

static size_t run(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer) {
    unsigned char first = *(unsigned char *)*buffer;
    (void)flags;
    if (count > 0 && first == words[0]) {
        free(*buffer);
        *buffer = NULL;
        *room = 0;
        return 0;
    }
    return len;
}

static const struct filter filter = {1, 40004, 1, 1, "refuses", NULL, NULL, run};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
