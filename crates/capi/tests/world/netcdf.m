% Octave's netcdf package reads every file and writes both kinds, by its high and its low interface.
pkg load netcdf
format long
page_screen_output(false);
files = sort(glob("*.nc"));
for at = 1:numel(files)
  file = files{at};
  printf("%s\n", file);
  try
    about = ncinfo(file);
  catch why
    % It does not know CDF-5.
    disp(why.message);
    continue
  end
  disp(about.Format);
  for variable = about.Variables
    printf("%s %s\n", variable.Name, variable.Datatype);
    if strcmp(variable.Datatype, "string"), continue, end
    disp(ncread(file, variable.Name));
  end
  disp(ncread(file, "v", [2 1 2], [2 Inf 1], [1 2 1]));
  disp(ncreadatt(file, "v", "units"));
end
for kind = {"classic", "netcdf4", "netcdf4_classic", "64bit"}
  name = ["octave-" kind{1} ".nc"];
  nccreate(name, "v", "Dimensions", {"x", 3, "t", Inf}, "Datatype", "double", "Format", kind{1}, "FillValue", -9);
  ncwrite(name, "v", [1 2; 3 4; 5 6]);
  ncwrite(name, "v", [7; 8; 9], [1 3]);
  ncwriteatt(name, "v", "units", "K");
  ncwriteatt(name, "/", "count", int32([1 2 3]));
end
nccreate("octave-netcdf4.nc", "small", "Dimensions", {"x", 3}, "Datatype", "int16", "ChunkSize", 3, "DeflateLevel", 5, "Shuffle", true);
ncwrite("octave-netcdf4.nc", "small", int16([1 -2 3]));
file = netcdf_create("octave-low.nc", bitor(netcdf_getConstant("NC_CLOBBER"), netcdf_getConstant("NC_NETCDF4")));
group = netcdf_defGrp(file, "g");
dim = netcdf_defDim(file, "x", 4);
var = netcdf_defVar(group, "w", "NC_FLOAT", dim);
netcdf_defVarChunking(group, var, "chunked", 2);
netcdf_defVarDeflate(group, var, true, true, 3);
netcdf_endDef(file);
netcdf_putVar(group, var, single([1.5 2.5 3.5 4.5]));
netcdf_putVar(group, var, 1, 2, single([-1 -2]));
netcdf_putAtt(group, var, "note", "text");
netcdf_sync(file);
disp(netcdf_getVar(group, var));
netcdf_close(file);
