C     The interface for Fortran 77, and that of version 2: a classic file is written and read.
      program fixed
      implicit none
      include 'netcdf.inc'
      character*256 folder, path
      integer n, ncid, xdim, tdim, v, c, s, i, code
      integer dims(2), first(1), start(2), count(2), stride(2), imap(2)
      integer ints(6), length, kind, rank, natts, format
      real reals(6)
      double precision doubles(6)
      character*8 text
      character*(NF_MAX_NAME) name

      call getarg(1, folder)
      n = index(folder, ' ') - 1
      path = folder(1:n) // '/fixed.nc'
      n = n + 9

      call show('create', nf_create(path(1:n), NF_CLOBBER, ncid))
      call show('x', nf_def_dim(ncid, 'x', 3, xdim))
      call show('t', nf_def_dim(ncid, 't', NF_UNLIMITED, tdim))
      call show('again', nf_def_dim(ncid, 'u', NF_UNLIMITED, code))
      dims(1) = xdim
      first(1) = 1
      dims(2) = tdim
      call show('v', nf_def_var(ncid, 'v', NF_REAL, 2, dims, v))
      call show('c', nf_def_var(ncid, 'c', NF_CHAR, 1, dims, c))
      call show('s', nf_def_var(ncid, 's', NF_SHORT, 0, dims, s))
      call show('units', nf_put_att_text(ncid, v, 'units', 3, 'm/s'))
      ints(1) = -5
      ints(2) = 300
      call show('byte', nf_put_att_int(ncid, v, 'b', NF_BYTE, 2, ints))
      doubles(1) = 0.1d0
      call show('double', nf_put_att_double(ncid, NF_GLOBAL, 'd',
     &     NF_DOUBLE, 1, doubles))
      call show('early', nf_put_var1_int(ncid, s, first, 7))
      call show('enddef', nf_enddef(ncid))

      do 10 i = 1, 6
         reals(i) = i * 1.5
 10   continue
      start(1) = 1
      start(2) = 2
      count(1) = 3
      count(2) = 2
      call show('vara', nf_put_vara_real(ncid, v, start, count, reals))
      call show('var1', nf_put_var1_int(ncid, s, first, 7))
      call show('large', nf_put_var1_int(ncid, s, first, 70000))
      call show('text', nf_put_var_text(ncid, c, 'abc'))
      call show('number', nf_put_var_int(ncid, c, ints))
      start(2) = 1
      stride(1) = 2
      stride(2) = 2
      count(1) = 2
      call show('vars', nf_get_vars_int(ncid, v, start, count, stride,
     &     ints))
      print *, (ints(i), i = 1, 4)
      count(1) = 3
      stride(1) = 1
      stride(2) = 1
      imap(1) = 2
      imap(2) = 1
      call show('varm', nf_get_varm_double(ncid, v, start, count,
     &     stride, imap, doubles))
      count(2) = 1
      call show('close', nf_close(ncid))

      call show('open', nf_open(path(1:n), NF_WRITE, ncid))
      call show('format', nf_inq_format(ncid, format))
      call show('var', nf_inq_var(ncid, v, name, kind, rank, dims,
     &     natts))
      print *, name(1:1), kind, rank, dims, natts
      call show('dim', nf_inq_dim(ncid, dims(2), name, length))
      print *, name(1:1), length, format
      call show('att', nf_inq_att(ncid, v, 'units', kind, length))
      text = ' '
      call show('units', nf_get_att_text(ncid, v, 'units', text))
      print *, kind, length, ' [', text, ']'
      call show('none', nf_inq_varid(ncid, 'none', code))
      call show('var_real', nf_get_var_real(ncid, v, reals))
      print '(6e12.4)', reals
      call show('redef', nf_redef(ncid))
      call show('del', nf_del_att(ncid, v, 'b'))
      call show('end', nf__enddef(ncid, 64, 4, 0, 4))
      call show('sync', nf_sync(ncid))
      call show('close', nf_close(ncid))
      call show('closed', nf_sync(ncid))
      call older(folder)
      end

C     A call and its code.
      subroutine show(name, code)
      implicit none
      include 'netcdf.inc'
      character*(*) name
      integer code
      print *, name, code, ' ', nf_strerror(code)
      end

C     Version 2.
      subroutine older(folder)
      implicit none
      include 'netcdf.inc'
      character*256 folder
      integer n, ncid, dim, id, code, kind, length
      integer values(2)
      character*31 name
      n = index(folder, ' ') - 1
      call ncpopt(0)
      ncid = nccre(folder(1:n) // '/second.nc', ncclob, code)
      print *, 'create', code
      dim = ncddef(ncid, 'x', 2, code)
      print *, 'dim', dim, code
      id = ncvdef(ncid, 'v', nclong, 1, dim, code)
      print *, 'var', id, code
      call ncaptc(ncid, id, 'units', ncchar, 2, 'kg', code)
      print *, 'att', code
      call ncendf(ncid, code)
      values(1) = 11
      values(2) = -12
      call ncvpt(ncid, id, 1, 2, values, code)
      print *, 'put', code
      values(1) = 0
      call ncvgt1(ncid, id, 2, values, code)
      print *, 'get', values(1), code
      call ncdinq(ncid, dim, name, length, code)
      print *, 'inq', name(1:1), length, code
      id = ncvid(ncid, 'none', code)
      print *, 'none', code
      call ncainq(ncid, 1, 'units', kind, length, code)
      print *, 'att', kind, length, code
      call ncclos(ncid, code)
      print *, 'close', code
      end
