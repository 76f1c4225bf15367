/* What a file has, as the library tells it. */

enum { WHOLE = 1, VALUES = 2, ORDER = 4 };

static void tell_attribute(int nc, int v, const char *name, const char *indent) {
    nc_type type = 0;
    size_t len = 0;
    // It names the library.
    if (strcmp(name, "_NCProperties") == 0) return;
    code = nc_inq_att(nc, v, name, &type, &len);
    printf("%satt %s: %d %d %zu", indent, name, code, type, len);
    if (code == 0 && len * size_of(nc, type) < sizeof got) {
        memset(got, 0, 256);
        code = nc_get_att(nc, v, name, got);
        printf(" = %d", code);
        if (code == 0) tell_values(nc, type, (char *)got, len, 0);
    }
    putchar('\n');
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* How values are rounded is told by an attribute: ours has it at once, Debian's from nc_enddef on. It is the last one that is looked at,
   and once the file is closed. */
static int tells_rounding(const char *name) { return strncmp(name, "_Quantize", 9) == 0; }

static int count_attributes(int nc, int v) {
    char name[NC_MAX_NAME + 1] = "";
    int count = 0, all = 0;
    if (nc_inq_varnatts(nc, v, &count)) return 0;
    for (int i = all = count; i-- > 0;) all -= nc_inq_attname(nc, v, i, name) == 0 && tells_rounding(name);
    return all;
}

static void tell_attributes(int nc, int v, const char *indent, int what) {
    static char found[64][NC_MAX_NAME + 1], rounding[NC_MAX_NAME + 1];
    int count = 0, left = 0;
    *rounding = 0;
    code = nc_inq_varnatts(nc, v, &count);
    for (int i = 0; code == 0 && i < count && i < 64; i++) {
        code = nc_inq_attname(nc, v, i, found[left]);
        if (tells_rounding(found[left])) memcpy(rounding, found[left], sizeof rounding);
        else left++;
    }
    if (code) printf("%satts: %d\n", indent, code);
    if (code || count > 64) return;
    if (!(what & ORDER)) qsort(found, (size_t)left, sizeof *found, by_name);
    for (int i = 0; i < left; i++) tell_attribute(nc, v, found[i], indent);
    if (*rounding && (what & WHOLE)) tell_attribute(nc, v, rounding, indent);
}

static void tell_storage(int nc, int v, int rank) {
    int a = -7, b = -7, c = -7;
    size_t lens[NC_MAX_VAR_DIMS] = {0};
    int chunking = nc_inq_var_chunking(nc, v, &a, lens);
    printf("    storage %d %d", chunking, a);
    if (chunking == 0 && a == NC_CHUNKED)
        for (int i = 0; i < rank; i++) printf(" %zu", lens[i]);
    chunking = nc_inq_var_deflate(nc, v, &a, &b, &c);
    printf("; deflate %d %d %d %d", chunking, a, b, b ? c : 0);
    chunking = nc_inq_var_fletcher32(nc, v, &a);
    printf("; fletcher %d %d", chunking, a);
    chunking = nc_inq_var_endian(nc, v, &a);
    printf("; endian %d %d", chunking, a);
    chunking = nc_inq_var_fill(nc, v, &a, NULL);
    printf("; fill %d %d\n", chunking, a);
}

static void tell_variable(int nc, int v, int what) {
    char name[NC_MAX_NAME + 1] = "";
    int type = 0, rank = 0, dims[NC_MAX_VAR_DIMS];
    size_t n = 1, len = 0;
    code = nc_inq_var(nc, v, name, &type, &rank, dims, NULL);
    if (code) {
        printf("  var %d: %d\n", v, code);
        return;
    }
    printf("  var %s %d (", name, type);
    for (int i = 0; i < rank; i++) {
        code = nc_inq_dim(nc, dims[i], name, &len);
        printf(" %d %s %zu", code, name, len);
        n *= len;
    }
    printf(" )\n");
    tell_attributes(nc, v, "    ", what);
    if (what & WHOLE) tell_storage(nc, v, rank);
    if (!(what & VALUES) || n * size_of(nc, type) > sizeof got) return;
    memset(got, 0, LOOKED_AT);
    code = nc_get_var(nc, v, got);
    printf("    values %d:", code);
    if (code == 0) tell_values(nc, type, (char *)got, n < 40 ? n : 40, 0);
    if (code == 0 && type < NC_STRING) printf(" %llx", sum_of(got, n * size_of(nc, type)));
    putchar('\n');
}

static void tell_type(int nc, int type) {
    char name[NC_MAX_NAME + 1] = "", field[NC_MAX_NAME + 1] = "";
    size_t size = 0, count = 0, offset = 0;
    int base = 0, class = 0, rank = 0, lens[NC_MAX_VAR_DIMS];
    long long value = 0;
    code = nc_inq_user_type(nc, type, name, &size, &base, &count, &class);
    printf("  type %s: %d %zu %d %d", name, code, size, class == NC_ENUM || class == NC_VLEN ? base : 0, class);
    for (int f = 0; class == NC_COMPOUND && f < (int)count; f++) {
        code = nc_inq_compound_field(nc, type, f, field, &offset, &base, &rank, lens);
        printf(", %d %s %zu %d %d", code, field, offset, base, rank);
    }
    for (int m = 0; class == NC_ENUM && m < (int)count; m++) {
        code = nc_inq_enum_member(nc, type, m, field, &value);
        printf(", %d %s %lld", code, field, value);
    }
    putchar('\n');
}

static void tell_group(int nc, int what, int depth) {
    char name[NC_MAX_NAME + 1] = "";
    int n = 0, list[NC_MAX_VARS];
    size_t len = 0;
    if (depth && nc_inq_grpname(nc, name) == 0) printf("  group %s\n", name);
    code = nc_inq_dimids(nc, &n, list, 0);
    if (code) printf("  dims: %d\n", code);
    for (int i = 0; code == 0 && i < n; i++) {
        int told = nc_inq_dim(nc, list[i], name, &len);
        printf("  dim %d %s: %d %zu\n", list[i], name, told, len);
    }
    code = nc_inq_unlimdims(nc, &n, list);
    printf("  unlimited %d %d:", code, n);
    for (int i = 0; code == 0 && i < n; i++) printf(" %d", list[i]);
    putchar('\n');
    if (nc_inq_typeids(nc, &n, list) == 0)
        for (int i = 0; i < n; i++) tell_type(nc, list[i]);
    tell_attributes(nc, NC_GLOBAL, "  ", what);
    if (nc_inq_varids(nc, &n, list) == 0)
        for (int i = 0; i < n; i++) tell_variable(nc, list[i], what);
    if (depth < 8 && nc_inq_grps(nc, &n, list) == 0)
        for (int i = 0; i < n; i++) tell_group(list[i], what, depth + 1);
}

static void tell_contents(int nc, int what) {
    int format = 0;
    code = nc_inq_format(nc, &format);
    printf("contents: %d %d\n", code, format);
    if (code == 0) tell_group(nc, what, 0);
}
