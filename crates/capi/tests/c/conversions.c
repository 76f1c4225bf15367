/* Every external type with every type of memory at the limits of all: the code of each call, and the bytes that are in the file, or in
   memory, after it. The first column is the kind of file and its filling, the second the call; then types and value. */
#include <float.h>
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024, WIDEST = 8 };

typedef struct {
    const char *name;
    nc_type native;
    size_t size;
    size_t (*values)(void *);
    long double (*value)(const void *);
    int (*put_var1)(int, int, const size_t *, const void *);
    int (*get_var1)(int, int, const size_t *, void *);
    int (*put_vara)(int, int, const size_t *, const size_t *, const void *);
    int (*get_vara)(int, int, const size_t *, const size_t *, void *);
    int (*put_att)(int, int, const char *, nc_type, size_t, const void *);
    int (*get_att)(int, int, const char *, void *);
} Memory;

/* Values that are limits for some type, or lie beside one. */
static size_t candidates(long double *out) {
    static const long double limits[] = {-0x1p63L, -0x1p31L, -0x1p15L, -0x1p7L, 0, 0x1p7L, 0x1p8L, 0x1p15L, 0x1p16L, 0x1p31L, 0x1p32L, 0x1p63L, 0x1p64L};
    static const long double others[] = {0.5L, 1.5L, 0.99L, 126.5L, 127.5L, 128.5L, 255.5L, 32767.5L, 65535.5L, 2147483647.5L, 4294967295.5L, 42, 100, 1e10L, 1e20L, 1e300L, FLT_MIN, DBL_MIN, 0x1p-149L, 0x1p-1074L, FLT_MAX, DBL_MAX, (long double)NC_FILL_DOUBLE, 32767, 2147483647, (long double)FLT_MAX * 1.00000001L};
    size_t n = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int by = -2; by <= 2; by++) out[n++] = limits[i] + by;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        out[n++] = others[i];
        out[n++] = -others[i];
    }
    out[n++] = -0.0L;
    out[n++] = NAN;
    out[n++] = INFINITY;
    out[n++] = -INFINITY;
    return n;
}

/* The candidates that a type has, and for floating-point types their neighbours, each once. */
#define VALUES_OF(name, type, is_float, beside)                                                     \
    static size_t values_##name(void *place) {                                                      \
        long double all[MOST];                                                                      \
        size_t n = 0, count = candidates(all);                                                      \
        type *out = place;                                                                          \
        for (size_t i = 0; i < count * 3; i++) {                                                    \
            long double one = all[i / 3];                                                           \
            int is_finite = isfinite(one);                                                          \
            type value = 0;                                                                         \
            if (is_float) {                                                                         \
                value = (type)one;                                                                  \
                if (is_finite && !isfinite((long double)value)) continue;                           \
                if (i % 3) value = (type)beside(value, (type)(i % 3 == 1 ? INFINITY : -INFINITY));  \
            } else {                                                                                \
                int is_signed = (type)-1 < (type)1;                                                 \
                long double past = ldexpl(1, 8 * (int)sizeof(type) - is_signed);                    \
                if (!is_finite || one >= past || one < (is_signed ? -past : 0) || one != truncl(one) || i % 3) continue; \
                value = (type)one;                                                                  \
            }                                                                                       \
            size_t at = 0;                                                                          \
            while (at < n && memcmp(out + at, &value, sizeof value)) at++;                          \
            if (at == n) out[n++] = value;                                                          \
        }                                                                                           \
        return n;                                                                                   \
    }                                                                                               \
    static long double value_##name(const void *place) { return (long double)*(const type *)place; }
#define NO_NEIGHBOUR(value, towards) (value)

#define CALLS_OF(name, type)                                                                                                             \
    static int put_var1_##name(int n, int v, const size_t *s, const void *p) { return nc_put_var1_##name(n, v, s, (type *)p); }          \
    static int get_var1_##name(int n, int v, const size_t *s, void *p) { return nc_get_var1_##name(n, v, s, p); }                        \
    static int put_vara_##name(int n, int v, const size_t *s, const size_t *c, const void *p) { return nc_put_vara_##name(n, v, s, c, (type *)p); } \
    static int get_vara_##name(int n, int v, const size_t *s, const size_t *c, void *p) { return nc_get_vara_##name(n, v, s, c, p); }    \
    static int get_att_##name(int n, int v, const char *a, void *p) { return nc_get_att_##name(n, v, a, p); }
#define PUT_ATT_OF(name) \
    static int put_att_##name(int n, int v, const char *a, nc_type t, size_t len, const void *p) { return nc_put_att_##name(n, v, a, t, len, p); }

#define INTEGERS(X) X(schar, signed char, NC_BYTE) X(uchar, unsigned char, NC_UBYTE) X(short, short, NC_SHORT) X(ushort, unsigned short, NC_USHORT) \
    X(int, int, NC_INT) X(uint, unsigned int, NC_UINT) X(long, long, NC_INT64) X(longlong, long long, NC_INT64) X(ulonglong, unsigned long long, NC_UINT64) X(ubyte, unsigned char, NC_UBYTE)
#define INTEGER(name, type, native) VALUES_OF(name, type, 0, NO_NEIGHBOUR) CALLS_OF(name, type) PUT_ATT_OF(name)
INTEGERS(INTEGER)
VALUES_OF(float, float, 1, nextafterf)
VALUES_OF(double, double, 1, nextafter)
CALLS_OF(float, float)
CALLS_OF(double, double)
PUT_ATT_OF(float)
PUT_ATT_OF(double)

/* Texts have no type to be converted to. */
VALUES_OF(text, char, 0, NO_NEIGHBOUR)
CALLS_OF(text, char)
static int put_att_text(int n, int v, const char *a, nc_type t, size_t len, const void *p) { return (void)t, nc_put_att_text(n, v, a, len, p); }
static char *texts[] = {"", "a", "77"};
static size_t values_string(void *place) { return memcpy(place, texts, sizeof texts), 3; }
static long double value_string(const void *place) { return strlen(*(char *const *)place); }
CALLS_OF(string, const char *)
static int put_att_string(int n, int v, const char *a, nc_type t, size_t len, const void *p) { return (void)t, nc_put_att_string(n, v, a, len, (const char **)p); }

#define ROW(name, type, native) {#name, native, sizeof(type), values_##name, value_##name, put_var1_##name, get_var1_##name, put_vara_##name, get_vara_##name, put_att_##name, get_att_##name},
static const Memory memories[] = {INTEGERS(ROW) ROW(float, float, NC_FLOAT) ROW(double, double, NC_DOUBLE) ROW(text, char, NC_CHAR) ROW(string, char *, NC_STRING)};
enum { MEMORIES = sizeof memories / sizeof *memories };

static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
static const char *const kinds[] = {"classic", "64-bit-offset", "cdf5", "netcdf4", "netcdf4-classic"};
static const char *const fillings[] = {"filled", "unfilled", "own-fill"};
static const char *const types[] = {"", "byte", "char", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64", "uint64", "string"};

/* What says which conversion it is. */
static char where[64];
static char line_start[256];
static void begin(const char *call, nc_type external, const Memory *memory) {
    snprintf(line_start, sizeof line_start, "%s %s %s %s", where, call, types[external], memory->name);
}

/* Addresses are not told, but what is there. */
static void tell_bytes(nc_type type, const unsigned char *bytes, size_t size) {
    if (type == NC_STRING) {
        char *text, *untouched;
        memcpy(&text, bytes, sizeof text);
        memset(&untouched, 0x5a, sizeof untouched);
        printf(" [%s]", text == untouched ? "untouched" : text ? text : "null");
        return;
    }
    putchar(' ');
    for (size_t i = size; i-- > 0;) printf("%02x", bytes[i]);
}

static unsigned long long sum_of(const unsigned char *bytes, size_t len) {
    unsigned long long sum = 14695981039346656037ULL;
    for (size_t i = 0; i < len; i++) sum = (sum ^ bytes[i]) * 1099511628211ULL;
    return sum;
}

static unsigned char given[MOST * WIDEST], found[MOST * WIDEST];

/* Sizes of external types are those of the memory that has them. */
static const Memory *native_of(nc_type type) {
    for (int m = 0; m < MEMORIES; m++)
        if (memories[m].native == type) return memories + m;
    exit(3);
}

static void put_values(int ncid, int varid, nc_type external, const Memory *memory) {
    size_t n = memory->values(given), zero = 0, size = native_of(external)->size;
    begin("put", external, memory);
    for (size_t at = 0; at < n; at++) {
        int code = memory->put_var1(ncid, varid, &at, given + at * memory->size);
        memset(found, 0x5a, size);
        int read = nc_get_var1(ncid, varid, &at, found);
        printf("%s %.20Lg: %d %d", line_start, memory->value(given + at * memory->size), code, read);
        tell_bytes(external, found, size);
        putchar('\n');
    }
    int code = memory->put_vara(ncid, varid, &zero, &n, given);
    memset(found, 0x5a, n * size);
    printf("%s all: %d", line_start, code);
    printf(" %d", nc_get_vara(ncid, varid, &zero, &n, found));
    // Strings are addresses.
    if (external != NC_STRING) printf(" %llx", sum_of(found, n * size));
    putchar('\n');
}

static void get_values(int ncid, int varid, nc_type external, const Memory *memory) {
    const Memory *native = native_of(external);
    size_t n = native->values(given), zero = 0;
    begin("get", external, memory);
    printf("%s native: %d\n", line_start, nc_put_vara(ncid, varid, &zero, &n, given));
    for (size_t at = 0; at < n; at++) {
        memset(found, 0x5a, memory->size);
        int code = memory->get_var1(ncid, varid, &at, found);
        printf("%s %.20Lg: %d", line_start, native->value(given + at * native->size), code);
        tell_bytes(memory->native, found, memory->size);
        putchar('\n');
    }
    memset(found, 0x5a, n * memory->size);
    printf("%s all: %d", line_start, memory->get_vara(ncid, varid, &zero, &n, found));
    if (memory->native != NC_STRING) printf(" %llx", sum_of(found, n * memory->size));
    putchar('\n');
}

static void put_attributes(int ncid, nc_type external, const Memory *memory) {
    size_t n = memory->values(given), len = 0, size = native_of(external)->size;
    nc_type type = 0;
    begin("put_att", external, memory);
    for (size_t at = 0; at <= n; at++) {
        int is_one = at < n;
        const unsigned char *from = given + (is_one ? at * memory->size : 0);
        nc_del_att(ncid, NC_GLOBAL, "a");
        int code = memory->put_att(ncid, NC_GLOBAL, "a", external, is_one ? 1 : n, from);
        memset(found, 0x5a, MOST * WIDEST);
        if (is_one) printf("%s %.20Lg: %d", line_start, memory->value(from), code);
        else printf("%s all: %d", line_start, code);
        if (nc_inq_att(ncid, NC_GLOBAL, "a", &type, &len) == 0) {
            printf(" %d %zu %d", type, len, nc_get_att(ncid, NC_GLOBAL, "a", found));
            // Texts and strings have the type that they have.
            if (type == external && is_one) tell_bytes(external, found, size);
            else if (type == external && type != NC_STRING) printf(" %llx", sum_of(found, n * size));
        }
        putchar('\n');
    }
}

static void get_attributes(int ncid, nc_type external, const Memory *memory) {
    const Memory *native = native_of(external);
    size_t n = native->values(given);
    begin("get_att", external, memory);
    for (size_t at = 0; at <= n; at++) {
        int is_one = at < n;
        const unsigned char *from = given + (is_one ? at * native->size : 0);
        nc_del_att(ncid, NC_GLOBAL, "a");
        int put = nc_put_att(ncid, NC_GLOBAL, "a", external, is_one ? 1 : n, from);
        memset(found, 0x5a, n * WIDEST);
        int code = memory->get_att(ncid, NC_GLOBAL, "a", found);
        if (is_one) printf("%s %.20Lg: %d %d", line_start, native->value(from), put, code);
        else printf("%s all: %d %d", line_start, put, code);
        if (is_one) tell_bytes(memory->native, found, memory->size);
        else if (memory->native != NC_STRING) printf(" %llx", sum_of(found, n * memory->size));
        putchar('\n');
    }
}

/* One file for each external type, kind and filling. */
static void run(const char *folder, int kind, int filling, nc_type external) {
    char path[4096];
    int ncid, dim, varid, old;
    snprintf(path, sizeof path, "%s/%s.nc", folder, kinds[kind]);
    snprintf(where, sizeof where, "%s %s", kinds[kind], fillings[filling]);
    if (nc_create(path, modes[kind] | NC_CLOBBER, &ncid) || nc_def_dim(ncid, "x", MOST, &dim)) exit(1);
    int code = nc_def_var(ncid, "v", external, 1, &dim, &varid);
    if (code) {
        printf("%s %s: %d\n", where, types[external], code);
        nc_abort(ncid);
        return;
    }
    if (filling == 1) nc_set_fill(ncid, NC_NOFILL, &old);
    if (filling == 2) {
        unsigned char value[WIDEST] = {42};
        if (external == NC_FLOAT) memcpy(value, &(float){42}, 4);
        if (external == NC_DOUBLE) memcpy(value, &(double){42}, 8);
        // A string is no number.
        if (external != NC_STRING && nc_def_var_fill(ncid, varid, NC_FILL, value)) exit(4);
    }
    // How attributes and reads convert does not depend on how variables are filled.
    for (int m = 0; m < MEMORIES && filling == 0; m++) {
        // Other types of texts and strings are not passed.
        if (memories[m].native != NC_CHAR && memories[m].native != NC_STRING) put_attributes(ncid, external, memories + m);
        else if (external == memories[m].native) put_attributes(ncid, external, memories + m);
        get_attributes(ncid, external, memories + m);
    }
    nc_del_att(ncid, NC_GLOBAL, "a");
    if (nc_enddef(ncid)) exit(5);
    for (int m = 0; m < MEMORIES; m++) {
        put_values(ncid, varid, external, memories + m);
        if (filling == 0) get_values(ncid, varid, external, memories + m);
    }
    printf("%s %s close: %d\n", where, types[external], nc_close(ncid));
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    for (int kind = 0; kind < 5; kind++)
        for (int filling = 0; filling < 3; filling++)
            for (nc_type external = NC_BYTE; external <= NC_STRING; external++) run(arguments[1], kind, filling, external);
    return 0;
}
