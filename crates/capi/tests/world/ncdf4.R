# R's ncdf4 reads every variable of every file, and writes files of both kinds.
library(ncdf4)
for (file in sort(Sys.glob("*.nc"))) {
    # It does not know CDF-5.
    opened <- tryCatch(nc_open(file), error = function(why) print(conditionMessage(why)))
    if (!inherits(opened, "ncdf4")) next
    print(opened)
    for (variable in opened$var) {
        cat(file, variable$name, variable$prec, "\n")
        print(ncvar_get(opened, variable))
        print(ncatt_get(opened, variable))
    }
    print(ncatt_get(opened, 0))
    print(ncvar_get(opened, "v", start = c(2, 1, 2), count = c(2, -1, 1)))
    nc_close(opened)
}
for (is_nc4 in c(FALSE, TRUE)) {
    x <- ncdim_def("x", "m", 1:4)
    time <- ncdim_def("time", "days since 2000-01-01", 1:2, unlim = TRUE)
    plain <- ncvar_def("plain", "K", list(x, time), missval = -9, prec = "float")
    count <- ncvar_def("count", "1", x, prec = "integer")
    text <- ncvar_def("text", "", list(ncdim_def("len", "", 1:6, create_dimvar = FALSE), x), prec = "char")
    variables <- list(plain, count, text)
    if (is_nc4)
        variables <- c(variables, list(
            ncvar_def("inside/small", "K", list(x, time), prec = "double", compression = 4, shuffle = TRUE)))
    target <- nc_create(if (is_nc4) "r-4.nc" else "r-3.nc", variables, force_v4 = is_nc4)
    ncvar_put(target, plain, c(1.5, NA, 3, 4, 5, 6, 7, 8))
    ncvar_put(target, count, 4:1)
    ncvar_put(target, text, c("a", "bc", "def", "ghijkl"))
    if (is_nc4) ncvar_put(target, "inside/small", seq(0.5, 4, by = 0.5))
    ncatt_put(target, "plain", "valid_range", c(-100, 100), prec = "float")
    ncatt_put(target, 0, "title", "written by R")
    ncvar_put(target, plain, c(9, 10, 11, 12), start = c(1, 3), count = c(4, 1))
    nc_sync(target)
    nc_close(target)
}
file.copy("classic.nc", "r-changed.nc")
changed <- nc_open("r-changed.nc", write = TRUE)
ncvar_put(changed, "v", rep(1, 12), start = c(1, 1, 4), count = c(4, 3, 1))
changed <- ncvar_add(changed, ncvar_def("more", "1", changed$dim$lat, prec = "short"))
ncvar_put(changed, "more", 1:3)
ncvar_rename(changed, "p", "packed")
nc_close(changed)
