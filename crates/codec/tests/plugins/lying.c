/* Filter 40006: says that it wrote more than there is room for. */
#include "records.h"

static size_t run(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer) {
    (void)flags, (void)count, (void)words, (void)buffer;
    return *room + len + 1;
}

static const struct filter filter = {1, 40006, 1, 1, "lies", NULL, NULL, run};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
