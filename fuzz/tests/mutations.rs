//! Every target over a few thousand mutations of samples.
use ncirrus_testkit::law::RandomSource;

fn mutate(samples: &[Vec<u8>], rounds: u64, target: fn(&[u8])) {
    for sample in samples {
        target(sample);
        for end in 0..sample.len().min(400) {
            target(&sample[..end]);
        }
    }
    for seed in 0..rounds {
        let mut random = RandomSource(seed);
        let sample = &samples[usize::try_from(random.below(samples.len() as u64)).unwrap()];
        let mut bytes = sample.clone();
        for _ in 0..1 + random.below(4) {
            change(&mut bytes, &mut random);
        }
        target(&bytes);
    }
}

fn change(bytes: &mut Vec<u8>, random: &mut RandomSource) {
    let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
    let value = random.next_u64().to_le_bytes()[0];
    match random.below(6) {
        _ if bytes.is_empty() => bytes.push(value),
        0 => bytes[at] = value,
        1 => bytes[at] ^= 1 << (value % 8),
        2 => bytes.insert(at, value),
        3 => _ = bytes.remove(at),
        4 => bytes[at] = [0, 0xff, 0x7f, 0x80][usize::from(value % 4)],
        _ => bytes.truncate(at),
    }
}

#[test]
fn zarr_metadata_survives() {
    let att = concat!(
        ".zgroup\t{\"zarr_format\": 2}\n",
        ".zattrs\t{\"title\": \"basic\", \"pi\": 3.14, \"_nczarr_group\": {\"dimensions\": {\"x\": 3, \"t\": {\"size\": 5, \"unlimited\": 1}}, ",
        "\"arrays\": [\"v\"], \"groups\": [\"g\"]}, \"_nczarr_superblock\": {\"version\": \"2.0.0\"}, ",
        "\"_nczarr_attr\": {\"types\": {\"title\": \">S1\", \"pi\": \"<f8\"}}}\n",
        "v/.zarray\t{\"zarr_format\": 2, \"shape\": [5,3], \"dtype\": \"<i4\", \"chunks\": [2,3], \"fill_value\": -1, \"order\": \"C\", ",
        "\"compressor\": {\"id\": \"zlib\", \"level\": 4}, \"filters\": null}\n",
        "v/.zattrs\t{\"_FillValue\": -1, \"_nczarr_array\": {\"dimension_references\": [\"/t\",\"/x\"], \"storage\": \"chunked\"}}\n",
        "g/.zgroup\t{\"zarr_format\": 2}\ng/.zattrs\t{\"_nczarr_group\": {\"dimensions\": {}, \"arrays\": [], \"groups\": []}}\n",
    );
    let v3 = concat!(
        "zarr.json\t{\"attributes\": {}, \"zarr_format\": 3, \"node_type\": \"group\", \"consolidated_metadata\": {\"kind\": \"inline\", ",
        "\"must_understand\": false, \"metadata\": {\"x\": {\"shape\": [3], \"data_type\": \"int32\", \"chunk_grid\": {\"name\": \"regular\", ",
        "\"configuration\": {\"chunk_shape\": [3]}}, \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}}, ",
        "\"fill_value\": 0, \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}], \"attributes\": {}, ",
        "\"dimension_names\": [\"x\"], \"zarr_format\": 3, \"node_type\": \"array\", \"storage_transformers\": []}}}}\n",
    );
    let dtypes = concat!(
        ".zgroup\t{\"zarr_format\": 2}\nv/.zarray\t{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [2], \"order\": \"F\", \"compressor\": null, ",
        "\"filters\": [{\"id\": \"vlen-utf8\"}], \"dtype\": [[\"a\", \"<i4\"], [\"b\", \"|S3\", [2]]], \"fill_value\": \"AAAA\"}\n",
    );
    let samples: Vec<Vec<u8>> = [att, v3, dtypes].iter().map(|text| text.as_bytes().to_vec()).collect();
    mutate(&samples, 6000, ncirrus_fuzz::zarr_metadata);
}

#[test]
fn classic_headers_survive() {
    let mut samples = vec![b"CDF\x01".to_vec(), b"CDF\x05".to_vec()];
    samples.push(include_bytes!("../../examples/sst.nc")[..1200].to_vec());
    mutate(&samples, 6000, ncirrus_fuzz::classic_header);
}

#[test]
fn zip_directories_survive() {
    // One stored entry `a/.zgroup`, its central directory and the end record.
    let body = b"{\"zarr_format\": 2}";
    let name = b"a/.zgroup";
    let mut zip = Vec::new();
    let sizes =
        [u32::try_from(body.len()).unwrap().to_le_bytes(), u32::try_from(body.len()).unwrap().to_le_bytes()]
            .concat();
    let common =
        [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &crc32(body).to_le_bytes(), &sizes, &[9, 0, 0, 0]].concat();
    zip.extend_from_slice(b"PK\x03\x04");
    zip.extend_from_slice(&common);
    zip.extend_from_slice(name);
    zip.extend_from_slice(body);
    let directory = zip.len();
    zip.extend_from_slice(b"PK\x01\x02\x14\x00");
    zip.extend_from_slice(&common);
    zip.extend_from_slice(&[0; 14]);
    zip.extend_from_slice(name);
    let len = zip.len() - directory;
    zip.extend_from_slice(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
    zip.extend_from_slice(&u32::try_from(directory).unwrap().to_le_bytes());
    zip.extend_from_slice(&[0, 0]);
    mutate(&[zip], 6000, ncirrus_fuzz::zip_directory);
}

#[test]
fn reference_files() {
    let text = r#"{"version": 1, "templates": {"u": "a/b", "f": "{{c}}.nc"},
        "gen": [{"key": "g{{i}}", "url": "{{u}}", "offset": "{{i * 2}}", "length": "2", "dimensions": {"i": {"stop": 3}}}],
        "refs": {".zgroup": "{}", "x": "base64:AAAA", "y": ["{{f(c='t')}}", 1, 2], "z": ["{{u}}"]}}"#;
    mutate(&[text.as_bytes().to_vec()], 6000, ncirrus_fuzz::reference_file);
}

#[test]
fn files_of_icechunk_survive() {
    let Some(corpus) = ncirrus_testkit::corpus::corpus("icechunk") else { return };
    let repo = corpus.join("http-named/repo");
    let mut files = vec![repo.join("repo")];
    for folder in ["snapshots", "manifests"] {
        files.extend(std::fs::read_dir(repo.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    let samples: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(samples.len() >= 4);
    mutate(&samples, 6000, ncirrus_fuzz::icechunk_file);
    let plain: Vec<Vec<u8>> = samples.iter().filter_map(|file| ncirrus_fuzz::icechunk_plain(file)).collect();
    assert_eq!(plain.len(), samples.len());
    mutate(&plain, 6000, ncirrus_fuzz::icechunk_file);
}

#[test]
fn files_of_references_in_parquet() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/store/src/parquet/tests");
    let names =
        ["arrow-snappy", "arrow-zstd-v2", "arrow-gzip-plain", "arrow-groups", "fast-zstd", "fast-category"];
    let files = names.map(|name| std::fs::read(format!("{folder}/{name}.parq")).unwrap());
    mutate(&files, 6000, ncirrus_fuzz::reference_records);
}

#[test]
fn documents_of_dmrpp() {
    let text = r#"<Dataset name="x" dmrpp:href="x.h5" dmrpp:version="3"><Dimension name="y" size="5"/>
        <Int32 name="a"><Dim name="/y"/><dmrpp:chunks compressionType="shuffle deflate" deflateLevel="1" fillValue="-7">
        <dmrpp:chunkDimensionSizes>2</dmrpp:chunkDimensionSizes>
        <dmrpp:chunk offset="4016" nBytes="22" chunkPositionInArray="[4]"/></dmrpp:chunks></Int32>
        <Int16 name="b"><Dim size="2"/><dmrpp:compact>AQACAA==</dmrpp:compact></Int16>
        <String name="c"><Dim size="4"/><dmrpp:vlsa><v>so</v><v c="3">much</v></dmrpp:vlsa></String></Dataset>"#;
    mutate(&[text.as_bytes().to_vec()], 6000, ncirrus_fuzz::dmrpp);
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

#[test]
fn printed_numbers_read_back() {
    let mut random = RandomSource(7);
    let samples = vec![(0..9000).flat_map(|_| random.next_u64().to_le_bytes()).collect()];
    mutate(&samples, 20, ncirrus_fuzz::number_printing);
}

#[test]
fn encoded_chunks_survive() {
    let mut samples = ncirrus_fuzz::codec_samples();
    assert!(samples.len() >= 29, "only {} codecs encode", samples.len());
    samples.extend((0..30u8).map(|which| [&[which][..], &[7; 300]].concat()));
    mutate(&samples, 6000, ncirrus_fuzz::codecs);
}

#[test]
fn parameters_of_filters_survive() {
    let numbers: [&[u16]; 4] = [
        &[20, 0, 1024, 3, 4, 2, 0, 1, 1, 0, 3, 1, 1, 2, 3, 1, 1, 1, 5, 0],
        &[2, 0, 1024, 0, 4, 1, 0, 1, 99, 0],
        &[0, 4, 4, 64, 2, 1],
        &[1, 0, 4, 4096, 5, 1, 1, 2, 64, 16],
    ];
    let bytes = |numbers: &[u16]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let samples: Vec<Vec<u8>> =
        (0..18u8).flat_map(|which| numbers.map(|numbers| [&[which][..], &bytes(numbers)].concat())).collect();
    mutate(&samples, 6000, ncirrus_fuzz::filter_parameters);
}

#[test]
fn aggregation_survives() {
    let array = concat!(
        "{\"base\": \"sub\", \"pmshape\": [2], \"pmdimensions\": [\"x\"], \"Partitions\": [{\"index\": [1], ",
        "\"location\": [[1, 1], [0, 2]], \"punits\": \"degC\", \"pdimensions\": [\"y\"], \"reverse\": [\"y\"], ",
        "\"part\": \"[(0, 2, 4)]\", \"subarray\": {\"file\": \"p1.nc\", \"varid\": 0, \"shape\": [5]}}, {\"index\": [0], ",
        "\"location\": [[0, 0], [0, 2]], \"part\": \"[[0, 0, 1], [4, 0, -2]]\", \"subarray\": {\"file\": \"p0.nc\", ",
        "\"ncvar\": \"ta\", \"format\": \"nc\"}}]}",
    );
    let samples: Vec<Vec<u8>> =
        [array, "map: m uris: u identifiers: i", "location: m file: u format: i address: i"]
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect();
    mutate(&samples, 6000, ncirrus_fuzz::aggregation);
}

#[test]
fn answers_of_several_parts_survive() {
    let samples = [
        "multipart/byteranges; boundary=b\n--b\r\nContent-Range: bytes 0-3/9\r\n\r\n0123\r\n--b\r\ncontent-range: bytes 1-1/*\r\n\r\n1\r\n--b--",
        "multipart/byteranges; a=\"x;\" ; boundary=\"b c\"\n\r\n--b c \r\nContent-Type: a/b\r\nContent-Range: bytes 8-8/9\r\n\r\n8\r\n--b c--\r\n",
        "bytes 0-3/9\n",
        "bytes */9\n",
    ];
    let samples: Vec<Vec<u8>> = samples.iter().map(|text| text.as_bytes().to_vec()).collect();
    mutate(&samples, 20_000, ncirrus_fuzz::byte_ranges);
}

#[test]
fn configurations_survive() {
    let samples = [
        "memory = \"2G\"\n[hosts.a]\nurl = \"http://a:9\"\naccess_key = 'x'\nsecret_key = 'y'\n[substitutions]\nx = \"y\"\n",
        "{\"version\": \"9\", \"hosts\": {\"s3://a\": {\"url\": \"http://a\", \"backend\": \"b\"}}, \"backends\": {\"b\": {}}}",
        "A=1\n[https://h.org:80/a]HTTP.CREDENTIALS.USER=me\n[s3://b/k]AWS.PROFILE=p\n# c\nK\n",
        "s3://a.b:80/b/k?versionId=%41#mode=s3,awsprofile=x&requester_pays",
    ];
    let samples: Vec<Vec<u8>> = samples.iter().map(|text| text.as_bytes().to_vec()).collect();
    mutate(&samples, 6000, ncirrus_fuzz::configuration);
}

/// A variable of Zarr v2 with an uncompressed chunk, one of texts, and one of v3 in a shard whose index has no
/// checksum.
#[test]
fn chunks_of_zarr_survive() {
    let numbers = r#".zarray	{"zarr_format": 2, "shape": [5], "dtype": "<i4", "chunks": [3], "fill_value": -1, "order": "C",
        "compressor": null, "filters": [{"id": "shuffle", "elementsize": 4}]}"#;
    let texts = r#".zarray	{"zarr_format": 2, "shape": [2], "dtype": "|O", "chunks": [2], "fill_value": "", "order": "C",
        "compressor": null, "filters": [{"id": "vlen-utf8"}]}"#;
    let shard = r#"zarr.json	{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}, "attributes": {},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "index_location": "end",
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]}"#;
    let index = [0u64, 4, 4, 4].map(u64::to_le_bytes).concat();
    let samples = [
        vec![numbers.as_bytes().to_vec(), [b"0\t".as_slice(), &[7; 12]].concat()],
        vec![texts.as_bytes().to_vec(), b"0\t\x02\0\0\0\x01\0\0\0a\x02\0\0\0bc".to_vec()],
        vec![shard.as_bytes().to_vec(), [b"c/0\t".as_slice(), &[7; 8], &index].concat()],
    ];
    mutate(&samples.map(|objects| objects.join(ncirrus_fuzz::BETWEEN)), 6000, ncirrus_fuzz::zarr_read);
}

#[test]
fn classic_files_survive_reading_and_changing() {
    let sample = include_bytes!("../../examples/sst.nc")[..1200].to_vec();
    mutate(std::slice::from_ref(&sample), 3000, ncirrus_fuzz::classic_read);
    mutate(&[sample], 1000, ncirrus_fuzz::update);
}

#[test]
fn units_survive() {
    let samples = [
        "days since 1850-01-01\t360_day\nhours since 2000-01-01 12:30:45.5 -6:00\tnoleap\nW m-2 s\nkg/m^2\ndegF\ndegC",
        "months since 1582-10-15T00:00:00Z\tstandard\nyears since 1-1-1\tproleptic_gregorian\ndays since 20000101T1200Z",
        "(m (s kg)^-2)**3 @ 5.5\n\u{b5}m\n10^6 m\u{207b}\u{b2}\n0.1 lg(re 1 mW)\ndBZ\nW",
    ];
    mutate(&samples.map(|text| text.as_bytes().to_vec()), 6000, ncirrus_fuzz::units);
}

#[test]
fn printed_texts_survive() {
    let samples = [
        "%08.3f m\ndays since 1970-01-01\nstandard\nname\ntext\nmore",
        "%5d\nmonths since 1850-1-1 12:00\n360_day\nx_bnds\n\0\u{1}\u{ff}",
        "%-+ #10.3e%%\nseconds since 1582-10-15T00:00:00\njulian\nd\n\"\\",
    ];
    mutate(&samples.map(|text| text.as_bytes().to_vec()), 2000, ncirrus_fuzz::cdl);
}

#[test]
fn texts_that_are_read_survive() {
    let everything = include_str!("../../crates/cdl/tests/reading/everything.cdl");
    let data = include_str!("../../crates/tools/tests/ncgen/data.txt");
    let texts = data.split("=== ").filter_map(|case| case.split_once('\n')?.1.split("\n--- ").next());
    let samples: Vec<Vec<u8>> =
        std::iter::once(everything).chain(texts).map(|text| text.as_bytes().to_vec()).collect();
    mutate(&samples, 300, ncirrus_fuzz::cdl_parse);
}

#[test]
fn documents_and_answers_of_dap2_survive() {
    let dds = "Dataset { Byte b[x = 2]; Grid { Array: Int16 g[x = 2]; Maps: Byte x[x = 2]; } g; \
               Structure { Float64 d; String s[2]; } s[1]; Sequence { Int32 i; Sequence { Url u; } n; } q; } d;";
    let das = "Attributes { NC_GLOBAL { String t \"a\\n\\\"\", \"b\"; } b { Byte c 1, -1; Float32 f nan, 1e3; Alias x y; } }";
    let mut answer = [dds.as_bytes(), b"\nData:\n"].concat();
    // b, then array and map of the grid, the structure and two rows of the sequence.
    let words =
        [2, 2, 0x0102_0000, 2, 2, 7, 8, 2, 2, 0, 1, 0, 0, 2, 1, 0x6100_0000, 0, 0x5a00_0000, 5, 0xa500_0000];
    answer.extend(words.into_iter().chain([0xa500_0000]).flat_map(u32::to_be_bytes));
    let samples = [dds.as_bytes().to_vec(), das.as_bytes().to_vec(), answer];
    for target in [ncirrus_fuzz::dds, ncirrus_fuzz::das, ncirrus_fuzz::dods] {
        mutate(&samples, 2000, target);
    }
}

#[test]
fn documents_and_answers_of_dap4_survive() {
    let dmr = "<Dataset name='d'><Dimension name='x' size='2'/><Enumeration name='e'><EnumConst name='A' value='1'/>\
               </Enumeration><Int16 name='a'><Dim name='/x'/><Attribute name='t' type='Float32'><Value>1</Value>\
               </Attribute></Int16><Structure name='s'><String name='t'/><Enum name='f' enum='/e'/></Structure>\
               <Group name='g'><Sequence name='q'><Opaque name='o'/></Sequence></Group></Dataset>";
    let mut values = vec![1, 0, 2, 0];
    // The string and the constant of the structure, then one row of one byte.
    values.extend([1, 0, 0, 0, 0, 0, 0, 0, b'z', 1, 0, 0, 0]);
    values.extend([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]);
    let mut answer = vec![4, 0];
    answer.extend(u16::try_from(dmr.len()).unwrap().to_be_bytes());
    answer.extend_from_slice(dmr.as_bytes());
    answer.extend([5, 0, 0, u8::try_from(values.len()).unwrap()]);
    answer.extend(values);
    for target in [ncirrus_fuzz::dmr, ncirrus_fuzz::dap] {
        mutate(&[dmr.as_bytes().to_vec(), answer.clone()], 2000, target);
    }
}

#[test]
fn constraints_of_a_server_survive() {
    let samples = [
        "t[0:2:2][1:3],g_v,s[1].b[0:1],a%2Eb[4],c[0][0:2]",
        "/x=[1:2:3];/t[][];/g/v;/s[1:2]{b};/a\\.b[3:]",
        "t&t>3,mean(t),s.a",
    ];
    mutate(&samples.map(|text| text.as_bytes().to_vec()), 6000, ncirrus_fuzz::constraints);
}

#[test]
fn selections_survive() {
    let samples = [
        "v[0:10:2,5,:,{1,4},3:]\ng/v\nv[:]",
        "*,zstd,level=3\nv|w,32015,3\n{\"id\":\"zlib\",\"level\":4}\nx,none\nv,bitround=8",
        "x/3,y/5\nv:2,3\nv:compact\n/\n500MB\n1.5GiB\n2h\n30s",
    ];
    mutate(&samples.map(|text| text.as_bytes().to_vec()), 6000, ncirrus_fuzz::selections);
}
