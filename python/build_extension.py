"""Writes the C source of keepfit._library: build_extension.py KEEPFIT_H EXTENSION_C OUTPUT

cffi's API mode. The declarations are those of keepfit.h itself, stripped of comments and of what only a preprocessor
understands, so the package cannot drift away from the library. Whatever stands between the lines /* begin */ and /* end */
of extension.c is declared as well, as is what the extension asks Python to provide.
"""
import re
import sys

from cffi import FFI

# Called by the library, written in Python (keepfit/objective.py).
CALLBACKS = """
extern "Python" int keepfit_python_value(void *, const double *, const keepfit_point *, double *);
extern "Python" int keepfit_python_gradient(void *, const double *, const keepfit_point *, double *);
extern "Python" int keepfit_python_curvature(void *, const keepfit_point *, double *);
"""


def declarations(header):
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    statuses = re.findall(r"X\((\w+), (\d+), \"", text)
    text = re.sub(r"\\\n", "", text)
    text = re.sub(r"#define KEEPFIT_STATUS_ENUM.*\n\s*KEEPFIT_STATUS_LIST\(KEEPFIT_STATUS_ENUM\)",
                  ",\n".join("KEEPFIT_%s = %s" % status for status in statuses), text)
    for name, number in re.findall(r"^#define (KEEPFIT_\w+) (\d+)$", text, re.M):  # lengths of arrays
        text = text.replace("[%s]" % name, "[%s]" % number)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    text = text.replace('extern "C" {', "").replace("KEEPFIT_API ", "")
    return re.sub(r"^}\s*\Z", "", text.rstrip(), flags=re.M)


def shared(source):
    """The declarations of the functions between the two marks."""
    part = source[source.index("/* begin */"):source.index("/* end */")]
    return "\n".join(" ".join(head.split()) + ";" for head in
                     re.findall(r"^static ([a-z][^;{}=]*\([^;{}]*\))\n\{", re.sub(r"/\*.*?\*/", "", part, flags=re.S), re.M))


def main(header, extension, output):
    header, extension = (open(name, encoding="utf-8").read() for name in (header, extension))
    ffi = FFI()
    ffi.cdef(declarations(header))
    ffi.cdef(CALLBACKS)
    ffi.cdef(shared(extension))
    ffi.set_source("keepfit._library", extension)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
