#!/usr/bin/python3
"""Writes the seeds of the fuzz targets: tests/fuzz/corpus/TARGET/seed-NAME.

The first byte of an input chooses how the rest is read (see the targets). Inputs that fuzzing has found are kept beside the
seeds under other names, and are not touched.
"""
import gzip
import os
import struct

corpus = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def seed(target, name, choice, content):
    folder = os.path.join(corpus, target)
    os.makedirs(folder, exist_ok=True)
    if isinstance(content, str):
        content = content.encode("latin-1")
    with open(os.path.join(folder, "seed-" + name), "wb") as file:
        file.write(bytes([choice]) + content)


LIBSVM = {
    "plain": "1 1:0.5 3:-2\n-1 2:1e-3\n",
    "comments": "# head\n\n+1 qid:7 1:1 2:0 # tail\n",
    "label-alone": "3\n-0.0\n",
    "marked-crlf": "\xef\xbb\xbf1 1:1\r\n2 2:2\r\n",
    "numbers": "1e308 1:1e-320 2:4.9406564584124654e-324 3:0.1 4:12345678901234567890123 5:.5 6:5.\n",
    "long-number": "1 1:0." + "123456789" * 9 + "e5 2:" + "9" * 200 + "\n",
    "bad-rows": "1 1:nan\n1 2:1 1:1\n1 0:1\n1 1:1e999\nx 1:1\n1 1:\n1 :1\n1 1\n2 5:1\n",
    "large-index": "1 4294967294:1\n1 4294967296:1\n1 18446744073709551617:1\n",
    "cut": "1 1:1\n2 2:2",
    "nul": "1 1:1\n2 \x00:2\n3 1:3\n",
    "long-line": "1" + "".join(" %d:%d" % (k, k % 7) for k in range(1, 60)) + "\n",
}
for name, text in LIBSVM.items():
    for choice in range(2):
        seed("libsvm", "%s-%d" % (name, choice), 13 * choice + 12, text)

CSV = {
    "header": "a,b,y\n1,2,3\n4,5,6\n",
    "no-header": "1,2,3\n4,5,6\n",
    "tabs": "1\t2\t3\n4\t\t6\n",
    "blanks": "  1   2 3\n4 5   6  \n",
    "semicolons": "x;\"y\"\n\"1\";2\n",
    "quotes": "\"a\"\"b\",w,y\n\"1\",\"2\" , 3\n",
    "open-quote": "a,b\n\"1,2\n3,4\n",
    "bad-rows": "1,2\n1\n1,2,3\nnan,1\n,1\n1e999,2\n1,5;2\n# c\n\n7,8\n",
    "weights": "y,w,x\n1,2,3\n1,-2,3\n1,0,3\n",
    "same-names": "y,y\n1,2\n",
    "cut": "1,2\n3,4",
    "one": "5\n",
    "classes": "a,b,verdict\n1,2,ok\n3,4,\"no, not\"\n5,6,1\n7,8,nan\n9,10,ok\n",
    "classes-without-names": "1.5,2,ok\n3,4,no\n",
}
for name, text in CSV.items():
    for choice in range(2):
        seed("csv", "%s-%d" % (name, choice), 25 * choice + 14, text)
for choice in (19, 41):
    seed("csv", "classes-%d" % choice, choice, CSV["classes"])
    seed("csv", "classes-without-names-%d" % choice, choice, CSV["classes-without-names"])


def npy(kind, shape, elements, order=False, version=1, extra=""):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, %s}" % (kind, order, shape, extra)
    size = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + size + header.encode() + b"\n" + elements


TABLE = {
    "events": "id,ts,c,x,y\ne1,2024-01-02T03:04:05Z,DE,1.5,ok\ne2,2024-01-03,FR,,bad\ne3,NA,\"a,b\",2,ok\n",
    "lines": "c,t,y\nred,\"one\ntwo \"\"three\"\"\",1\nblue,\"open,2\nred,x y z,3\n",
    "late": "c,x,y\nred,1,2\ngreen,oops,1\ngreen,2,1\nblue,3,\n",
    "numbers": "1,2,3\n4,,6\n7,8,9\n",
    "times": "2024-02-29 23:59:60,yes,a\n1700000000.5,no,b\n0001-01-01,1,c\n9999-12-31T23:59:59-14:00,maybe,d\n",
}
for name, text in TABLE.items():
    for choice in range(8):
        seed("table", "%s-%d" % (name, choice), choice + 8 * 2, text)

JSONL = {
    "rows": '{"a": 1.5, "b": "x", "t": "x y", "y": 1, "w": 2}\n{"y": 0, "b": null, "a": -2e3, "w": 1}\n',
    "within": '{"b": {"c": true, "d": {}}, "a": [1, "]"], "y": 1}\n{"b": {"c": false}, "y": 2}\n',
    "escapes": '{"a": "\\u00e4\\ud83d\\ude00\\n\\"", "\\u0061b": 1, "y": 1}\n{"a": "\\ud800", "y": 1}\n',
    "bad": '{"a": 01}\n{"a": 1, "a": 2}\n[1]\n{"a": nan}\n{"a": 1} x\n{"a": "open\n{"q": 1}\n',
}
for name, text in JSONL.items():
    for choice in range(6):
        seed("jsonl", "%s-%d" % (name, choice), choice + 6 * 2, text)

NPY = {
    "f8": npy("<f8", "(2, 2)", struct.pack("<4d", 1, 2, 3, 4)),
    "big-f4": npy(">f4", "(2, 2)", struct.pack(">4f", 1, 2, 3, 4)),
    "f2": npy("<f2", "(2, 2)", struct.pack("<4e", 1, 2, 3, 6e-8)),
    "fortran-i2": npy("<i2", "(2, 3)", struct.pack("<6h", 1, 2, 3, 4, 5, -6), True),
    "u1-2.0": npy("|u1", "(2, 2)", b"\1\2\3\4", version=2),
    "b1": npy("|b1", "(4,)", b"\1\0\1\2"),
    "i8": npy("<i8", "(1L, 2L)", struct.pack("<2q", -(2 ** 63), 2 ** 63 - 1)),
    "nan": npy("<f8", "(2, 2)", struct.pack("<4d", 1, float("nan"), float("inf"), 4)),
    "short": npy("<f8", "(3, 2)", struct.pack("<4d", 1, 2, 3, 4)),
    "huge": npy("<f8", "(4611686018427387904, 4)", b""),
    "no-rows": npy("<f8", "(0, 3)", b""),
    "no-columns": npy("<f8", "(3, 0)", b""),
    "scalar": npy("<f8", "()", struct.pack("<d", 1)),
    "three": npy("<u1", "(2, 1, 2)", b"\1\2\3\4"),
    "structured": npy("<f8", "(1,)", b"").replace(b"'<f8'", b"[('a', '<f8')]"),
    "behind": npy("<u1", "(1, 2)", b"\1\2\3"),
}
for name, content in NPY.items():
    for choice in range(2):
        seed("npy", "%s-%d" % (name, choice), 13 * choice + 12, content)


def idx(kind, sizes, elements):
    return bytes([0, 0, kind, len(sizes)]) + b"".join(struct.pack(">I", s) for s in sizes) + elements


IDX = {
    "labels": idx(8, [4], b"\1\2\3\4"),
    "images": idx(8, [2, 2, 2], bytes(range(8))),
    "signed": idx(9, [2, 2], b"\xff\0\1\2"),
    "i2": idx(0x0b, [2, 1], struct.pack(">2h", -1, 300)),
    "i4": idx(0x0c, [1, 2], struct.pack(">2i", -1, 70000)),
    "f4": idx(0x0d, [2, 2], struct.pack(">4f", 1, 2, 0, 4)),
    "f8": idx(0x0e, [2, 2], struct.pack(">4d", 1, float("nan"), 0, 4)),
    "short": idx(8, [2, 2], b"\1"),
    "behind": idx(8, [2, 2], b"\1\2\3\4\5"),
    "huge": idx(8, [2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1], b"\1"),
    "no-rows": idx(8, [0, 2], b""),
    "no-columns": idx(8, [2, 0], b""),
    "header-alone": b"\0\0\x08\3\0\0\0\1",
}
for name, content in IDX.items():
    for choice in range(2):
        seed("idx", "%s-%d" % (name, choice), 13 * choice + 12, content)

ROWS = b"1 1:0.5 3:-2\n-1 2:1e-3\n1 1:1 2:2 3:3 4:4 5:5\n"
packed = gzip.compress(ROWS, mtime=0)
for choice in range(0, 96, 17):
    seed("gzip", "rows-%d" % choice, choice, ROWS)
    seed("gzip", "damaged-%d" % choice, choice, bytes([choice, 0, 1]) + ROWS)
seed("gzip", "member", 0, packed)
seed("gzip", "members", 3, packed + gzip.compress(ROWS[:13], mtime=0))
seed("gzip", "empty-member", 6, gzip.compress(b"", mtime=0) + packed)
seed("gzip", "garbage", 0, packed + b"x")
seed("gzip", "zeros", 0, packed + b"\0\0\0")
seed("gzip", "cut", 9, packed[:-3])
seed("gzip", "half", 0, packed[:20])
named = bytearray(packed)
named[3] = 0x08
seed("gzip", "named", 0, bytes(named[:10]) + b"file.svm\0" + packed[10:])


def model(loss, outputs, classes, features, unit_rows=0, texts=("csvrg", "none", "none", "0.1.0")):
    body = b"".join(struct.pack("<H", len(t)) + t.encode() for t in (loss,) + texts)
    body += struct.pack("<4d", 0.1, 0.001, 1, 1) + bytes([unit_rows])
    body += struct.pack("<5Q", 10, 100, features, outputs, classes)
    numbers = classes + outputs + features * outputs
    return body + struct.pack("<%dd" % numbers, *range(1, numbers + 1))


for choice in range(24):
    seed("journal", "%d-as-it-is" % choice, choice, b"")
    seed("journal", "%d-a-bit" % choice, choice, bytes([8 * choice % 256, choice % 3, 0x10]))
    seed("journal", "%d-a-number" % choice, choice, bytes([64 + 8 * choice % 160, 0, 0x80 + choice % 16]))
    seed("journal", "%d-cut" % choice, choice, bytes([100 * choice % 256, choice % 16, 0xff]))

for problem in range(20):
    seed("snapshot", "%d-as-it-is" % problem, problem, b"")
    seed("snapshot", "%d-a-bit" % problem, problem, bytes([8 * problem, 0, 0x20]))
    seed("snapshot", "%d-a-number" % problem, problem, bytes([16, 1, 0x80 + problem % 16]))
seed("snapshot", "cut", 1, bytes([200, 0, 0xff]))

MODELS = {
    "squared": model("squared", 1, 0, 3),
    "logistic": model("logistic", 1, 2, 2),
    "softmax": model("softmax", 3, 3, 2),
    "softmax-empty": model("softmax", 1, 0, 0),
    "hinge-one-class": model("hinge", 1, 1, 1, texts=("sgd", "ball:2", "rows", "0.1.0")),
    "unit-rows": model("huber", 1, 0, 1, unit_rows=1),
    "unit-rows-2": model("huber", 1, 0, 1, unit_rows=2),
    "unknown-loss": model("hubris", 1, 0, 1),
    "nan": model("squared", 1, 0, 1)[:-8] + struct.pack("<d", float("nan")),
    "nul-in-text": model("squared", 1, 0, 1, texts=("a\0b", "none", "none", "0")),
    "uneven": model("squared", 1, 0, 1) + b"\0\0\0",
    "huge": model("squared", 1, 0, 1)[:-40] + struct.pack("<5Q", 1, 1, 2 ** 61, 8, 0),
}
network = model("network", 2, 2, 3)[: -8 * (2 + 2 + 6)] + struct.pack("<Q", 2)
seed("model", "network", 3, network + struct.pack("<16d", *range(16)))
seed("model", "network-short", 3, network + struct.pack("<15d", *range(15)))



def text(name):
    return struct.pack("<Q", len(name)) + name.encode()


def names(features, target, classes, named=1):
    """What kf_schema_archive writes."""
    block = struct.pack("<2Q", len(features), named) + b"".join(map(text, features if named else ()))
    block += struct.pack("<Q", 2) + struct.pack("<Q", 1) + text(target) + struct.pack("<Q", 0)
    block += struct.pack("<Q", len(classes)) + b"".join(struct.pack("<d", k) + text(n) for k, n in enumerate(classes, 1))
    return struct.pack("<Q", len(block)) + block


def with_names(loss, outputs, classes, features, block, hidden=0):
    plain = model(loss, outputs, classes, features)
    numbers = classes + outputs + features * outputs
    fixed, arrays = plain[:-8 * numbers], plain[-8 * numbers:]
    return fixed + struct.pack("<Q", hidden) + block + arrays


NAMED = {
    "two": with_names("logistic", 1, 2, 2, names(["amount", ""], "verdict", ["ok", "fraud"])),
    "numbered": with_names("squared", 1, 0, 3, names(["a", "b", "c"], "y", [], named=0)),
    "three": with_names("softmax", 3, 3, 1, names(["x"], "y", ["a", "b", "c"])),
    "twice": with_names("logistic", 1, 2, 2, names(["a", "b"], "y", ["same", "same"])),
    "nul": with_names("logistic", 1, 2, 2, names(["a\0", "b"], "y", ["c", "d"])),
    "short": with_names("logistic", 1, 2, 2, names(["a", "b"], "y", ["c", "d"])[:-3]),
    "nothing": with_names("squared", 1, 0, 1, struct.pack("<Q", 56) + bytes(56)),
    "huge": with_names("squared", 1, 0, 1, struct.pack("<3Q", 16, 2 ** 32 - 1, 1)),
}
for name, content in NAMED.items():
    seed("model", "named-" + name, 5, content)

# standard errors behind all else: of 1 + features rows, twice
ERRORS = {
    "plain": with_names("logistic", 1, 2, 2, struct.pack("<Q", 0)) + struct.pack("<6d", 1, 2, 3, -1, 0, 5),
    "named": NAMED["three"] + struct.pack("<12d", *range(12)),
    "below": with_names("squared", 1, 0, 1, struct.pack("<Q", 0)) + struct.pack("<4d", 1, -2, 3, 4),
    "short": with_names("squared", 1, 0, 1, struct.pack("<Q", 0)) + struct.pack("<3d", 1, 2, 3),
    "network": with_names("network", 2, 2, 3, struct.pack("<Q", 0), hidden=2),
}
for name, content in ERRORS.items():
    seed("model", "errors-" + name, 9, content)

for name, content in MODELS.items():
    seed("model", name, 1, content)
    seed("model", "headless-" + name, 0, b"keepfitM" + struct.pack("<IIQ", 1, 0, len(content)) + content[:8])

POINTS = {
    "list": b'{"features":[1,-2.5,3e4],"target":1}',
    "text": b'{"features":[0],"target":"a\\u00e9\\ud83d\\ude00\\n","weight":0.5,"id":"x-1"}',
    "names": b'{"features":{"a":1,"b":"c","d":null,"e":{"f":[true]}},"target":2}',
    "many": b'[{"features":[1],"target":1}, {"features":[2],"target":0}]\n',
    "both": b'[{"features":[1],"target":1},{"features":{"a":2},"target":0}]',
    "row": b'{"features":[1,2],"id":"q"}',
    "lines": b'{"features":[1],"target":1}\n\n{"features":[2],"target":0}\r\n',
    "flat": b'{"a":1,"target":1}\n',
    "twice": b'{"features":[1],"features":[1],"target":1}',
    "surrogate": b'{"features":[1],"target":"\\ud800"}',
    "nul": b'{"features":[1],"target":"\\u0000"}',
    "huge": b'{"features":[1e999],"target":1}',
    "zero": b'{"features":[-0.0,00],"target":1}',
    "cut": b'{"features":[1,2',
    "empty": b'[]',
    "deep": b'{"features":{"a":' + b"[" * 40,
    "number": b'123456789012345678901234567890e-20',
    "utf8": b'{"features":{"\xff":1},"target":1}',
}
for name, content in POINTS.items():
    for choice in range(4):
        seed("request", "%s-%d" % (name, choice), choice, content)

OTHERS = {4: {  # labels
    "one": b'{"id":"a","target":1}', "many": b'[{"id":"a","target":-1.5e3},{"target":"b\\u00e9","id":"c d"}]', "none": b'[]',
    "twice": b'{"id":"a","id":"b","target":1}', "return": b'{"id":"a\\rb","target":1}',
    "line": b'{"id":"a\\nb","target":1}', "null": b'{"id":"a","target":null}',
}, 5: {  # the Open Inference Protocol
    "flat": b'{"id":"7","inputs":[{"name":"x","shape":[2,3],"datatype":"FP64","data":[1,2,3,4,5,6]}]}',
    "rows": b'{"inputs":[{"data":[[1,2],[3,4]],"shape":[2,2],"datatype":"FP32"}],"outputs":[]}',
    "off": b'{"inputs":[{"shape":[2,2],"datatype":"FP64","data":[1,2,3]}]}',
    "half": b'{"inputs":[{"shape":[1.5,2],"datatype":"FP64","data":[1,2]}]}',
    "words": b'{"inputs":[{"shape":[1,1],"datatype":"BYTES","data":["a"]}]}',
    "deep": b'{"inputs":[{"shape":[1,1,1],"datatype":"FP64","data":[1]}]}',
}, 6: {  # /invocations
    "inputs": b'{"inputs":[[1,2],[3,4]]}', "instances": b'{"params":{"a":[1]},"instances":[[1],[]]}',
    "split": b'{"dataframe_split":{"columns":["a","b"],"index":[0],"data":[[1,"x"],[null,[\n1]]]}}',
    "turned": b'{"dataframe_split":{"data":[[1]],"columns":["a"]}}', "records": b'{"dataframe_records":[{"a":1,\n"b":"x"},{}]}',
    "list": b'{"dataframe_records":[[1]]}', "both": b'{"inputs":[[1]],"dataframe_records":[{"a":1}]}',
}}
for choice, bodies in OTHERS.items():
    for name, content in bodies.items():
        seed("request", "%s-%d" % (name, choice), choice, content)
