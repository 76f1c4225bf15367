/* Records of versions to come. */
#include "records.h"

static const struct filter filter = {9, 40007, 1, 1, "later", NULL, NULL, NULL};
static const struct codec codec = {2, 1, "later", 40007, NULL, NULL, NULL, NULL, NULL};

int H5PLget_plugin_type(void) { return FILTER; }
const void *H5PLget_plugin_info(void) { return &filter; }
const void *NCZ_get_codec_info(void) { return &codec; }
