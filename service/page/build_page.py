#!/usr/bin/env python3
"""Makes one page of its parts, and C of the page: build_page.py FOLDER PAGE.html POLICY.txt PAGE.c

The page has everything in it. Its policy allows the two parts by their hashes, and requests to where it came from."""
import base64
import hashlib
import os
import sys


def part(folder, *names):
    texts = [open(os.path.join(folder, name), encoding="utf-8").read().strip() for name in names]
    return "\n" + "\n".join(texts) + "\n"


def hash_of(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    folder, page_path, policy_path, source_path = sys.argv[1:]
    licence = "/* uPlot:\n%s\n*/" % part(folder, "uplot-license.txt").strip()
    style = part(folder, "uplot.css", "page.css")
    script = "\n" + licence + part(folder, "uplot.js", "charts.js", "page.js")
    for text, end in ((style, "</style"), (script, "</script"), (script, "<!--")):
        if end in text:
            raise SystemExit("build_page.py: a part holds %s, which would end it" % end)
    page = part(folder, "page.html").strip().replace("@STYLE@", style).replace("@SCRIPT@", script) + "\n"
    policy = ("default-src 'none'; style-src %s; script-src %s; connect-src 'self'; img-src data:; base-uri 'none'; "
              "form-action 'none'; frame-ancestors 'none'" % (hash_of(style), hash_of(script)))
    data = page.encode()
    with open(page_path, "wb") as file:
        file.write(data)
    with open(policy_path, "w", encoding="utf-8") as file:
        file.write(policy)
    with open(source_path, "w", encoding="utf-8") as file:
        file.write('#include <stddef.h>\n\nconst unsigned char page_bytes[] = {\n')
        for k in range(0, len(data), 24):
            file.write(",".join(map(str, data[k:k + 24])) + ",\n")
        file.write("};\nconst size_t page_length = %d;\nconst char page_policy[] =\n    \"%s\";\n" % (len(data), policy))


main()
