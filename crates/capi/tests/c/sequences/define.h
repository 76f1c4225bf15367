/* Dimensions, variables, groups, types, attributes, and their names. */

static void define_dimension(void) {
    int id = -7;
    if (is_clash()) return;
    size_t len = one_in(4) ? NC_UNLIMITED : pick(5);
    define_mode();
    ASK(nc_def_dim, (A.nc, A.n, len, &id), "%d", id);
}

static void put_attribute(void);
static void define_variable(void) {
    int id = -7, rank = one_in(30) ? -1 : (int)pick(4);
    if (nc_inq_dimid(A.nc, A.n, &id) && is_clash()) return;
    for (int i = 1; i < rank; i++) {
        // Debian's library writes files of the classic model that have them elsewhere.
        if (A.slot->kind == 4 && is_unlimited(A.nc, A.d[i]) && !one_in(60)) return;
        // What grows along two axes at once is filled along one of them by Debian's.
        for (int k = 0; k < i; k++)
            if (A.d[i] == A.d[k] && !one_in(60)) return;
    }
    define_mode();
    ASK(nc_def_var, (A.nc, A.n, A.t, rank, A.d, &id), "%d", id);
    if (code) return;
    // Before there are data is when most programs choose.
    A.v = A.att_v = id;
    A.rank = rank;
    if (one_in(is_netcdf4(A.slot) ? 2 : 6)) choose_storage();
    if (one_in(3)) A.n = name(), put_attribute();
}

static void define_group(void) {
    int id = -7;
    if (is_refused() || is_clash()) return;
    ASK(nc_def_grp, (A.nc, A.n, &id), "%d", id);
    if (code == 0 && A.slot->group_count < MOST_GROUPS) A.slot->groups[A.slot->group_count++] = id;
}

static void keep_type(int id) {
    if (code == 0 && A.slot->type_count < MOST_TYPES) A.slot->types[A.slot->type_count++] = id;
}

/* Fields of plain types, and of other types of the file, where C has them: Debian's takes compounds for such once their file is opened again.
   Some are not where they should be. */
static void define_compound(void) {
    int id = -7, lens[2] = {2, 1 + (int)pick(2)}, has_double = one_in(2), shorts = one_in(3) ? 1 + (int)pick(2) : 0;
    int other = one_in(6) ? one_in(2) ? NC_STRING : A.t : 0;
    size_t after = has_double ? 16 : 4, end = after + (shorts ? 4 : 0) * (shorts == 2 ? lens[1] : 1), last = (end + 7) / 8 * 8;
    size_t size = other ? last + 8 : has_double ? last : end;
    ASK(nc_def_compound, (A.nc, size, A.n, &id), "%d", id);
    keep_type(id);
    if (code) return;
    CALL(nc_insert_compound, A.nc, id, "i", 0, NC_INT);
    if (has_double) CALL(nc_insert_compound, A.nc, id, "d", 8, NC_DOUBLE);
    if (shorts) CALL(nc_insert_array_compound, A.nc, id, "s", after, NC_SHORT, shorts, lens);
    if (other) CALL(nc_insert_compound, A.nc, id, A.m, last, other);
    if (one_in(60)) CALL(nc_insert_compound, A.nc, id, "i", 4, NC_BYTE);
    if (one_in(60)) CALL(nc_insert_compound, A.nc, id, "far", 40, NC_BYTE);
}

static void define_enum(void) {
    static const int bases[] = {NC_BYTE, NC_UBYTE, NC_SHORT, NC_INT, NC_UINT, NC_INT64};
    int id = -7, base = one_in(12) ? A.t : bases[pick(6)];
    long long one = 1, two = 2;
    ASK(nc_def_enum, (A.nc, base, A.n, &id), "%d", id);
    keep_type(id);
    if (code) return;
    CALL(nc_insert_enum, A.nc, id, "one", &one);
    if (one_in(2)) CALL(nc_insert_enum, A.nc, id, "two", &two);
    if (one_in(40)) CALL(nc_insert_enum, A.nc, id, A.m, &two);
}

static void define_type(void) {
    int id = -7;
    // Debian's library keeps types in files that are only read.
    if (is_refused() || is_clash() || (!A.slot->is_writable && !one_in(20))) return;
    nc_redef(A.slot->ncid);
    switch (pick(4)) {
    case 0: define_compound(); return;
    case 1: define_enum(); return;
    case 2: {
        size_t size = one_in(15) ? 0 : 1 + pick(9);
        ASK(nc_def_opaque, (A.nc, size, A.n, &id), "%d", id);
        break;
    }
    default: ASK(nc_def_vlen, (A.nc, A.n, A.t, &id), "%d", id);
    }
    keep_type(id);
}

/* A fill value of another kind of number, or beside the type's, is what programs get wrong. */
static void put_attribute(void) {
    const Memory *memory = memories + pick(one_in(4) ? MEMORIES : MEMORIES - 2);
    int id;
    define_mode();
    if (strcmp(A.n, "_FillValue") == 0 && one_in(2)) nc_inq_vartype(A.nc, A.v, &A.t), A.att_v = A.v, A.len = 1;
    if (nc_inq_attid(A.nc, A.att_v, A.n, &id) == 0) A.slot->is_unordered = 1;
    if (A.t > NC_MAX_ATOMIC_TYPE || one_in(8)) {
        if (A.len * (size_of(A.nc, A.t) + 1) > sizeof given) return;
        make_values(A.nc, A.t, (char *)given, A.len, 0);
        code = nc_put_att(A.nc, A.att_v, A.n, A.t, A.len, given);
        printf("nc_put_att(type %d) = %d\n", A.t, code);
        return;
    }
    // Debian's library leaves memory that nobody wrote in CDF-5 files.
    if (memory->native == NC_BYTE && A.t == NC_UINT) memory += 2;
    code = memory->put_att(given_of(memory));
    printf("nc_put_att_%s(type %d) = %d\n", memory->name, A.t, code);
}

static void get_attribute(void) {
    const Memory *memory = memories + pick(MEMORIES);
    nc_type type = 0;
    size_t len = 0;
    draw_name_of_attribute();
    int is_there = nc_inq_att(A.nc, A.att_v, A.n, &type, &len) == 0;
    // What names the library that wrote the file.
    if (A.n[0] == '_' && A.n[1] == 'N') return;
    if (!is_there) type = memory->native, len = 0;
    memset(got, 0, LOOKED_AT);
    if (one_in(2) && size_of(A.nc, type) * len < sizeof got) {
        code = nc_get_att(A.nc, A.att_v, A.n, got);
        printf("nc_get_att(type %d) = %d", type, code);
    } else {
        if (type == NC_CHAR || type == NC_STRING) memory = memories + MEMORIES - (type == NC_CHAR ? 2 : 1);
        code = memory->get_att(got);
        printf("nc_get_att_%s(type %d) = %d", memory->name, type, code);
        type = memory->native;
    }
    if (code == 0 || code == NC_ERANGE) tell_values(A.nc, type, (char *)got, len < TOLD ? len : TOLD, 0);
    putchar('\n');
}

static void change_attribute(void) {
    draw_name_of_attribute();
    switch (pick(4)) {
    case 0:
        CALL(nc_del_att, A.nc, A.att_v, A.n);
        A.slot->is_unordered = 1;
        break;
    case 1:
        if (!is_netcdf4(A.slot) && A.slot->is_shared) return;
        CALL(nc_rename_att, A.nc, A.att_v, A.n, A.m);
        A.slot->is_unordered = 1;
        break;
    default: {
        const Slot *to = &slots[slots[1].is_open && one_in(2)];
        int nc = draw_nc(to), v = one_in(2) ? NC_GLOBAL : draw_variable(nc), id;
        if (nc_inq_attid(nc, v, A.n, &id) == 0) slots[to != slots].is_unordered = 1;
        CALL(nc_copy_att, A.nc, A.att_v, A.n, nc, v);
    }
    }
}

/* Debian's library leaves broken netCDF-4 files after many renames, so that few sequences have them. */
static void rename_member(void) {
    if (is_netcdf4(A.slot) ? !may_rename : A.slot->is_shared) return;
    switch (pick(4)) {
    case 0: CALL(nc_rename_dim, A.nc, A.d[0], A.m); break;
    case 1: case 2: CALL(nc_rename_var, A.nc, A.v, A.m); break;
    default: CALL(nc_rename_grp, A.nc, A.m); break;
    }
}

static void copy_variable(void) {
    // In the same file it has a name that is taken, which leaves Debian's in define mode.
    const Slot *to = &slots[A.slot == slots];
    if (!to->is_open) return;
    int nc = draw_nc(to);
    if (A.slot->is_unfilled) slots[to != slots].is_unfilled = 1;
    CALL(nc_copy_var, A.nc, A.v, nc);
}
