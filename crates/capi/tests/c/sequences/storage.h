/* How variables are stored and filled: chosen, and asked for. */

static void choose_chunks(void) {
    size_t lens[RANK];
    int dims[NC_MAX_VAR_DIMS];
    size_t most = 4;
    for (int i = 0; i < RANK; i++) {
        // Debian's library keeps the kind of storage of chunks that it refuses.
        if (i < A.rank && nc_inq_vardimid(A.nc, A.v, dims) == 0) nc_inq_dimlen(A.nc, dims[i], &most);
        lens[i] = one_in(60) ? pick(3) * 100 : 1 + pick(most ? (unsigned)most : 4);
    }
    int storage = one_in(5) ? (int)pick(4) : NC_CHUNKED;
    const size_t *chosen = one_in(4) ? NULL : lens;
    code = nc_def_var_chunking(A.nc, A.v, storage, chosen);
    printf("nc_def_var_chunking(%d, %s of %d) = %d\n", storage, chosen ? "lengths" : "none", A.rank, code);
}

static void choose_filter(void) {
    unsigned parameters[4] = {1 + pick(9), 16, 0, 0};
    static const unsigned ids[] = {1, 2, 3, 32015, 4, 77777};
    int shuffle = one_in(2), deflate = !one_in(4), level = one_in(10) ? 11 : (int)pick(10);
    switch (pick(7)) {
    case 0: case 1: CALL(nc_def_var_deflate, A.nc, A.v, shuffle, deflate, level); break;
    case 2: case 3: CALL(nc_def_var_fletcher32, A.nc, A.v, 1); break;
    case 4: {
        unsigned id = ids[pick(6)];
        size_t count = id == 1 ? 1 : id == 4 ? 2 : 0;
        if (id == 4) parameters[0] = NC_SZIP_NN;
        code = nc_def_var_filter(A.nc, A.v, id, count, parameters);
        printf("nc_def_var_filter(%u) = %d\n", id, code);
        break;
    }
    case 5: {
        int mask = one_in(6) ? 5 : NC_SZIP_NN, pixels = one_in(6) ? 3 : 8;
        code = nc_def_var_szip(A.nc, A.v, mask, pixels);
        printf("nc_def_var_szip(%d, %d) = %d\n", mask, pixels, code);
        break;
    }
    default: {
        int mode = (int)pick(one_in(6) ? 6 : 4), digits = (int)pick(one_in(6) ? 30 : 7);
        code = nc_def_var_quantize(A.nc, A.v, mode, digits);
        printf("nc_def_var_quantize(%d, %d) = %d\n", mode, digits, code);
    }
    }
}

static void choose_fill(void) {
    int old = -7;
    if (one_in(3)) {
        int mode = one_in(8) ? 7 : one_in(2) ? NC_NOFILL : NC_FILL;
        if (mode == NC_NOFILL) A.slot->is_unfilled = 1;
        ASK(nc_set_fill, (A.nc, mode, &old), "%d", old);
        return;
    }
    nc_type type = 0;
    int without = one_in(4);
    if (without) A.slot->is_unfilled = 1;
    nc_inq_vartype(A.nc, A.v, &type);
    make_values(A.nc, type, (char *)given, 1, 0);
    CALL(nc_def_var_fill, A.nc, A.v, without, one_in(8) ? NULL : given);
}

static void choose_any_storage(void) {
    switch (pick(10)) {
    case 0: case 1: case 2: choose_chunks(); break;
    case 3: case 4: case 5: choose_filter(); break;
    case 6: case 7: choose_fill(); break;
    case 8: {
        int endian = (int)pick(one_in(8) ? 5 : 3);
        code = nc_def_var_endian(A.nc, A.v, endian);
        printf("nc_def_var_endian(%d) = %d\n", endian, code);
        break;
    }
    default: CALL(nc_set_var_chunk_cache, A.nc, A.v, 1 << 20, 101, one_in(8) ? 2.0f : 0.5f);
    }
}

static void choose_storage(void) {
    if (!is_netcdf4(A.slot) && !one_in(4)) choose_fill();
    else choose_any_storage();
}

static void ask_fill(void) {
    int without = -7;
    nc_type type = 0;
    nc_inq_vartype(A.nc, A.v, &type);
    memset(got, 0, 64);
    code = nc_inq_var_fill(A.nc, A.v, &without, size_of(A.nc, type) < sizeof got ? got : NULL);
    printf("nc_inq_var_fill(v of type %d) = %d", type, code);
    if (code == 0) {
        printf(" %d", without);
        if (!without) tell_values(A.nc, type, (char *)got, 1, 0);
    }
    putchar('\n');
}

static void ask_filters(void) {
    unsigned ids[16] = {0}, parameters[16] = {0}, id = 77;
    size_t count = 0;
    if (one_in(2)) {
        ASK(nc_inq_var_filter_ids, (A.nc, A.v, &count, ids), "%zu %u %u", count, ids[0], ids[1]);
        return;
    }
    if (one_in(2)) {
        // Not the parameters: a filter changes them when the variable is made.
        ASK(nc_inq_var_filter, (A.nc, A.v, &id, &count, NULL), "%u %zu", id, count);
        return;
    }
    id = 1 + pick(3);
    code = nc_inq_var_filter_info(A.nc, A.v, id, &count, parameters);
    printf("nc_inq_var_filter_info(%u) = %d", id, code);
    if (code == 0) printf(" %zu %u", count, count ? parameters[0] : 0);
    putchar('\n');
}

static void ask_storage(void) {
    size_t lens[NC_MAX_VAR_DIMS] = {0}, size = 7, slots_of = 7;
    int a = -7, b = -7, c = -7;
    float preemption = 7;
    switch (pick(9)) {
    case 0: ASK(nc_inq_var_chunking, (A.nc, A.v, &a, lens), "%d %zu %zu %zu", a, a ? 0 : lens[0], a ? 0 : lens[1], a ? 0 : lens[2]); break;
    case 1: ASK(nc_inq_var_deflate, (A.nc, A.v, &a, &b, &c), "%d %d %d", a, b, b ? c : 0); break;
    case 2: ASK(nc_inq_var_fletcher32, (A.nc, A.v, &a), "%d", a); break;
    case 3: ASK(nc_inq_var_endian, (A.nc, A.v, &a), "%d", a); break;
    case 4: ASK(nc_inq_var_szip, (A.nc, A.v, &a, &b), "%d %d", a, b); break;
    case 5: ASK(nc_inq_var_quantize, (A.nc, A.v, &a, &b), "%d %d", a, b); break;
    case 6: ask_fill(); break;
    case 7: CALL(nc_get_var_chunk_cache, A.nc, A.v, &size, &slots_of, &preemption); break;
    default: ask_filters();
    }
}
