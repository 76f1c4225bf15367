/* Values of every type, given and told: the user-defined ones as their definition says. */

enum { ELEMENTS = 4096, TOLD = 10, LOOKED_AT = 16384 };
static char letters[ELEMENTS];
static const char *words[ELEMENTS];
static long long got[ELEMENTS * 8];
static long long given[ELEMENTS * 8];

static int small_number(void) { return one_in(9) ? (int)pick(100000) - 50000 : (int)pick(140) - 20; }

static unsigned long long sum_of(const void *bytes, size_t len) {
    unsigned long long sum = 14695981039346656037ULL, word;
    for (size_t i = 0; i + 8 <= len; i += 8) {
        memcpy(&word, (const char *)bytes + i, 8);
        sum = (sum ^ word) * 1099511628211ULL;
        sum ^= sum >> 29;
    }
    return sum;
}

static size_t size_of(int nc, nc_type type) {
    size_t size = 0;
    return nc_inq_type(nc, type, NULL, &size) ? 0 : size;
}

static void make_values(int nc, nc_type type, char *at, size_t n, int depth);

static void make_compound(int nc, nc_type type, char *at) {
    size_t fields = 0;
    nc_inq_compound_nfields(nc, type, &fields);
    for (size_t f = 0; f < fields; f++) {
        size_t offset = 0, many = 1;
        int field_type = 0, rank = 0, lens[NC_MAX_VAR_DIMS];
        if (nc_inq_compound_field(nc, type, (int)f, NULL, &offset, &field_type, &rank, NULL)) continue;
        if (rank && nc_inq_compound_fielddim_sizes(nc, type, (int)f, lens)) continue;
        for (int i = 0; i < rank; i++) many *= (size_t)lens[i];
        make_values(nc, field_type, at + offset, many, 1);
    }
}

static void make_number(nc_type type, char *at) {
    int v = small_number();
    double d = v * 0.25;
    float f = (float)v * 0.5f;
    long long l = v;
    switch (type) {
    case NC_CHAR: *at = (char)('a' + pick(26)); break;
    case NC_FLOAT: memcpy(at, &f, 4); break;
    case NC_DOUBLE: memcpy(at, &d, 8); break;
    case NC_BYTE: case NC_UBYTE: memcpy(at, &l, 1); break;
    case NC_SHORT: case NC_USHORT: memcpy(at, &l, 2); break;
    case NC_INT: case NC_UINT: memcpy(at, &l, 4); break;
    case NC_INT64: case NC_UINT64: memcpy(at, &l, 8); break;
    }
}

/* Values in the memory of C, of a type as the library describes it. */
static void make_values(int nc, nc_type type, char *at, size_t n, int depth) {
    int class = 0, base = 0;
    size_t size = size_of(nc, type);
    if (type > NC_MAX_ATOMIC_TYPE && nc_inq_user_type(nc, type, NULL, NULL, &base, NULL, &class)) return;
    for (size_t i = 0; i < n; i++, at += size) {
        if (type == NC_STRING) {
            const char *word = words[pick(ELEMENTS)];
            memcpy(at, &word, sizeof word);
        } else if (type <= NC_MAX_ATOMIC_TYPE) {
            make_number(type, at);
        } else if (class == NC_COMPOUND) {
            make_compound(nc, type, at);
        } else if (class == NC_VLEN) {
            nc_vlen_t row = {depth > 3 ? 0 : pick(4), NULL};
            row.p = calloc(row.len + 1, size_of(nc, base) + 1);
            make_values(nc, base, row.p, row.len, depth + 1);
            memcpy(at, &row, sizeof row);
        } else if (class == NC_ENUM && one_in(2)) {
            char value[8] = {0};
            if (nc_inq_enum_member(nc, type, 0, NULL, value) == 0) memcpy(at, value, size);
        } else {
            for (size_t b = 0; b < size; b++) at[b] = (char)pick(5);
        }
    }
}

static void tell_values(int nc, nc_type type, const char *at, size_t n, int depth);

static void tell_compound(int nc, nc_type type, const char *at, int depth) {
    size_t fields = 0;
    nc_inq_compound_nfields(nc, type, &fields);
    putchar('{');
    for (size_t f = 0; f < fields; f++) {
        size_t offset = 0, many = 1;
        int field_type = 0, rank = 0, lens[NC_MAX_VAR_DIMS];
        if (nc_inq_compound_field(nc, type, (int)f, NULL, &offset, &field_type, &rank, NULL)) continue;
        if (rank && nc_inq_compound_fielddim_sizes(nc, type, (int)f, lens)) continue;
        for (int i = 0; i < rank; i++) many *= (size_t)lens[i];
        tell_values(nc, field_type, at + offset, many, depth + 1);
    }
    printf(" }");
}

static void tell_number(nc_type type, const char *at) {
    long long l = 0;
    double d;
    float f;
    signed char b = *at;
    short s;
    int i;
    switch (type) {
    case NC_CHAR: printf(*at >= ' ' && *at <= '~' ? " %c" : " \\%02x", (unsigned char)*at); return;
    case NC_FLOAT: memcpy(&f, at, 4), printf(" %.9g", f); return;
    case NC_DOUBLE: memcpy(&d, at, 8), printf(" %.17g", d); return;
    case NC_BYTE: l = b; break;
    case NC_UBYTE: memcpy(&l, at, 1); break;
    case NC_SHORT: memcpy(&s, at, 2), l = s; break;
    case NC_USHORT: memcpy(&l, at, 2); break;
    case NC_INT: memcpy(&i, at, 4), l = i; break;
    case NC_UINT: memcpy(&l, at, 4); break;
    default: memcpy(&l, at, 8); break;
    }
    printf(" %lld", l);
}

static void tell_values(int nc, nc_type type, const char *at, size_t n, int depth) {
    int class = 0, base = 0;
    size_t size = size_of(nc, type);
    if (type > NC_MAX_ATOMIC_TYPE && nc_inq_user_type(nc, type, NULL, NULL, &base, NULL, &class)) return;
    for (size_t i = 0; i < n; i++, at += size) {
        if (type == NC_STRING) {
            char *word;
            memcpy(&word, at, sizeof word);
            printf(" \"%s\"", word ? word : "(null)");
        } else if (type <= NC_MAX_ATOMIC_TYPE) {
            tell_number(type, at);
        } else if (class == NC_COMPOUND) {
            tell_compound(nc, type, at, depth);
        } else if (class == NC_VLEN) {
            nc_vlen_t row;
            memcpy(&row, at, sizeof row);
            printf(" (");
            if (depth < 5) tell_values(nc, base, row.p, row.len, depth + 1);
            printf(" )");
        } else {
            putchar(' ');
            for (size_t b = 0; b < size; b++) printf("%02x", (unsigned char)at[b]);
        }
    }
}

#define NUMBERS(X) X(schar, signed char, NC_BYTE) X(uchar, unsigned char, NC_UBYTE) X(short, short, NC_SHORT) X(ushort, unsigned short, NC_USHORT) \
    X(int, int, NC_INT) X(uint, unsigned int, NC_UINT) X(long, long, NC_INT64) X(longlong, long long, NC_INT64) X(ulonglong, unsigned long long, NC_UINT64) \
    X(float, float, NC_FLOAT) X(double, double, NC_DOUBLE) X(ubyte, unsigned char, NC_UBYTE)
#define ALL(X) NUMBERS(X) X(text, char, NC_CHAR) X(string, const char *, NC_STRING)

enum { VAR, VAR1, VARA, VARS, VARM, FORMS };
static const char *const forms[FORMS] = {"var", "var1", "vara", "vars", "varm"};

#define DATA_CALLS(name, type, native)                                                                                       \
    static int put_##name(int form, const void *p) {                                                                         \
        switch (form) {                                                                                                      \
        case VAR: return nc_put_var_##name(A.nc, A.v, (type *)p);                                                            \
        case VAR1: return nc_put_var1_##name(A.nc, A.v, A.start, (type *)p);                                                 \
        case VARA: return nc_put_vara_##name(A.nc, A.v, A.start, A.count, (type *)p);                                        \
        case VARS: return nc_put_vars_##name(A.nc, A.v, A.start, A.count, A.stride, (type *)p);                              \
        default: return nc_put_varm_##name(A.nc, A.v, A.start, A.count, A.stride, A.map, (type *)p);                         \
        }                                                                                                                    \
    }                                                                                                                        \
    static int get_##name(int form, void *p) {                                                                               \
        switch (form) {                                                                                                      \
        case VAR: return nc_get_var_##name(A.nc, A.v, p);                                                                    \
        case VAR1: return nc_get_var1_##name(A.nc, A.v, A.start, p);                                                         \
        case VARA: return nc_get_vara_##name(A.nc, A.v, A.start, A.count, p);                                                \
        case VARS: return nc_get_vars_##name(A.nc, A.v, A.start, A.count, A.stride, p);                                      \
        default: return nc_get_varm_##name(A.nc, A.v, A.start, A.count, A.stride, A.map, p);                                 \
        }                                                                                                                    \
    }                                                                                                                        \
    static int get_att_##name(void *p) { return nc_get_att_##name(A.nc, A.att_v, A.n, p); }
ALL(DATA_CALLS)
#define PUT_ATT(name, type, native) static int put_att_##name(const void *p) { return nc_put_att_##name(A.nc, A.att_v, A.n, A.t, A.len, p); }
NUMBERS(PUT_ATT)
static int put_att_text(const void *p) { return nc_put_att_text(A.nc, A.att_v, A.n, A.len, p); }
static int put_att_string(const void *p) { return nc_put_att_string(A.nc, A.att_v, A.n, A.len, (const char **)p); }

typedef struct {
    const char *name;
    nc_type native;
    size_t size;
    int (*put)(int, const void *);
    int (*get)(int, void *);
    int (*put_att)(const void *);
    int (*get_att)(void *);
} Memory;
#define MEMORY(name, type, native) {#name, native, sizeof(type), put_##name, get_##name, put_att_##name, get_att_##name},
static const Memory memories[] = {ALL(MEMORY)};
enum { MEMORIES = sizeof memories / sizeof *memories };

static const void *given_of(const Memory *memory) {
    if (memory->native == NC_STRING) return words + pick(1000);
    if (memory->native == NC_CHAR) return letters + pick(1000);
    if (memory->native == NC_FLOAT) {
        for (int i = 0; i < 1024; i++) ((float *)given)[i] = (float)small_number() * 0.5f;
        return given;
    }
    if (memory->native == NC_DOUBLE) {
        for (int i = 0; i < 1024; i++) ((double *)given)[i] = one_in(200) ? 1e15 : small_number() * 0.25;
        return given;
    }
    for (int i = 0; i < 1024; i++) {
        long long value = one_in(200) ? 1LL << 40 : small_number();
        memcpy((char *)given + (size_t)i * memory->size, &value, memory->size);
    }
    return given;
}

/* How many elements a call of a form has. */
static size_t asked_for(int form) {
    size_t n = 1;
    int dims[NC_MAX_VAR_DIMS];
    if (form == VAR1) return 1;
    if (form == VAR && nc_inq_vardimid(A.nc, A.v, dims)) return 0;
    for (int i = 0; i < A.rank; i++) {
        size_t len = A.count[i];
        if (form == VAR && nc_inq_dimlen(A.nc, dims[i], &len)) return 0;
        n *= len;
    }
    return n;
}

/* What came, if something did and both libraries know it. */
static void tell_got(nc_type type, size_t n) {
    if ((code && code != NC_ERANGE) || A.slot->is_unfilled) return;
    size_t told = n < TOLD ? n : TOLD;
    tell_values(A.nc, type, (char *)got, told, 0);
    if (type < NC_STRING) printf(" %llx", sum_of(got, LOOKED_AT));
}

/* How a call is made, of which type the variable is, and the type of the memory: most calls are of text for text, and of numbers for numbers. */
static const Memory *drawn_memory(int *form, nc_type *type) {
    const Memory *memory = memories + pick(MEMORIES);
    *form = (int)pick(FORMS);
    if (nc_inq_vartype(A.nc, A.v, type) == 0 && (*type == NC_CHAR || *type == NC_STRING) && !one_in(6)) memory = memories + MEMORIES - (*type == NC_CHAR ? 2 : 1);
    return memory;
}

static void put_numbers(void) {
    data_mode();
    int form;
    nc_type type = 0;
    const Memory *memory = drawn_memory(&form, &type);
    if (asked_for(form) > 900) return;
    // Debian's library adds the records of a type that it refuses then.
    if (type > NC_STRING && !one_in(20)) return;
    code = memory->put(form, given_of(memory));
    printf("nc_put_%s_%s(v of type %d) = %d\n", forms[form], memory->name, type, code);
}

/* Elements that nobody wrote may be in the range of the type, or not. */
static int told_code(void) { return A.slot->is_unfilled && code == NC_ERANGE ? 0 : code; }

static void get_numbers(void) {
    data_mode();
    int form;
    nc_type type = 0;
    const Memory *memory = drawn_memory(&form, &type);
    size_t n = asked_for(form);
    if (n > 900) return;
    memset(got, 0, LOOKED_AT);
    code = memory->get(form, got);
    printf("nc_get_%s_%s(v of type %d) = %d", forms[form], memory->name, type, told_code());
    // Strings that a map puts elsewhere are looked at by the other forms.
    if (memory->native != NC_STRING || (form != VARM && type == NC_STRING)) tell_got(memory->native, n);
    putchar('\n');
}

static int put_native(int form, const void *p) {
    switch (form) {
    case VAR: return nc_put_var(A.nc, A.v, p);
    case VAR1: return nc_put_var1(A.nc, A.v, A.start, p);
    case VARA: return nc_put_vara(A.nc, A.v, A.start, A.count, p);
    case VARS: return nc_put_vars(A.nc, A.v, A.start, A.count, A.stride, p);
    default: return nc_put_varm(A.nc, A.v, A.start, A.count, A.stride, A.map, p);
    }
}

static int get_native(int form, void *p) {
    switch (form) {
    case VAR: return nc_get_var(A.nc, A.v, p);
    case VAR1: return nc_get_var1(A.nc, A.v, A.start, p);
    case VARA: return nc_get_vara(A.nc, A.v, A.start, A.count, p);
    case VARS: return nc_get_vars(A.nc, A.v, A.start, A.count, A.stride, p);
    default: return nc_get_varm(A.nc, A.v, A.start, A.count, A.stride, A.map, p);
    }
}

/* In the type of the variable, whatever it is. */
static void own_values(int puts) {
    data_mode();
    int form = (int)pick(FORMS);
    nc_type type = 0;
    size_t n = asked_for(form);
    nc_inq_vartype(A.nc, A.v, &type);
    size_t size = size_of(A.nc, type), room = form == VARM ? 2 * n + 8 : n + 8;
    if (room * size > sizeof got) return;
    if (puts) {
        make_values(A.nc, type, (char *)given, room, 0);
        code = put_native(form, given);
        printf("nc_put_%s(v of type %d) = %d\n", forms[form], type, code);
        return;
    }
    memset(got, 0, LOOKED_AT);
    code = get_native(form, got);
    printf("nc_get_%s(v of type %d) = %d", forms[form], type, code);
    if (form != VARM || type < NC_STRING) tell_got(type, n);
    putchar('\n');
    if (code == 0 && form != VARM && one_in(2)) ASK(nc_reclaim_data, (A.nc, type, got, n), "%s", "");
}
