"""Makes the Parquet files that the tests read: the same 40 rows by several writers. Needs pandas, pyarrow, fastparquet."""
import pandas, pyarrow, pyarrow.parquet, fastparquet

rows = []
for n in range(40):
    if n % 7 == 3:
        rows.append((None, 0, 0, bytes([n, 255, 0])))
    elif n % 7 == 5:
        rows.append((None, 0, 0, None))
    else:
        rows.append((f"data/file{n // 20}.nc", n * 1000, n + 1, None))
path, offset, size, raw = (list(column) for column in zip(*rows))
table = pyarrow.table({
    "path": pyarrow.array(path, pyarrow.string()),
    "offset": pyarrow.array(offset, pyarrow.int64()),
    "size": pyarrow.array(size, pyarrow.int64()),
    "raw": pyarrow.array(raw, pyarrow.binary()),
})
small = {"write_statistics": False, "store_schema": False}
pyarrow.parquet.write_table(table, "arrow-snappy.parq", compression="snappy", **small)
pyarrow.parquet.write_table(table, "arrow-zstd-v2.parq", compression="zstd", data_page_version="2.0",
                            version="2.6", write_page_checksum=True, **small)
pyarrow.parquet.write_table(table, "arrow-gzip-plain.parq", compression="gzip", use_dictionary=False, **small)
pyarrow.parquet.write_table(table, "arrow-groups.parq", compression="none", row_group_size=15, **small)
pyarrow.parquet.write_table(table, "arrow-delta.parq", compression="none", use_dictionary=False,
                            column_encoding={"offset": "DELTA_BINARY_PACKED"}, **small)
frame = pandas.DataFrame({"path": pandas.Series(path, dtype=object), "offset": offset, "size": size,
                          "raw": pandas.Series(raw, dtype=object)})
kinds = {"object_encoding": {"raw": "bytes", "path": "utf8"}, "has_nulls": ["path", "raw"], "stats": False}
fastparquet.write("fast-zstd.parq", frame, compression="zstd", **kinds)
frame["path"] = frame["path"].astype("category")
fastparquet.write("fast-category.parq", frame, compression="zstd", **kinds)
