/* Memory that stays the program's: definitions and records that it has no room for are refused. */
#include "locked_memory.h"

int main(int count, char **arguments) {
    const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5};
    const size_t rooms[] = {0, 40, 200, 1000};
    char path[4096];
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/locked_room.nc", arguments[1]);
    for (int kind = 0; kind < 3; kind++) {
        for (int room = 0; room < 4; room++) {
            int n, v, x[3] = {7, 8, 9}, dim = 0;
            size_t at = 8, many = 3, len = filled(path, modes[kind]);
            NC_memio block = {len + rooms[room], memory, NC_MEMIO_LOCKED};
            printf("kind %d, room %zu\n", kind, rooms[room]);
            // Definitions.
            SHOW(nc_open_memio(path, NC_WRITE, &block, &n));
            SHOW(nc_redef(n));
            SHOW(nc_def_var(n, "w", NC_INT, 1, &dim, &v));
            int code = nc_enddef(n);
            printf("enddef %d\n", code);
            SHOW(nc_abort(n));
            // Records.
            filled(path, modes[kind]);
            SHOW(nc_open_memio(path, NC_WRITE, &block, &n));
            for (int i = 0; i < 5; i++, at += 20) SHOW(nc_put_vara_int(n, 0, &at, &many, x));
            nc_close(n);
        }
    }
    return 0;
}
