/* A table of functions that print their names and what they were asked. */
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <string.h>
static int f_create(const char *p, int m, size_t i, int b, size_t *c, void *q, const NC_Dispatch *t, int id) {
    printf("  create %s mode %x init %zu pe %d hint %d par %d table %d id %d\n", strrchr(p, '/'), m, i, b, c != 0, q != 0, t != 0,
           id);
    return 0;
}
static int f_open(const char *p, int m, int b, size_t *c, void *q, const NC_Dispatch *t, int id) {
    printf("  open %s mode %x pe %d hint %d par %d table %d id %d\n", strrchr(p, '/'), m, b, c != 0, q != 0, t != 0, id);
    return strstr(p, "bad") ? NC_EHDFERR : 0;
}
static int f_redef(int n) {
    printf("  redef\n");
    return 0;
}
static int f_enddef(int n, size_t a, size_t b, size_t c, size_t d) {
    printf("  enddef %zu %zu %zu %zu\n", a, b, c, d);
    return 0;
}
static int f_sync(int n) {
    printf("  sync\n");
    return 0;
}
static int f_abort(int n) {
    printf("  abort\n");
    return 0;
}
static int f_close(int n, void *p) {
    printf("  close par %d\n", p != 0);
    return 0;
}
static int f_set_fill(int n, int a, int *o) {
    printf("  set_fill %d\n", a);
    if (o) *o = 1;
    return 0;
}
static int f_fmt(int n, int *f) {
    if (f) *f = 3;
    return 0;
}
static int f_fmtx(int n, int *f, int *m) {
    printf("  inq_format_extended\n");
    if (f) *f = 8;
    if (m) *m = 77;
    return 0;
}
static int f_inq(int n, int *a, int *b, int *c, int *d) {
    printf("  inq %d%d%d%d\n", a != 0, b != 0, c != 0, d != 0);
    if (a) *a = 2;
    if (b) *b = 3;
    if (c) *c = 4;
    if (d) *d = 0;
    return 0;
}
static int f_type(int n, nc_type t, char *name, size_t *s) {
    printf("  inq_type %d\n", t);
    if (name) strcpy(name, "ty");
    if (s) *s = 4;
    return 0;
}
static int f_def_dim(int n, const char *s, size_t l, int *i) {
    printf("  def_dim %s %zu\n", s, l);
    if (i) *i = 5;
    return 0;
}
static int f_dimid(int n, const char *s, int *i) {
    printf("  inq_dimid %s\n", s);
    if (i) *i = 1;
    return 0;
}
static int f_dim(int n, int i, char *s, size_t *l) {
    printf("  inq_dim %d %d%d\n", i, s != 0, l != 0);
    if (s) strcpy(s, "dim");
    if (l) *l = i == 0 ? 2 : 3;
    return 0;
}
static int f_unl(int n, int *i) {
    printf("  inq_unlimdim\n");
    if (i) *i = 0;
    return 0;
}
static int f_rdim(int n, int i, const char *s) {
    printf("  rename_dim %d %s\n", i, s);
    return 0;
}
static int f_att(int n, int v, const char *s, nc_type *t, size_t *l) {
    printf("  inq_att %d %s %d%d\n", v, s, t != 0, l != 0);
    if (t) *t = NC_INT;
    if (l) *l = 2;
    return 0;
}
static int f_attid(int n, int v, const char *s, int *i) {
    printf("  inq_attid %d %s\n", v, s);
    if (i) *i = 3;
    return 0;
}
static int f_attname(int n, int v, int i, char *s) {
    printf("  inq_attname %d %d\n", v, i);
    if (s) strcpy(s, "att");
    return 0;
}
static int f_ratt(int n, int v, const char *s, const char *r) {
    printf("  rename_att %d %s %s\n", v, s, r);
    return 0;
}
static int f_datt(int n, int v, const char *s) {
    printf("  del_att %d %s\n", v, s);
    return 0;
}
static int f_gatt(int n, int v, const char *s, void *d, nc_type t) {
    printf("  get_att %d %s as %d\n", v, s, t);
    if (t == NC_INT && d) {
        ((int *)d)[0] = 7;
        ((int *)d)[1] = 8;
    }
    return 0;
}
static int f_patt(int n, int v, const char *s, nc_type t, size_t l, const void *d, nc_type m) {
    printf("  put_att %d %s %d %zu from %d\n", v, s, t, l, m);
    return 0;
}
static int f_dvar(int n, const char *s, nc_type t, int r, const int *d, int *i) {
    printf("  def_var %s %d %d\n", s, t, r);
    if (i) *i = 9;
    return 0;
}
static int f_varid(int n, const char *s, int *i) {
    printf("  inq_varid %s\n", s);
    if (i) *i = 2;
    return 0;
}
static int f_rvar(int n, int v, const char *s) {
    printf("  rename_var %d %s\n", v, s);
    return 0;
}
static void show(const char *w, int v, const size_t *s, const size_t *c, const ptrdiff_t *st, const ptrdiff_t *m, int t) {
    printf("  %s %d", w, v);
    for (int i = 0; i < 2; i++) {
        printf(" %ld:%ld", s ? (long)s[i] : -1, c ? (long)c[i] : -1);
        if (st) printf(":%ld", (long)st[i]);
        if (m) printf("/%ld", (long)m[i]);
    }
    printf(" as %d\n", t);
}
static int f_gvara(int n, int v, const size_t *s, const size_t *c, void *d, nc_type t) {
    show("get_vara", v, s, c, 0, 0, t);
    return 0;
}
static int f_pvara(int n, int v, const size_t *s, const size_t *c, const void *d, nc_type t) {
    show("put_vara", v, s, c, 0, 0, t);
    return 0;
}
static int f_gvars(int n, int v, const size_t *s, const size_t *c, const ptrdiff_t *r, void *d, nc_type t) {
    show("get_vars", v, s, c, r, 0, t);
    return 0;
}
static int f_pvars(int n, int v, const size_t *s, const size_t *c, const ptrdiff_t *r, const void *d, nc_type t) {
    show("put_vars", v, s, c, r, 0, t);
    return 0;
}
static int f_gvarm(int n, int v, const size_t *s, const size_t *c, const ptrdiff_t *r, const ptrdiff_t *m, void *d, nc_type t) {
    show("get_varm", v, s, c, r, m, t);
    return 0;
}
static int f_pvarm(int n, int v, const size_t *s, const size_t *c, const ptrdiff_t *r, const ptrdiff_t *m, const void *d,
                   nc_type t) {
    show("put_varm", v, s, c, r, m, t);
    return 0;
}
static int f_all(int n, int v, char *name, nc_type *t, int *r, int *d, int *na, int *sh, int *de, int *dl, int *fl, int *co,
                 size_t *cs, int *nf, void *fv, int *en, unsigned *id, size_t *np, unsigned *ps) {
    printf("  inq_var_all %d %d%d%d%d%d %d%d%d%d%d%d %d%d%d %d%d%d\n", v, name != 0, t != 0, r != 0, d != 0, na != 0, sh != 0,
           de != 0, dl != 0, fl != 0, co != 0, cs != 0, nf != 0, fv != 0, en != 0, id != 0, np != 0, ps != 0);
    if (name) strcpy(name, "var");
    if (t) *t = NC_INT;
    if (r) *r = 2;
    if (d) {
        d[0] = 0;
        d[1] = 1;
    }
    if (na) *na = 1;
    return 0;
}
static int f_par(int n, int v, int a) {
    printf("  var_par_access\n");
    return 0;
}
static int f_fill(int n, int v, int a, const void *b) {
    printf("  def_var_fill %d %d\n", v, a);
    return 0;
}
static int f_show(int n) {
    printf("  show_metadata\n");
    return 0;
}
static int f_unls(int n, int *c, int *i) {
    printf("  inq_unlimdims\n");
    if (c) *c = 1;
    if (i) *i = 0;
    return 0;
}
static int f_ncid(int n, const char *s, int *i) {
    printf("  inq_ncid %s\n", s);
    if (i) *i = n + 1;
    return 0;
}
static int f_grps(int n, int *c, int *i) {
    printf("  inq_grps\n");
    if (c) *c = 1;
    if (i) *i = n + 1;
    return 0;
}
static int f_gname(int n, char *s) {
    printf("  inq_grpname\n");
    if (s) strcpy(s, "/");
    return 0;
}
static int f_gfull(int n, size_t *l, char *s) {
    printf("  inq_grpname_full %d%d\n", l != 0, s != 0);
    if (l) *l = 1;
    if (s) strcpy(s, "/");
    return 0;
}
static int f_parent(int n, int *p) {
    printf("  inq_grp_parent\n");
    return NC_ENOGRP;
}
static int f_gfid(int n, const char *s, int *i) {
    printf("  inq_grp_full_ncid %s\n", s);
    return 0;
}
static int f_varids(int n, int *c, int *i) {
    printf("  inq_varids\n");
    if (c) *c = 1;
    return 0;
}
static int f_dimids(int n, int *c, int *i, int p) {
    printf("  inq_dimids %d\n", p);
    if (c) *c = 2;
    return 0;
}
static int f_typeids(int n, int *c, int *i) {
    printf("  inq_typeids\n");
    if (c) *c = 0;
    return 0;
}
static int f_teq(int n, nc_type t, int m, nc_type u, int *e) {
    printf("  inq_type_equal\n");
    if (e) *e = 1;
    return 0;
}
static int f_dgrp(int n, const char *s, int *i) {
    printf("  def_grp %s\n", s);
    if (i) *i = n + 2;
    return 0;
}
static int f_rgrp(int n, const char *s) {
    printf("  rename_grp %s\n", s);
    return 0;
}
static int f_user(int n, nc_type t, char *s, size_t *z, nc_type *b, size_t *f, int *c) {
    printf("  inq_user_type %d %d%d%d%d%d\n", t, s != 0, z != 0, b != 0, f != 0, c != 0);
    if (s) strcpy(s, "us");
    if (z) *z = 4;
    if (b) *b = NC_INT;
    if (f) *f = 2;
    if (c) *c = t - 20;
    return 0;
}
static int f_tid(int n, const char *s, nc_type *t) {
    printf("  inq_typeid %s\n", s);
    if (t) *t = 33;
    return 0;
}
static int f_dcomp(int n, size_t z, const char *s, nc_type *t) {
    printf("  def_compound %s %zu\n", s, z);
    return 0;
}
static int f_icomp(int n, nc_type t, const char *s, size_t o, nc_type f) {
    printf("  insert_compound %d %s %zu %d\n", t, s, o, f);
    return 0;
}
static int f_iacomp(int n, nc_type t, const char *s, size_t o, nc_type f, int r, const int *d) {
    printf("  insert_array_compound %d %s %zu %d %d\n", t, s, o, f, r);
    return 0;
}
static int f_field(int n, nc_type t, int i, char *s, size_t *o, nc_type *f, int *r, int *d) {
    printf("  inq_compound_field %d %d %d%d%d%d%d\n", t, i, s != 0, o != 0, f != 0, r != 0, d != 0);
    return 0;
}
static int f_fieldi(int n, nc_type t, const char *s, int *i) {
    printf("  inq_compound_fieldindex %d %s\n", t, s);
    return 0;
}
static int f_dvlen(int n, const char *s, nc_type b, nc_type *t) {
    printf("  def_vlen %s %d\n", s, b);
    return 0;
}
static int f_pvlen(int n, int t, void *v, size_t l, const void *d) {
    printf("  put_vlen_element %d %zu\n", t, l);
    return 0;
}
static int f_gvlen(int n, int t, const void *v, size_t *l, void *d) {
    printf("  get_vlen_element %d\n", t);
    return 0;
}
static int f_denum(int n, nc_type b, const char *s, nc_type *t) {
    printf("  def_enum %s %d\n", s, b);
    return 0;
}
static int f_ienum(int n, nc_type t, const char *s, const void *v) {
    printf("  insert_enum %d %s\n", t, s);
    return 0;
}
static int f_member(int n, nc_type t, int i, char *s, void *v) {
    printf("  inq_enum_member %d %d\n", t, i);
    return 0;
}
static int f_ident(int n, nc_type t, long long v, char *s) {
    printf("  inq_enum_ident %d %lld\n", t, v);
    return 0;
}
static int f_dopaque(int n, size_t z, const char *s, nc_type *t) {
    printf("  def_opaque %s %zu\n", s, z);
    return 0;
}
static int f_deflate(int n, int v, int a, int b, int c) {
    printf("  def_var_deflate %d %d%d%d\n", v, a, b, c);
    return 0;
}
static int f_fletch(int n, int v, int a) {
    printf("  def_var_fletcher32 %d %d\n", v, a);
    return 0;
}
static int f_chunk(int n, int v, int a, const size_t *c) {
    printf("  def_var_chunking %d %d %d\n", v, a, c != 0);
    return 0;
}
static int f_endian(int n, int v, int a) {
    printf("  def_var_endian %d %d\n", v, a);
    return 0;
}
static int f_filter(int n, int v, unsigned i, size_t c, const unsigned *p) {
    printf("  def_var_filter %d %u %zu\n", v, i, c);
    return 0;
}
static int f_scache(int n, int v, size_t a, size_t b, float c) {
    printf("  set_var_chunk_cache %d %zu %zu %g\n", v, a, b, c);
    return 0;
}
static int f_gcache(int n, int v, size_t *a, size_t *b, float *c) {
    printf("  get_var_chunk_cache %d %d%d%d\n", v, a != 0, b != 0, c != 0);
    return 0;
}
static int f_fids(int n, int v, size_t *c, unsigned *i) {
    printf("  inq_var_filter_ids %d %d%d\n", v, c != 0, i != 0);
    if (c) *c = 1;
    if (i) *i = 1;
    return 0;
}
static int f_finfo(int n, int v, unsigned i, size_t *c, unsigned *p) {
    printf("  inq_var_filter_info %d %u %d%d\n", v, i, c != 0, p != 0);
    if (c) *c = 1;
    if (p) *p = 4;
    return 0;
}
static int f_quant(int n, int v, int a, int b) {
    printf("  def_var_quantize %d %d %d\n", v, a, b);
    return 0;
}
static int f_iquant(int n, int v, int *a, int *b) {
    printf("  inq_var_quantize %d\n", v);
    return 0;
}
static int f_favail(int n, unsigned i) {
    printf("  inq_filter_avail %u\n", i);
    return 0;
}
static NC_Dispatch table = {NC_FORMATX_UDF0, NC_DISPATCH_VERSION,
                            f_create,        f_open,
                            f_redef,         f_enddef,
                            f_sync,          f_abort,
                            f_close,         f_set_fill,
                            f_fmt,           f_fmtx,
                            f_inq,           f_type,
                            f_def_dim,       f_dimid,
                            f_dim,           f_unl,
                            f_rdim,          f_att,
                            f_attid,         f_attname,
                            f_ratt,          f_datt,
                            f_gatt,          f_patt,
                            f_dvar,          f_varid,
                            f_rvar,          f_gvara,
                            f_pvara,         f_gvars,
                            f_pvars,         f_gvarm,
                            f_pvarm,         f_all,
                            f_par,           f_fill,
                            f_show,          f_unls,
                            f_ncid,          f_grps,
                            f_gname,         f_gfull,
                            f_parent,        f_gfid,
                            f_varids,        f_dimids,
                            f_typeids,       f_teq,
                            f_dgrp,          f_rgrp,
                            f_user,          f_tid,
                            f_dcomp,         f_icomp,
                            f_iacomp,        f_field,
                            f_fieldi,        f_dvlen,
                            f_pvlen,         f_gvlen,
                            f_denum,         f_ienum,
                            f_member,        f_ident,
                            f_dopaque,       f_deflate,
                            f_fletch,        f_chunk,
                            f_endian,        f_filter,
                            f_scache,        f_gcache,
                            f_fids,          f_finfo,
                            f_quant,         f_iquant,
                            f_favail};
