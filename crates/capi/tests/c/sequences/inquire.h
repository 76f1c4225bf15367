/* Questions about a file and its members. */

static void ask_file(void) {
    int a = -7, b = -7, c = -7, d = -7, list[NC_MAX_VARS];
    size_t len = 0;
    char text[4 * NC_MAX_NAME] = "";
    switch (pick(14)) {
    case 0: ASK(nc_inq, (A.nc, &a, &b, &c, &d), "%d %d %d %d", a, b, c, d); break;
    case 1: ASK(nc_inq_ndims, (A.nc, &a), "%d", a); break;
    case 2: ASK(nc_inq_nvars, (A.nc, &a), "%d", a); break;
    case 3: ASK(nc_inq_natts, (A.nc, &a), "%d", a); break;
    case 4: ASK(nc_inq_unlimdim, (A.nc, &a), "%d", a); break;
    case 5: ASK(nc_inq_unlimdims, (A.nc, &a, list), "%d %d", a, a > 0 ? list[0] : 0); break;
    case 6: ASK(nc_inq_format, (A.nc, &a), "%d", a); break;
    case 7: ASK(nc_inq_format_extended, (A.nc, &a, &b), "%d %x", a, (unsigned)b); break;
    case 8: ASK(nc_inq_path, (A.nc, &len, text), "%zu %s", len, text); break;
    case 9: ASK(nc_inq_dimids, (A.nc, &a, list, (int)pick(2)), "%d %d", a, a > 0 ? list[a - 1] : 0); break;
    case 10: ASK(nc_inq_varids, (A.nc, &a, list), "%d %d", a, a > 0 ? list[a - 1] : 0); break;
    case 11: ASK(nc_inq_typeids, (A.nc, &a, list), "%d %d", a, a > 0 ? list[a - 1] : 0); break;
    case 12: ASK(nc_inq_typeids, (A.nc, &a, NULL), "%d", a); break;
    default: ASK(nc_inq_user_type, (A.nc, A.t, text, &len, &a, NULL, &b), "%s %zu", text, len);
    }
}

static void ask_group(void) {
    if (is_refused()) return;
    int a = -7, list[NC_MAX_DIMS];
    size_t len = 0;
    char text[8 * NC_MAX_NAME] = "";
    switch (pick(9)) {
    case 0: ASK(nc_inq_grps, (A.nc, &a, list), "%d %d", a, a > 0 ? list[a - 1] : 0); break;
    case 1: ASK(nc_inq_grpname, (A.nc, text), "%s", text); break;
    case 2: ASK(nc_inq_grpname_full, (A.nc, &len, text), "%zu %s", len, text); break;
    case 3: ASK(nc_inq_grpname_len, (A.nc, &len), "%zu", len); break;
    case 4: ASK(nc_inq_grp_parent, (A.nc, &a), "%d", a); break;
    case 5: ASK(nc_inq_grp_ncid, (A.nc, A.n, &a), "%d", a); break;
    case 6: snprintf(text, sizeof text, one_in(2) ? "/%s" : "%s/g", A.n); ASK(nc_inq_grp_full_ncid, (A.nc, text, &a), "%d", a); break;
    case 7: ASK(nc_inq_ncid, (A.nc, A.n, &a), "%d", a); break;
    default: ASK(nc_inq_typeid, (A.nc, A.n, &a), "%d", a);
    }
}

static void ask_member(void) {
    int a = -7, b = -7, c = -7, list[NC_MAX_VAR_DIMS];
    size_t len = 0;
    char text[NC_MAX_NAME + 1] = "";
    switch (pick(13)) {
    case 0: ASK(nc_inq_dimid, (A.nc, A.n, &a), "%d", a); break;
    case 1: ASK(nc_inq_dim, (A.nc, A.d[0], text, &len), "%s %zu", text, len); break;
    case 2: ASK(nc_inq_dimname, (A.nc, A.d[0], text), "%s", text); break;
    case 3: ASK(nc_inq_dimlen, (A.nc, A.d[0], &len), "%zu", len); break;
    case 4: ASK(nc_inq_varid, (A.nc, A.n, &a), "%d", a); break;
    case 5: ASK(nc_inq_var, (A.nc, A.v, text, &a, &b, list, &c), "%s %d %d %d %d", text, a, b, c, b > 0 ? list[b - 1] : 0); break;
    case 6: ASK(nc_inq_varname, (A.nc, A.v, text), "%s", text); break;
    case 7: ASK(nc_inq_vartype, (A.nc, A.v, &a), "%d", a); break;
    case 8: ASK(nc_inq_varndims, (A.nc, A.v, &a), "%d", a); break;
    case 9: ASK(nc_inq_vardimid, (A.nc, A.v, list), "%d", A.rank ? list[0] : 0); break;
    case 10: ASK(nc_inq_varnatts, (A.nc, A.att_v, &a), "%d", a); break;
    case 11: ASK(nc_inq_type, (A.nc, A.t, text, &len), "%s %zu", text, len); break;
    default: ask_group();
    }
}

static void ask_attribute(void) {
    int a = -7, number = (int)pick(5) - 1;
    size_t len = 0;
    char text[NC_MAX_NAME + 1] = "";
    draw_name_of_attribute();
    // Its contents name the library.
    if (strcmp(A.n, "_NCProperties") == 0) return;
    int has_order = !is_netcdf4(A.slot) || !A.slot->is_unordered;
    switch (pick(5)) {
    case 0: ASK(nc_inq_att, (A.nc, A.att_v, A.n, &a, &len), "%d %zu", a, len); break;
    case 1: ASK(nc_inq_attid, (A.nc, A.att_v, A.n, &a), "%d", has_order ? a : 0); break;
    case 2: ASK(nc_inq_atttype, (A.nc, A.att_v, A.n, &a), "%d", a); break;
    case 3: ASK(nc_inq_attlen, (A.nc, A.att_v, A.n, &len), "%zu", len); break;
    default: ASK(nc_inq_attname, (A.nc, A.att_v, number, text), "%s", has_order ? text : ""); break;
    }
}

static void ask_type(void) {
    if (is_refused()) return;
    int a = -7, b = -7, rank = -7, lens[NC_MAX_VAR_DIMS] = {0}, at = (int)pick(4) - one_in(8);
    size_t size = 0, count = 0;
    char text[NC_MAX_NAME + 1] = "";
    long long value = 0;
    if (A.slot->type_count) A.t = A.slot->types[pick((unsigned)A.slot->type_count)];
    // Debian's library takes what other types have for fields.
    int class = 0, is_compound = nc_inq_user_type(A.nc, A.t, NULL, NULL, NULL, NULL, &class) == 0 && class == NC_COMPOUND;
    switch (is_compound ? pick(11) : 6 + pick(5)) {
    case 0: ASK(nc_inq_user_type, (A.nc, A.t, text, &size, &a, &count, &b), "%s %zu %zu %d", text, size, b == NC_OPAQUE ? 0 : count, b); break;
    case 1: ASK(nc_inq_compound, (A.nc, A.t, text, &size, &count), "%s %zu %zu", text, size, count); break;
    case 2: ASK(nc_inq_compound_nfields, (A.nc, A.t, &count), "%zu", count); break;
    case 3: ASK(nc_inq_compound_field, (A.nc, A.t, at, text, &size, &a, &rank, lens), "%s %zu %d %d", text, size, a, rank); break;
    case 4: ASK(nc_inq_compound_fieldindex, (A.nc, A.t, "d", &a), "%d", a); break;
    case 5: ASK(nc_inq_compound_size, (A.nc, A.t, &size), "%zu", size); break;
    case 6: ASK(nc_inq_enum, (A.nc, A.t, text, &a, &size, &count), "%s %d %zu %zu", text, a, size, count); break;
    case 7: ASK(nc_inq_enum_member, (A.nc, A.t, at, text, &value), "%s %lld", text, value); break;
    case 8: ASK(nc_inq_enum_ident, (A.nc, A.t, at, text), "%s", text); break;
    case 9: ASK(nc_inq_opaque, (A.nc, A.t, text, &size), "%s %zu", text, size); break;
    default: ASK(nc_inq_vlen, (A.nc, A.t, text, &size, &a), "%s %zu %d", text, size, a);
    }
}

static void compare_types(void) {
    int equal = -7;
    const Slot *to = &slots[slots[1].is_open && one_in(2)];
    int other = draw_type(to), nc = to->ncid;
    ASK(nc_inq_type_equal, (A.nc, A.t, nc, other, &equal), "%d", equal);
}
