/* Values of a server's unsigned types, which netCDF-3 has only with a sign, in types of memory that hold them: ADDRESS. */
#include <netcdf.h>
#include <stdio.h>

enum { COUNT = 4 };

#define SHOW(type, suffix, format) do { \
        type x[COUNT] = {0}, one = 0, back[COUNT] = {0}; \
        const size_t start = 0, count = COUNT, at = 1; \
        const ptrdiff_t around = -1; \
        printf(" " #suffix " %d", nc_get_var_##suffix(n, v, x)); \
        for (int i = 0; i < COUNT; i++) printf(" " format, x[i]); \
        for (int turn = 0; turn < 3; turn++) printf(" %d", nc_get_var1_##suffix(n, v, &at, &one)); \
        printf(" " format, one); \
        printf(" %d", nc_get_varm_##suffix(n, v, &start, &count, NULL, &around, back + COUNT - 1)); \
        printf(" " format " " format "\n", back[0], back[COUNT - 1]); \
    } while (0)

int main(int count, char **arguments) {
    int n, many;
    if (count < 2 || nc_open(arguments[1], NC_NOWRITE, &n) || nc_inq_nvars(n, &many)) return 1;
    for (int v = 0; v < many; v++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        nc_inq_var(n, v, name, &type, NULL, NULL, NULL);
        printf("%s %d\n", name, type);
        if (type != NC_BYTE) SHOW(short, short, "%d");
        SHOW(int, int, "%d");
        SHOW(long long, longlong, "%lld");
        SHOW(unsigned, uint, "%u");
        SHOW(float, float, "%g");
        SHOW(double, double, "%.10g");
    }
    return nc_close(n);
}
