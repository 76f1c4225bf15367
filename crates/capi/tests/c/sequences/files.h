/* Files are created, opened and closed in every way, on disk and in memory. */

static void forget_members(Slot *slot) { slot->group_count = slot->type_count = 0; }

/* Members that were there before the file was opened, too, are worked on. */
static void find_members(Slot *slot) {
    int n = 0, list[NC_MAX_VARS];
    forget_members(slot);
    if (nc_inq_grps(slot->ncid, &n, list) == 0)
        for (int i = 0; i < n && i < MOST_GROUPS; i++) slot->groups[slot->group_count++] = list[i];
    if (nc_inq_typeids(slot->ncid, &n, list) == 0)
        for (int i = 0; i < n && i < MOST_TYPES; i++) slot->types[slot->type_count++] = list[i];
}

static void opened(Slot *slot, int ncid, int mode, int in_memory) {
    if (code) return;
    slot->is_writable = mode & NC_WRITE;
    slot->is_open = 1;
    slot->ncid = ncid;
    slot->in_memory = in_memory;
    slot->is_shared = mode & NC_SHARE;
    find_members(slot);
}

static void create_file(Slot *slot) {
    int id = -7, mode = kinds[slot->kind], in_memory = 0;
    size_t hint = 4096;
    switch (pick(12)) {
    case 0: mode |= NC_DISKLESS; break;
    case 1: mode |= NC_DISKLESS | NC_PERSIST; break;
    case 2: mode |= NC_NOCLOBBER; break;
    case 3: mode |= NC_SHARE; break;
    case 4: in_memory = 1; break;
    case 5: if (one_in(4)) mode |= NC_64BIT_OFFSET | NC_64BIT_DATA; break;
    }
    // In memory there is no order of what a program wrote and did not fill.
    if (in_memory) ASK(nc_create_mem, (slot->path, mode, hint, &id), "%d", id);
    else if (one_in(4)) ASK(nc__create, (slot->path, mode, 0, &hint, &id), "%d", id);
    else ASK(nc_create, (slot->path, mode, &id), "%d", id);
    if (code == 0) slot->is_unordered = 0;
    opened(slot, id, mode | NC_WRITE, in_memory);
    slot->is_made_in_memory = in_memory && is_netcdf4(slot);
}

static size_t read_bytes(const char *path, void **bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    *bytes = malloc(1 << 20);
    size_t len = fread(*bytes, 1, 1 << 20, file);
    fclose(file);
    return len;
}

static void open_file(Slot *slot) {
    int id = -7, mode = one_in(3) ? NC_NOWRITE : NC_WRITE;
    void *bytes = NULL;
    size_t hint = 4096;
    size_t len = one_in(6) ? read_bytes(slot->path, &bytes) : 0;
    if (len) {
        if (one_in(2)) {
            ASK(nc_open_mem, (slot->path, NC_NOWRITE, len, bytes, &id), "%d", id);
            opened(slot, id, NC_NOWRITE, 0);
        } else {
            NC_memio memio = {len, bytes, 0};
            mode = is_netcdf4(slot) ? NC_NOWRITE : mode;
            ASK(nc_open_memio, (slot->path, mode, &memio, &id), "%d", id);
            opened(slot, id, mode, 1);
        }
        return;
    }
    if (one_in(8)) mode |= NC_SHARE;
    if (one_in(8)) mode |= NC_DISKLESS;
    if (one_in(8)) ASK(nc__open, (slot->path, mode, &hint, &id), "%d", id);
    else ASK(nc_open, (slot->path, mode, &id), "%d", id);
    opened(slot, id, mode, 0);
}

static void write_bytes(const char *path, const NC_memio *memio) {
    FILE *file = fopen(path, "wb");
    if (!file) return;
    fwrite(memio->memory, 1, memio->size, file);
    fclose(file);
}

static void close_file(Slot *slot) {
    if (slot->in_memory && !one_in(4)) {
        NC_memio memio = {0, NULL, 0};
        CALL(nc_close_memio, slot->ncid, &memio);
        if (code == 0 && memio.memory && !slot->is_made_in_memory) write_bytes(slot->path, &memio);
    } else if (one_in(12)) {
        // What it leaves is asked elsewhere: Debian's leaves part of it.
        CALL(nc_abort, slot->ncid);
        remove(slot->path);
    } else {
        CALL(nc_close, slot->ncid);
    }
    slot->is_open = slot->is_made_in_memory = 0;
}

static void reopen(void) {
    if (A.slot->is_open) close_file(A.slot);
    // Sometimes later calls have the id of a file that is closed.
    if (one_in(5)) return;
    if (one_in(8)) create_file(A.slot);
    else open_file(A.slot);
}

static void change_mode(void) {
    switch (pick(8)) {
    case 0: case 1: case 2: CALL(nc_enddef, A.nc); break;
    case 3: case 4: CALL(nc_redef, A.nc); break;
    case 5: case 6: CALL(nc_sync, A.nc); break;
    default: {
        size_t room = one_in(2) ? 0 : 512;
        CALL(nc__enddef, A.nc, room, 4, 0, 4);
    }
    }
}
