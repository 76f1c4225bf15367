/* An HDF5 plugin, but a file driver. */
int H5PLget_plugin_type(void) { return 2; }
const void *H5PLget_plugin_info(void) { return "driver"; }
