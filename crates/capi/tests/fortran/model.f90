! The interface for Fortran 90: groups, types, strings, unlimited dimensions and filters, written and read.
program model
  use netcdf
  implicit none
  character(len=256) :: folder
  integer :: length

  call get_command_argument(1, folder, length)
  call write_netcdf4(trim(folder) // '/model.nc')
  call read_netcdf4(trim(folder) // '/model.nc')
  call write_classic(trim(folder) // '/classic.nc')

contains

  ! A call and its code.
  subroutine show(name, code)
    character(len=*), intent(in) :: name
    integer, intent(in) :: code
    print '(a, i6, 2a)', name, code, ' ', trim(nf90_strerror(code))
  end subroutine show

  subroutine write_netcdf4(path)
    character(len=*), intent(in) :: path
    integer :: file, x, y, t, inner, deep, field, packed, names, kinds, flags, rows, old
    integer :: step, i, j
    real :: values(3, 4)

    call show('create', nf90_create(path, ior(nf90_netcdf4, nf90_clobber), file))
    call show('x', nf90_def_dim(file, 'x', 3, x))
    call show('y', nf90_def_dim(file, 'y', 4, y))
    call show('t', nf90_def_dim(file, 't', nf90_unlimited, t))
    call show('title', nf90_put_att(file, nf90_global, 'title', 'a model of nothing'))
    call show('reals', nf90_put_att(file, nf90_global, 'reals', (/ 1.5, -2.5 /)))
    call show('field', nf90_def_var(file, 'field', nf90_float, (/ x, y, t /), field, &
      chunksizes=(/ 3, 2, 1 /), shuffle=.true., deflate_level=3, fletcher32=.true.))
    call show('fill', nf90_def_var_fill(file, field, 0, -9.0))
    call show('units', nf90_put_att(file, field, 'units', 'K'))
    call show('packed', nf90_def_var(file, 'packed', nf90_short, (/ x /), packed, endianness=nf90_endian_big))
    call show('names', nf90_def_var(file, 'names', nf90_char, (/ y, x /), names))
    call show('enum', nf90_def_enum(file, nf90_byte, 'sky', kinds))
    call show('clear', nf90_insert_enum(file, kinds, 'clear', 0))
    call show('cloudy', nf90_insert_enum(file, kinds, 'cloudy', 3))
    call show('missing', nf90_insert_enum(file, kinds, 'missing', -127))
    call show('flags', nf90_def_var(file, 'flags', kinds, (/ x /), flags))
    call show('vlen', nf90_def_vlen(file, 'row', nf90_int, rows))
    call show('inner', nf90_def_grp(file, 'inner', inner))
    call show('deep', nf90_def_grp(inner, 'deep', deep))
    call show('where', nf90_put_att(deep, nf90_global, 'where', 'far down'))
    call show('twice', nf90_def_dim(file, 'x', 5, old))
    call show('enddef', nf90_enddef(file))

    do step = 1, 3
      do j = 1, 4
        do i = 1, 3
          values(i, j) = real(100 * step + 10 * j + i)
        end do
      end do
      call show('step', nf90_put_var(file, field, values, start=(/ 1, 1, 2 * step - 1 /), count=(/ 3, 4, 1 /)))
    end do
    call show('range', nf90_put_var(file, packed, (/ 1, 40000, -5 /)))
    call show('text', nf90_put_var(file, names, (/ 'one ', 'two ', 'zwei' /)))
    call show('text as numbers', nf90_put_var(file, names, (/ 1, 2, 3 /)))
    call show('beyond', nf90_put_var(file, packed, (/ 1, 2, 3 /), start=(/ 2 /)))
    call show('close', nf90_close(file))
    call show('closed', nf90_close(file))
  end subroutine write_netcdf4

  subroutine read_netcdf4(path)
    character(len=*), intent(in) :: path
    integer :: file, field, dims, vars, atts, unlimited, rank, level, inner, steps, kind, version
    integer :: ids(nf90_max_var_dims), chunks(3)
    logical :: is_contiguous, shuffles, sums
    real :: values(3, 4), strided(2, 2), mapped(4, 3)
    character(len=nf90_max_name) :: name
    character(len=4) :: words(3)
    character(len=32) :: title
    real :: reals(2)
    double precision :: series(5)

    call show('open', nf90_open(path, nf90_nowrite, file))
    call show('inquire', nf90_inquire(file, dims, vars, atts, unlimited, version))
    print *, dims, vars, atts, unlimited, version
    call show('field', nf90_inq_varid(file, 'field', field))
    call show('about', nf90_inquire_variable(file, field, name, kind, rank, ids, atts, contiguous=is_contiguous, &
      chunksizes=chunks, deflate_level=level, shuffle=shuffles, fletcher32=sums))
    print *, trim(name), kind, rank, ids(1:3), atts, is_contiguous, chunks, level, shuffles, sums
    call show('length', nf90_inquire_dimension(file, ids(3), name, steps))
    print *, trim(name), steps
    call show('values', nf90_get_var(file, field, values, start=(/ 1, 1, 5 /), count=(/ 3, 4, 1 /)))
    print '(12f8.1)', values
    call show('strided', nf90_get_var(file, field, strided, start=(/ 1, 1, 1 /), count=(/ 2, 2, 1 /), stride=(/ 2, 3, 1 /)))
    print '(4f8.1)', strided
    call show('mapped', nf90_get_var(file, field, mapped, start=(/ 1, 1, 1 /), count=(/ 3, 4, 1 /), map=(/ 4, 1, 12 /)))
    print '(12f8.1)', mapped
    call show('series', nf90_get_var(file, field, series, start=(/ 2, 2, 1 /), count=(/ 1, 1, 5 /)))
    print '(5f8.1)', series
    call show('names', nf90_get_var(file, field + 2, words))
    print '(3(a, a4, a))', '[', words(1), ']', '[', words(2), ']', '[', words(3), ']'
    title = ' '
    call show('title', nf90_get_att(file, nf90_global, 'title', title))
    call show('reals', nf90_get_att(file, nf90_global, 'reals', reals))
    print *, trim(title), reals
    call show('inner', nf90_inq_ncid(file, 'inner', inner))
    call show('none', nf90_inq_ncid(file, 'outer', inner))
    call show('put', nf90_put_att(file, nf90_global, 'a', 1))
    call show('close', nf90_close(file))
  end subroutine read_netcdf4

  subroutine write_classic(path)
    character(len=*), intent(in) :: path
    integer :: file, x, t, v, old, i
    call show('create', nf90_create(path, nf90_64bit_offset, file))
    call show('x', nf90_def_dim(file, 'x', 2, x))
    call show('t', nf90_def_dim(file, 't', nf90_unlimited, t))
    call show('v', nf90_def_var(file, 'v', nf90_int, (/ x, t /), v))
    call show('fill', nf90_set_fill(file, nf90_nofill, old))
    print *, old
    call show('early', nf90_put_var(file, v, (/ 1, 2 /)))
    call show('enddef', nf90_enddef(file))
    do i = 1, 3
      call show('put', nf90_put_var(file, v, (/ i, 10 * i /), start=(/ 1, i /), count=(/ 2, 1 /)))
    end do
    call show('redef', nf90_redef(file))
    call show('rename', nf90_rename_var(file, v, 'renamed'))
    call show('late', nf90_put_att(file, v, 'note', 'after the data'))
    call show('close', nf90_close(file))
  end subroutine write_classic

end program model
