// The C++ interface of netCDF-C's authors: groups, types of every class, strings, unlimited dimensions and filters, written and read.
#include <netcdf>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace netCDF;

struct Point {
    double x;
    short level;
    char tag[4];
};

// What a call that must fail says.
template <typename Call> static void refused(const char *name, Call call) {
    try {
        call();
        std::cout << name << ": no error\n";
    } catch (exceptions::NcException &error) {
        std::cout << name << ": " << error.errorCode() << '\n';
    }
}

static void define_types(NcFile &file, const NcDim &x) {
    NcCompoundType point = file.addCompoundType("point", sizeof(Point));
    point.addMember("x", ncDouble, offsetof(Point, x));
    point.addMember("level", ncShort, offsetof(Point, level));
    point.addMember("tag", ncChar, offsetof(Point, tag), std::vector<int>{4});
    const Point points[3] = {{1.5, -1, {'a', 'b', 'c', 'd'}}, {-2.25, 300, {'e', 0, 0, 0}}, {1e300, 0, {0, 0, 0, 0}}};
    file.addVar("points", point, x).putVar(points);

    NcEnumType sky = file.addEnumType("sky", NcEnumType::nc_BYTE);
    sky.addMember("clear", static_cast<signed char>(0));
    sky.addMember("cloudy", static_cast<signed char>(-3));
    const signed char skies[3] = {0, -3, 0};
    file.addVar("skies", sky, x).putVar(skies);

    NcVlenType row = file.addVlenType("row", ncInt);
    int numbers[3] = {7, 8, 9};
    const nc_vlen_t rows[3] = {{3, numbers}, {0, nullptr}, {1, numbers}};
    file.addVar("rows", row, x).putVar(rows);

    NcOpaqueType blob = file.addOpaqueType("blob", 3);
    file.addVar("blobs", blob, x).putVar(std::vector<char>{1, 2, 3, 4, 5, 6, 7, 8, -1}.data());
}

static void write(const std::string &path) {
    NcFile file(path, NcFile::replace);
    const NcDim x = file.addDim("x", 3), t = file.addDim("t");
    file.putAtt("title", std::string("made in C++"));
    file.putAtt("numbers", ncFloat, 3, std::vector<double>{1, 2.5, -3}.data());
    define_types(file, x);

    const char *words[3] = {"one", "", "zwölf"};
    NcVar names = file.addVar("names", ncString, x);
    names.putVar(words);
    names.putVar(std::vector<size_t>{1}, std::string("second"));
    names.putAtt("notes", 2, words);

    NcVar packed = file.addVar("packed", ncInt, std::vector<NcDim>{t, x});
    std::vector<size_t> chunks{2, 3};
    packed.setChunking(NcVar::nc_CHUNKED, chunks);
    packed.setCompression(true, true, 4);
    packed.setChecksum(NcVar::nc_FLETCHER32);
    packed.setFill(true, -9);
    packed.setEndianness(NcVar::nc_ENDIAN_BIG);
    for (size_t at = 0; at < 5; at += 2) {
        const int values[3] = {int(at), int(at) * 10, int(at) * 100};
        packed.putVar(std::vector<size_t>{at, 0}, std::vector<size_t>{1, 3}, values);
    }

    NcGroup inner = file.addGroup("inner"), deep = inner.addGroup("deep");
    const NcDim own = inner.addDim("own", 2);
    deep.addVar("v", ncDouble, std::vector<NcDim>{own, x}).putVar(std::vector<double>{1, 2, 3, 4, 5, 6}.data());
    deep.putAtt("where", "far down");

    refused("a name twice", [&] { file.addDim("x", 4); });
    refused("a number too large", [&] { file.putAtt("b", ncByte, 300); });
    refused("no such level", [&] { packed.setCompression(true, true, 4); });
    refused("beyond the end", [&] { names.putVar(std::vector<size_t>{3}, std::string("fourth")); });
}

static void tell(const NcGroup &group, int depth) {
    const std::string indent(depth * 2, ' ');
    std::cout << indent << "group " << group.getName(true) << ", parents " << group.getParentGroup().isNull() << '\n';
    for (const auto &dim : group.getDims())
        std::cout << indent << "dim " << dim.first << ' ' << dim.second.getSize() << ' ' << dim.second.isUnlimited() << '\n';
    for (const auto &type : group.getTypes())
        std::cout << indent << "type " << type.first << ' ' << type.second.getSize() << ' ' << type.second.getTypeClassName() << '\n';
    for (const auto &att : group.getAtts(NcGroup::Current))
        std::cout << indent << "attribute " << att.first << ' ' << att.second.getType().getName() << ' ' << att.second.getAttLength() << '\n';
    for (const auto &var : group.getVars()) {
        std::cout << indent << "variable " << var.first << ' ' << var.second.getType().getName();
        for (const NcDim &dim : var.second.getDims()) std::cout << ' ' << dim.getName();
        NcVar::ChunkMode mode;
        std::vector<size_t> chunks;
        bool shuffle = false, deflate = false;
        int level = -1;
        var.second.getChunkingParameters(mode, chunks);
        var.second.getCompressionParameters(shuffle, deflate, level);
        std::cout << "; " << mode << ' ' << chunks.size() << ' ' << shuffle << deflate << ' ' << (deflate ? level : 0) << '\n';
    }
    for (const auto &inner : group.getGroups()) tell(inner.second, depth + 1);
}

static void read(const std::string &path) {
    NcFile file(path, NcFile::read);
    tell(file, 0);
    Point points[3];
    memset(points, 0, sizeof points);
    file.getVar("points").getVar(points);
    for (const Point &point : points) std::cout << point.x << ' ' << point.level << ' ' << std::string(point.tag, strnlen(point.tag, 4)) << '\n';
    nc_vlen_t rows[3];
    file.getVar("rows").getVar(rows);
    for (nc_vlen_t &row : rows) {
        std::cout << "row";
        for (size_t at = 0; at < row.len; at++) std::cout << ' ' << static_cast<int *>(row.p)[at];
        std::cout << '\n';
    }
    nc_free_vlens(3, rows);
    char *words[3];
    file.getVar("names").getVar(words);
    for (const char *word : words) std::cout << "name [" << word << "]\n";
    nc_free_string(3, words);
    double packed[5][3];
    file.getVar("packed").getVar(&packed[0][0]);
    for (auto &row : packed) std::cout << row[0] << ' ' << row[1] << ' ' << row[2] << '\n';
    int strided[4];
    file.getVar("packed").getVar(std::vector<size_t>{0, 1}, std::vector<size_t>{2, 2}, std::vector<ptrdiff_t>{4, 1}, strided);
    std::cout << strided[0] << ' ' << strided[1] << ' ' << strided[2] << ' ' << strided[3] << '\n';
    std::string title;
    file.getAtt("title").getValues(title);
    std::cout << title << '\n';
    const NcEnumType sky(file.getType("sky", NcGroup::Current));
    for (const auto &name : sky.getMemberNameFromValue<signed char>(-3)) std::cout << name;
    std::cout << ' ' << sky.getMemberCount() << '\n';
    const NcCompoundType point(file.getType("point", NcGroup::Current));
    std::cout << point.getMemberCount() << ' ' << point.getMemberName(2) << ' ' << point.getMemberOffset(2) << ' ' << point.getMemberDimCount(2) << '\n';
    refused("written to", [&] { file.putAtt("a", ncInt, 1); });
    refused("nowhere", [] { NcFile("none.nc", NcFile::read); });
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    const std::string path = std::string(arguments[1]) + "/groups.nc";
    write(path);
    read(path);
    return 0;
}
