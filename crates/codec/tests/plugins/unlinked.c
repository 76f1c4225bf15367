/* Filter 40008: needs a function that is nowhere. */
#include "records.h"

int function_of_nobody(void);

static size_t run(unsigned flags, size_t count, const unsigned *words, size_t len, size_t *room, void **buffer) {
    (void)flags, (void)count, (void)words, (void)len, (void)room, (void)buffer;
    return (size_t)function_of_nobody();
}

static const struct filter filter = {1, 40008, 1, 1, "unlinked", NULL, NULL, run};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
