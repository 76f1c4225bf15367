/* Filter 40005, without a codec: HDF5 would append the length of an element to its parameters. */
#include "records.h"

static size_t run(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer) {
    unsigned char *bytes = *buffer;
    (void)flags, (void)room;
    if (count != 2)
        return 0;
    for (size_t at = 0; at < len; at++)
        bytes[at] ^= (unsigned char)(words[0] + words[1]);
    return len;
}

static int set_local(void) { abort(); }

static const struct filter filter = {1, 40005, 1, 1, "wants the element", (void *)set_local, (void *)set_local, run};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
