"""The map as a table and as a picture, from bench/map.json."""
import html
import json
import math
import os

HEAD = ("cell", "points", "us a point", "FO", "products", "auto ends with", "best fixed", "auto / best", "improvements", "oracle's share", "passes",
        "products", "b", "c", "n0", "not proved")
TEXT = """# The map of costs

Written by `bench/map.py`: what one more point costs, every stage proved, one thread, processor time of the library
alone. Dense rows have length 1 and a spectrum that falls as k^-1/2, as embeddings have it; sparse ones draw features
by Zipf's law. 20,000 points and a relative epsilon of 1e-3 where nothing else is said; softmax on digits has an
absolute epsilon of 1e-3, MNIST of 1e-2, news20 of 1e-3. A run that was ended says so by "(cut)" behind its points.

Cells keep the figures of the run that measured them last. Those that are here now come from several commits of one day,
on a machine with other work beside: ratios hold within a cell, times may be up to twice what a quiet machine needs, and
what is not in the table has not been measured yet.

- **FO**, **products**: gradients, and points' Hessians times a vector, a point.
- **best fixed**: the method that would have needed least, with its microseconds; none where each needs over 1.25 times
  what `auto` does. **auto / best**: of microseconds, 1 where none is quicker.
- **improvements**: stages at which the model was moved. **oracle's share**: how many times as many as one needs who
  knows the true gap and goes to the optimum whenever it is above epsilon (the first 4,000 points; NumPy).
- The law: improvements number about (b c / epsilon)(1/n0 - 1/n). **passes** (p) and **products** an improvement, in
  passes over the points; **b**, the bound over the gap; **c**, of a model exact at n the relative gap after k more
  points is c k/n^2; **n0**, the last stage up to which every second one improved.
- **not proved**: stages above the target, or without a bound.

![auto's microseconds a point, and how far it is from the best fixed method](map.svg)

"""


def load(folder):
    path = os.path.join(folder, "map.json")
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return json.load(file)


def number(value, digits=3):
    return "-" if value is None or not math.isfinite(value) else "%.*g" % (digits, value)


def line(name, cell):
    oracle = number(cell["ours"] / cell["oracle"]) if cell.get("oracle") and cell.get("ours") else "-"
    best = "%s %s" % (cell["best"], number(cell["best_us"])) if cell["best"] else "-"
    lost = cell["missed"] + cell["unproved"]
    return "| " + " | ".join([name, "%d%s" % (cell["points"], " (cut)" if cell["cut"] else ""), number(cell["us"]), number(cell["fo"]),
                              number(cell["products"]), cell["method"], best, "%.2f" % cell["ratio"], "%d" % cell["improvements"], oracle,
                              number(cell["p"]), number(cell["q"]), number(cell["b"]), number(cell["c"]), number(cell["n0"]),
                              "%d" % lost if lost else ""]) + " |"


def colour(ratio):
    """White where auto is the best there is, red from twice that on."""
    share = min(max((ratio - 1.02) / 0.98, 0), 1)
    return "#%02x%02x%02x" % (255, round(250 - 130 * share), round(244 - 160 * share))


def picture(known, order):
    """Groups below each other, a box a cell."""
    groups = {}
    for name in order:
        if name in known:
            groups.setdefault(known[name]["group"], []).append(known[name])
    left, wide, high, y, parts = 190, 92, 30, 44, []
    for group, cells in groups.items():
        columns, rows = list(dict.fromkeys(c["column"] for c in cells)), list(dict.fromkeys(c["row"] for c in cells))
        parts.append('<text x="8" y="%d" font-weight="bold">%s</text>' % (y, html.escape(group)))
        for k, column in enumerate(columns):
            parts.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' % (left + wide * k + wide // 2, y, html.escape(column)))
        for cell in cells:
            x, top = left + wide * columns.index(cell["column"]), y + 8 + high * rows.index(cell["row"])
            parts.append('<rect x="%d" y="%d" width="%d" height="%d" fill="%s" stroke="#999"/>' % (x, top, wide - 4, high - 4, colour(cell["ratio"])))
            cut = "&#8805;" if cell["cut"] else ""
            parts.append('<text x="%d" y="%d" text-anchor="middle">%s%s us</text>' % (x + wide // 2 - 2, top + 12, cut, number(cell["us"])))
            parts.append('<text x="%d" y="%d" text-anchor="middle" font-size="8" fill="#555">%s %.2f</text>' % (x + wide // 2 - 2, top + 22, cell["method"], cell["ratio"]))
        for k, row in enumerate(rows):
            parts.append('<text x="8" y="%d">%s</text>' % (y + 8 + high * k + 17, html.escape(row)))
        y += 8 + high * len(rows) + 34
    title = "auto: microseconds a point, its method, and how many times the best fixed method's (white 1, red 2)"
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="680" height="%d" font-family="sans-serif" font-size="11">\n'
            '<rect width="100%%" height="100%%" fill="#fff"/>\n<text x="8" y="18">%s</text>\n%s\n</svg>\n' % (y, title, "\n".join(parts)))


def save(folder, known, order):
    ordered = {name: known[name] for name in order if name in known}
    with open(os.path.join(folder, "map.json"), "w") as out:
        json.dump(ordered, out, indent=0)
        out.write("\n")
    with open(os.path.join(folder, "map.md"), "w") as out:
        out.write(TEXT)
        out.write("| %s |\n|%s\n" % (" | ".join(HEAD), "---|" * len(HEAD)))
        for name, cell in ordered.items():
            out.write(line(name, cell) + "\n")
    with open(os.path.join(folder, "map.svg"), "w") as out:
        out.write(picture(ordered, order))
