"""Tables as people have them: columns with types. The reference is an encoding of our own, written as LIBSVM."""

import csv
import datetime
import io
import json
import math
import random

from harness import near, over, same

NAMES = ("event_id", "ts", "merchant", "country", "amount", "is_new_device", "n_prev", "note", "label")
NOTES = ("paid late, again", "card not present", "new customer\nsecond line", "", "repeat order", 'said "never"; late chargeback')


def events(rows=300, seed=3):
    """Rows of texts: quoted commas and quotes, cells over two lines, blanks, NA, true and false."""
    source = random.Random(seed)
    made = []
    for k in range(rows):
        country, new = source.choice(["DE", "FR", "US", "NA", ""]), source.random() < 0.4
        amount, note = round(source.expovariate(0.5), 2), source.choice(NOTES)
        score = 1.5 * (country == "US") + new - 1.5 + amount / 2 + 2 * ("chargeback" in note)
        moment = datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=source.randrange(300 * 86400))
        merchant = "m%d" % int(source.paretovariate(0.8) % 40)
        made.append(["e%06d" % k, moment.strftime("%Y-%m-%dT%H:%M:%SZ"), merchant if k % 7 else 'Shop, "%s"' % merchant, country,
                     source.choice(["", "NA", "%.2f" % amount]) if k % 5 == 0 else "%.2f" % amount, str(new).lower(),
                     str(source.randrange(9)), note, "fraud" if source.random() < 1 / (1 + math.exp(-score)) else "ok"])
    return made


def table(rows, columns=NAMES):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row[NAMES.index(name)] for name in columns] for row in rows)
    return out.getvalue()


def words_of(text):
    return "".join(c if c.isalnum() or c == "_" else " " for c in text.lower()).split()


def circle(share):
    return math.sin(2 * math.pi * share), math.cos(2 * math.pi * share)


def moment_parts(text, first):
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    midnight = datetime.datetime(moment.year, moment.month, moment.day)
    year = (datetime.datetime(moment.year + 1, 1, 1) - datetime.datetime(moment.year, 1, 1)).days
    hour, weekday = (moment - midnight).total_seconds() / 86400, moment.weekday() / 7
    parts = circle(hour) + circle(weekday) + circle((moment.timetuple().tm_yday - 1) / year)
    return parts + ((moment - datetime.datetime.strptime(first, "%Y-%m-%dT%H:%M:%SZ")).total_seconds() / 86400 / 30,)


def encoded(rows):
    """The same rows as LIBSVM, by a dictionary of Python's."""
    places, lines = {}, []
    for row in rows:
        cells, found = dict(zip(NAMES, row)), {}
        for name in ("merchant", "country"):
            found[name, cells[name] if cells[name] not in ("", "NA") else None] = 1
        for name in ("amount", "n_prev"):
            missing = cells[name] in ("", "NA")
            found[name, "missing" if missing else "value"] = 1 if missing else float(cells[name])
        found["is_new_device", ""] = float(cells["is_new_device"] == "true")
        for part, value in enumerate(moment_parts(cells["ts"], rows[0][1])):
            found["ts", part] = value
        for word in words_of(cells["note"]):
            found["note", word] = found.get(("note", word), 0) + 1
        if not cells["note"]:
            found["note", None] = 1
        numbered = sorted((places.setdefault(key, len(places) + 1), value) for key, value in found.items())
        lines.append("%d %s\n" % (cells["label"] == "fraud", " ".join("%d:%.17g" % entry for entry in numbered)))
    return "".join(lines)


def optimum(box, name):
    result = box.run("train", "--json", "-q", "--gap", "--trace-stages", "1", "--loss", "logistic", "--intercept", "--target", "label",
                     name).json if name.endswith(".csv") else \
        box.run("train", "--json", "-q", "--gap", "--trace-stages", "1", "--loss", "logistic", "--intercept", name).json
    return result["optimum"], result["features"], result["stages"]


def case_a_log_of_events_in_one_command(box):
    """And what is predicted for its columns in another order, without the label and the id, is the same to the last digit."""
    rows = events()
    box.write("events.csv", table(rows))
    result = box.run("train", "--target", "label", "-m", "m.kf", "events.csv")
    result.check("ts=time,merchant=category,country=category,amount=number,is_new_device=boolean,n_prev=number,note=text,"
                 "event_id=ignore" in result.error, "the types are said")
    result.check("logistic (the targets are texts)" in result.text, "the loss is said")
    box.write("other.csv", table(rows, ("note", "n_prev", "country", "is_new_device", "ts", "amount", "merchant")))
    one = box.run("predict", "--output", "label,probability", "m.kf", "events.csv")
    other = box.run("predict", "--output", "label,probability", "m.kf", "other.csv")
    same(one.text.count("\n"), len(rows) + 1, "lines")
    same(other.text, one.text, "predictions")
    same(one.error, "", "nothing is unknown")


def case_the_problem_is_that_of_an_encoding_of_our_own(box):
    rows = events()
    box.write("events.csv", table(rows))
    box.write("same.svm", encoded(rows))
    one, other = optimum(box, "events.csv"), optimum(box, "same.svm")
    same(one[1:], other[1:], "features and stages")
    assert near(one[0], other[0], 1e-10), (one, other)


@over((100, 150, 299))
def case_a_journal_goes_on_with_the_same_types(box, count):
    """In two runs, the second with its columns in another order: the model is that of one run, bit for bit."""
    rows = events()
    words = ("train", "-q", "--target", "label", "--loss", "logistic", "--journal", "j", "--resume", "append")
    box.write("all.csv", table(rows))
    box.write("a.csv", table(rows[:count]))
    box.write("b.csv", table(rows[count:], NAMES[::-1]))
    box.run("train", "-q", "--target", "label", "--loss", "logistic", "-m", "one.kf", "all.csv")
    box.run(*words, "-m", "half.kf", "a.csv")
    box.run(*words, "-m", "two.kf", "b.csv")
    same(box.read("two.kf") == box.read("one.kf"), True, "the models")
    box.run("verify", "j")
    box.try_run(*words, "--type", "note=category", "b.csv").refused(2, "column 'note' has the type text since the first rows")


def case_rows_that_are_refused_leave_nothing(box):
    """A bad cell behind a new category: neither the category nor anything else of the row is there."""
    good = "c,x,y\nred,1,0\nblue,2,1\nred,3,1\n"
    box.write("good.csv", good)
    box.write("bad.csv", good.replace("red,3,1\n", "green,oops,1\nred,3,1\ngreen,1e999,0\n"))
    box.run("train", "-q", "-m", "good.kf", "good.csv")
    box.run("train", "-q", "--on-error", "skip", "-m", "bad.kf", "bad.csv")
    same(box.read("bad.kf") == box.read("good.kf"), True, "the models")
    box.try_run("train", "-q", "bad.csv").refused(3, "bad.csv:4:7: column 'x': 'oops' is not a number (--type x=category takes it")


def case_what_the_model_does_not_know_counts_as_nothing(box):
    box.write("t.csv", "c,x,y\n" + "red,1,0\nblue,2,1\n" * 20)
    box.run("train", "-q", "-m", "m.kf", "t.csv")
    box.write("new.csv", "x,c\n1,green\n1,NA\n")
    result = box.run("predict", "m.kf", "new.csv")
    same(len(set(result.text.splitlines())), 1, "both count as nothing")
    result.check("2 cells hold what the model does not know, and count as 0 (the first is 'green', in column 'c')" in result.error,
                 "it is said")
    box.try_run("predict", "m.kf", "t.csv", "--type", "x=category").refused(2, "--type: column 'x' has the type number")
    box.write("less.csv", "x\n1\n")
    box.try_run("predict", "m.kf", "less.csv").refused(3, "less.csv: the columns are not those of the model: missing 'c'")
    box.write("more.csv", "x,c,z\n1,red,5\n")
    box.try_run("predict", "m.kf", "more.csv").refused(3, "not known 'z'")
    box.run("predict", "--ignore", "z", "m.kf", "more.csv")


def case_missing_values(box):
    """An indicator, zero, or no row; a table of numbers has none, as before."""
    box.write("t.csv", "c,x,y\nred,1,1\nblue,,2\nred,NA,3\n,4,4\n" + "red,2,2\n" * 3)
    indicator = box.run("train", "--json", "-q", "t.csv").json
    zero = box.run("train", "--json", "-q", "--missing", "zero", "t.csv").json
    skip = box.run("train", "--json", "-q", "--missing", "skip", "t.csv").json
    same([indicator["features"], zero["features"], skip["features"]], [5, 3, 2], "features")
    same([indicator["stages"], zero["stages"], skip["stages"]], [7, 7, 4], "stages")
    same(skip["skipped"], 3, "rows passed over")
    box.write("numbers.csv", "a,b,y\n1,2,3\n4,,6\n")
    box.try_run("train", "numbers.csv").refused(3, "numbers.csv:3:3: cell 2 is empty")
    same(box.run("train", "--json", "-q", "--missing", "indicator", "numbers.csv").json["features"], 3, "features")


def case_columns_are_left_out_taken_and_typed(box):
    box.write("t.csv", "id,c,x,w,y\n7,1,1,1,0\n8,2,2,1,1\n9,1,3,1,1\n")
    plain = box.run("train", "--json", "-q", "t.csv").json["features"]
    same(plain, 4, "a table of numbers")
    same(box.run("train", "--json", "-q", "--ignore", "id,w", "t.csv").json["features"], 2, "without id and w")
    same(box.run("train", "--json", "-q", "--columns", "x,3", "t.csv").json["features"], 1, "x alone, twice")
    same(box.run("train", "--json", "-q", "--ignore", "id", "--type", "c=category", "t.csv").json["features"], 4, "c in two")
    same(box.run("train", "--json", "-q", "--columns", "c,x", "--type", "c=category", "--cross", "c*x", "t.csv").json["features"], 5,
         "with products")
    box.try_run("train", "--ignore", "idd", "t.csv").refused(2, "no column is called 'idd' (--ignore); did you mean id?")
    box.try_run("train", "--type", "c=catgory", "t.csv").refused(2, "--type: 'c=catgory' is not NAME=TYPE", "did you mean category?")
    box.try_run("train", "--cross", "c*z", "t.csv").refused(2, "--cross: 'c*z' is not the product")
    box.run("train", "-q", "--ignore", "id", "-m", "m.kf", "t.csv")
    box.write("bare.csv", "x,c,w\n1,1,1\n")
    box.run("predict", "m.kf", "bare.csv")
    box.run("predict", "m.kf", "t.csv")


def case_hashing_is_a_fixed_map_and_collisions_are_counted(box):
    box.write("t.csv", "c,y\n" + "".join("c%d,%d\n" % (k % 50, k % 3) for k in range(500)))
    result = box.run("train", "--hash", "3", "-m", "m.kf", "t.csv")
    result.check("8 features" in result.text, "as many as there are numbers")
    result.check("8 of the numbers that texts are hashed to stand for more than one text" in result.error, "collisions")
    wide = box.run("train", "--hash", "24", "-m", "w.kf", "t.csv")
    wide.check("50 features" in wide.text and "hashed to" not in wide.error, "no collision")
    same(box.run("predict", "w.kf", "t.csv").error, "", "all are known")


def case_a_quote_that_never_closes_loses_its_own_line(box):
    good = "k,c,y\n" + "1,red,0\n2,blue,1\n" * 3
    box.write("t.csv", good + '3,"open,1\n' + "4,red,1\n" * 3)
    box.try_run("train", "-q", "t.csv").refused(3, "t.csv:8:3: the quote is not closed in this line")
    same(box.run("train", "--json", "-q", "--on-error", "skip", "t.csv").json["stages"], 9, "stages")


def case_a_place_in_a_row_of_several_lines(box):
    box.write("t.csv", 'c,x,y\nred,1,0\n"two\nlines",oops,1\n')
    box.try_run("train", "-q", "t.csv").refused(3, "t.csv:4:8: column 'x': 'oops'")


def case_a_pipe_is_read_like_a_file(box):
    rows = events(150)
    box.write("t.csv", table(rows))
    words = ("train", "-q", "--target", "label", "--loss", "logistic", "-m")
    box.run(*words, "file.kf", "t.csv")
    box.run(*words, "pipe.kf", "--format", "csv", "-", stdin=table(rows).encode())
    same(box.read("pipe.kf") == box.read("file.kf"), True, "the models")


def case_rows_that_begin_with_a_hash_are_rows(box):
    """In a table with types, wherever they stand; in one of numbers they are comments. JSON has no comments."""
    box.write("hash.csv", 'tag,x,label\n#sale,1,ok\n#new,2,fr\nplain,3,ok\n"#q",4,fr\n')
    result = box.run("train", "--json", "-q", "--loss", "logistic", "-m", "h.kf", "hash.csv").json
    same([result["stages"], result["features"]], [4, 5], "stages and features")
    same(box.run("predict", "h.kf", "hash.csv").text.count("\n"), 4, "predictions")
    box.write("all.csv", "# made today\ntag,x,label\n#sale,1,ok\n#new,2,fr\n")
    same(box.run("train", "--json", "-q", "all.csv").json["stages"], 2, "stages of rows that all begin so")
    box.write("first.csv", "#sale,1,ok\nplain,3,fr\n")
    same(box.run("train", "--json", "-q", "--header", "no", "first.csv").json["stages"], 2, "stages where the first row does")
    box.write("numbers.csv", "# made today\na,b,y\n# so far\n1,2,3\n#5,5,5\n4,5,6\n")
    same(box.run("train", "--json", "-q", "numbers.csv").json["stages"], 2, "stages of numbers")
    box.write("t.jsonl", '{"a": "b", "y": 1}\n#{"a": "c", "y": 2}\n')
    box.try_run("train", "-q", "t.jsonl").refused(3, "t.jsonl:2:1: expected an object")


@over(("NA", "null", "n/a", "?", "<NA>", "#N/A", ""))
def case_a_target_that_is_missing_is_no_class(box, text):
    """The message names it; `none` is a class."""
    good = "m,x,label\na,1,ok\nb,3,fr\n"
    box.write("t.csv", good + "a,2,%s\n" % text)
    box.try_run("train", "-q", "t.csv").refused(3, "t.csv:4:5: cell 3 (the target 'label') is %s (--on-error skip" %
                                                ("missing, as '%s' says" % text if text else "empty"))
    result = box.run("train", "--json", "-q", "--on-error", "skip", "t.csv").json
    same([result["stages"], result["skipped"], result["class_names"]], [2, 1, ["ok", "fr"]], "stages, skipped, classes")
    box.write("t.jsonl", '{"x": 1, "label": "ok"}\n{"x": 2, "label": "fr"}\n{"x": 3, "label": %s}\n' % ('"%s"' % text if text else "null"))
    box.try_run("train", "-q", "t.jsonl").refused(3, "t.jsonl:3:", "(the target 'label') is")
    box.write("none.csv", good + "a,2,none\nb,1,None\n")
    same(box.run("train", "--json", "-q", "none.csv").json["class_names"], ["ok", "fr", "none", "None"], "classes")


@over((("--cross c*x", "--cross differs: 'c*x' has not been a product since the first rows"),
       ("--cross m*c,m*x", "--cross differs: 'm*x' has not been"), ("--missing zero", "--missing zero differs: column 'm' has been read with "
                                                                  "--missing indicator since the first rows"),
       ("--hash 4", "--hash 4 differs: column 'm' has been read without --hash since"), ("--type x=category", "--type: column 'x' has the type number")))
def case_settings_that_differ_from_what_is_known_are_named(box, case):
    """By a journal that goes on, and by a model that predicts."""
    words, message = case
    box.write("t.csv", "m,c,x,label\na,r,1,ok\nb,s,2,fr\na,s,3,ok\n")
    train = ("train", "-q", "--loss", "logistic", "--journal", "j", "--resume", "append")
    box.run(*train, "--cross", "m*c", "-m", "m.kf", "t.csv")
    box.try_run(*train, *words.split(), "t.csv").refused(2, message)
    box.try_run("predict", *words.split(), "m.kf", "t.csv").refused(2, message)
    box.run("predict", "--cross", "m*c", "m.kf", "t.csv")
    box.run(*train, "--cross", "m*c", "--missing", "indicator", "t.csv")


def case_fewer_products_than_are_known_differ(box):
    box.write("t.csv", "m,c,x,label\na,r,1,ok\nb,s,2,fr\na,s,3,ok\n")
    box.run("train", "-q", "--loss", "logistic", "--cross", "m*c,m*x", "-m", "m.kf", "t.csv")
    box.try_run("predict", "--cross", "m*c", "m.kf", "t.csv").refused(2, "--cross differs: there have been 2 products")


def case_the_same_settings_again_are_the_same(box):
    """Also where the type of one column says otherwise than --hash and --missing do for all."""
    box.write("t.csv", "m,c,x,label\na,r,1,ok\nb,s,2,fr\na,s,3,ok\n")
    train = ("train", "-q", "--loss", "logistic", "--journal", "j", "--resume", "append", "--hash", "4", "--missing", "skip")
    for _ in range(2):
        box.run(*train, "--type", "c=category#8,x=number?zero", "t.csv")
    box.try_run(*train, "--type", "c=category#7,x=number?zero", "t.csv").refused(2, "--hash 7 differs: column 'c' has been read with --hash 8")
    box.try_run(*train, "--type", "c=category#8", "t.csv").refused(2, "--missing skip differs: column 'x' has been read with --missing zero")


@over((("--ignore c --type c=category", "--ignore leaves out column 'c', to which --type gives a type"),
       ("--columns m,x --type c=category", "--columns leaves out column 'c', to which --type gives a type"),
       ("--type c=category,c=text", "--type: column 'c' has two types there"), ("--cross m", "--cross: 'm' is not the product of two to 4"),
       ("--cross m*c,m*c", "--cross: 'm*c' is there already")))
def case_settings_that_contradict_each_other(box, case):
    words, message = case
    box.write("t.csv", "m,c,x,label\na,r,1,ok\nb,s,2,fr\na,s,3,ok\n")
    box.try_run("train", "-q", *words.split(), "t.csv").refused(2, message)
    box.run("train", "-q", "--ignore", "c", "--type", "c=ignore", "t.csv")


@over(("", "--target 1", "--target 2 --weight-column 4"))
def case_a_table_without_names_reads_its_own_file(box, words):
    """By the numbers of its columns: predictions with and without the target, and a journal that goes on."""
    rows = ["%s,%s,%s,%d" % row for row in (("a", "x", "ok", 1), ("b", "y", "fr", 2), ("a", "y", "ok", 3), ("c", "x", "fr", 1))]
    order = {"": (0, 1, 3, 2), "--target 1": (2, 0, 3, 1)}.get(words, (0, 2, 1, 3))
    rows = [",".join(row.split(",")[k] for k in order) + "\n" for row in rows]
    target = order.index(2)
    names = ",".join("ABCD"[k] for k in range(4)) + "\n"
    train = ("train", "-q", "--loss", "logistic", "--header", "no") + tuple(words.split())
    box.write("t.csv", "".join(rows))
    box.write("half.csv", "".join(rows[:2]))
    box.write("rest.csv", "".join(rows[2:]))
    box.write("bare.csv", "".join(",".join(cell for k, cell in enumerate(row.strip().split(",")) if k != target) + "\n" for row in rows))
    box.write("named.csv", names + "".join(rows))
    box.run(*train, "-m", "m.kf", "t.csv")
    whole = box.run("predict", "--output", "scores", "--header", "no", "m.kf", "t.csv").text
    same(whole.count("\n"), 4, "predictions")
    same(box.run("predict", "--output", "scores", "m.kf", "t.csv").text, whole, "of a first line of numbers and texts")
    same(box.run("predict", "--output", "scores", "--header", "no", "m.kf", "bare.csv").text, whole, "without the target")
    box.run(*train, "--journal", "j", "half.csv")
    box.run(*train, "--journal", "j", "--resume", "append", "-m", "two.kf", "rest.csv")
    same(box.read("two.kf") == box.read("m.kf"), True, "the models")
    box.try_run("predict", "m.kf", "named.csv").refused(3, "the columns are known by their numbers; say whether the first line has names")
    box.try_run("predict", "--header", "yes", "m.kf", "named.csv").refused(3, "missing '")
    box.write("wide.csv", "a,x,ok,1,7\n")
    box.try_run("predict", "--header", "no", "m.kf", "wide.csv").refused(3, "not known '5'")


def case_nothing_in_a_table_reaches_the_terminal_as_it_is(box):
    """Control characters in names, cells and classes are shown as \\xNN, by messages and by inspect."""
    box.write("t.csv", 'c\033[1m,"x\ny",label\nr\033[2J,"1\n",o\033k\nb,2,f\u009br\n')
    result = box.run("train", "--loss", "logistic", "--type", "2=category", "--journal", "j", "-m", "m.kf", "t.csv")
    box.write("new.csv", 'c\033[1m,"x\ny"\n"\033[31m\nred",2\n')
    warned = box.run("predict", "m.kf", "new.csv").error
    same("(the first is '\\x1b[31m\\x0ared', in column 'c\\x1b[1m')" in warned, True, "the warning")
    shown = [box.run("inspect", name).text for name in ("m.kf", "j")] + [box.run("inspect", "--weights", "m.kf").text]
    for text in [result.text, result.error, warned] + shown:
        same([c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], [], "control characters")
    for text in shown:
        same("c\\x1b[1m=r\\x1b[2J, " in text and "o\\x1bk" in text and "f\\xc2\\x9br" in text, True, "names")


@over(("t.csv", "t.jsonl"))
def case_another_target_than_that_of_the_points_before_is_named(box, name):
    """Whether it has been a feature, or left out. One that has got another name in CSV is taken; JSON lines have no line that would
    say that the old one is gone."""
    rows = [{"m": "ab"[k % 2], "x": k, "z": k % 3, "label": k % 5} for k in range(9)]
    show = json.dumps if name == "t.jsonl" else lambda row: ",".join(map(str, row.values()))
    text = ("" if name == "t.jsonl" else "m,x,z,label\n") + "".join(show(row) + "\n" for row in rows)
    box.write(name, text)
    box.write("new-" + name, text.replace("label", "result"))
    train = ("train", "-q", "--journal", "j", "--resume", "append")
    box.run(*train, "--target", "label", "--ignore", "z", "-m", "m.kf", name)
    box.try_run(*train, "--target", "x", name).refused(2, name + ": --target differs: it is 'x', a feature so far, but that of the points "
                                                       "before is 'label'")
    box.try_run(*train, "--target", "z", name).refused(2, "--target differs: it is 'z', but that of the points before is 'label'")
    box.try_run("predict", "--target", "x", "m.kf", name).refused(2, "--target differs: it is 'x', a feature so far, but that of the model is 'label'")
    renamed = box.try_run(*train, "--target", "result", "new-" + name)
    if name == "t.jsonl":
        renamed.refused(2, "--target differs: it is 'result'")
    else:
        same(renamed.code, 0, "exit")
    box.run(*train, "--target", "label", name)
    box.run("predict", "--score", "--target", "z", "m.kf", name)


# ---- JSON lines ----


def lines_of(rows, names=NAMES, blank=None):
    """Objects a line: numbers and truth values as JSON has them, the country in an object within."""
    made = []
    for row in rows:
        cells, shown = dict(zip(NAMES, row)), {}
        for name in names:
            text = cells[name]
            value = (text == "true" if name == "is_new_device" else json.loads(text) if name in ("amount", "n_prev") and
                     text not in ("", "NA") else text or blank)
            if name == "amount" and text == "NA":
                continue
            shown[name] = value
        made.append(json.dumps(shown) + "\n")
    return "".join(made)


def case_json_lines_are_the_same_table(box):
    """Of the same events: the same model, and predictions for rows of either kind by the model of the other."""
    rows = events()
    box.write("events.csv", table(rows))
    box.write("events.jsonl", lines_of(rows))
    words = ("train", "-q", "--target", "label", "--loss", "logistic", "-m")
    box.run(*words, "csv.kf", "events.csv")
    box.run(*words, "json.kf", "events.jsonl")
    answers = {box.run("predict", "--class", "fraud", model, data).text for model in ("csv.kf", "json.kf")
               for data in ("events.csv", "events.jsonl")}
    same(len(answers), 1, "different answers")
    box.write("other.jsonl", lines_of(rows, NAMES[-2:0:-1], blank=""))
    same(box.run("predict", "--class", "fraud", "json.kf", "other.jsonl").text in answers, True, "names in another order, no label")
    same(box.run("predict", "--class", "fraud", "csv.kf", "-", stdin=lines_of(rows).encode()).text in answers, True, "from a pipe")


def case_names_within_names(box):
    """Joined by dots; escapes are undone; what is ignored may be anything."""
    box.write("t.jsonl", "".join('{"a": {"b": {"c": %d}, "n\\u00e4": "x\\n\\ud83d\\ude00"}, "list": [1, "]", {"z": []}], "y": %d}\n' % (k, k % 2)
                                 for k in range(30)))
    box.run("train", "-q", "--ignore", "list", "-m", "m.kf", "t.jsonl")
    names = box.run("inspect", "--json", "m.kf").json["feature_names"]
    same(names, ["a.b.c", "a.n\u00e4=x\n\U0001f600"], "names")
    box.try_run("train", "-q", "t.jsonl").refused(3, "t.jsonl:1:", "an array is no cell; --ignore list leaves it out")


@over((('{"a": 1, "y": 2', ":2:16: expected a comma or }"), ('{"a": 1, "y": 2} 3', ":2:18: something follows"),
       ('{"a": 01, "y": 2}', ":2:7: expected a value"), ('{"a": nan, "y": 2}', ":2:7: expected a value"),
       ('{"a": "\\ud800", "y": 2}', "no text has this escape"), ('{"a": "\\u0000", "y": 2}', "no text has this escape"),
       ('{"a": "x', "the string is not closed"), ('["a", 1]', ":2:1: expected an object"), ('{"a": 1, "a": 1, "y": 2}', ":2:10: the name stands twice"),
       ('{"a": 1, "b": 1, "y": 2}', ":102:10: 'b' is no column"), ('{"a": 1}', "there is no 'y', the target"),
       ('{"a": "one", "y": 1}', ":2:7: column 'a': 'one' is not a number"), ("{" * 40, "expected a name")))
def case_lines_that_are_no_rows(box, case):
    text, message = case
    good = '{"a": 1, "y": 2}\n'
    late = ":102:" in message
    box.write("t.jsonl", good * (101 if late else 1) + text + "\n" + good)
    box.try_run("train", "-q", "t.jsonl").refused(3, "t.jsonl:", message)
    same(box.run("train", "--json", "-q", "--on-error", "skip", "t.jsonl").json["stages"], 102 if late else 2, "stages")


@over(("logistic", "softmax"))
def case_a_log_is_made_and_learnt(box, loss):
    """What generate --log writes is a table with quoted commas, quotes, blanks and NA, and can be learnt without preparation."""
    made = box.run("generate", "--log", "--rows", "2000", "--seed", "4", "--loss", loss).text
    same(box.run("generate", "--log", "--rows", "2000", "--seed", "4", "--loss", loss).text, made, "the same seed")
    rows = list(csv.DictReader(io.StringIO(made)))
    same((len(rows), tuple(rows[0])), (2000, NAMES), "rows and names")
    same({row["label"] for row in rows}, {"ok", "fraud"} | ({"disputed"} if loss == "softmax" else set()), "classes")
    for name, wanted in (("merchant", ","), ("country", ","), ("note", '"')):
        assert any(wanted in row[name] for row in rows), name
    assert {"", "NA"} <= {row["amount"] for row in rows} and {row["is_new_device"] for row in rows} == {"true", "false"}
    same(sorted(row["ts"] for row in rows), [row["ts"] for row in rows], "times ascend")
    assert len({row["merchant"] for row in rows[:1000]}) < len({row["merchant"] for row in rows}), "no late merchants"
    box.write("log.csv", made)
    told = box.run("train", "--target", "label", "--loss", loss, "--json", "--model", "m.kf", "log.csv").json
    common = max(sum(row["label"] == label for row in rows) for label in ("ok", "fraud")) / 2000
    assert told["validation_error"] < 0.95 * (1 - common), "the hidden model cannot be learnt"
    turned = [dict(reversed([(name, cell) for name, cell in row.items() if name != "label"])) for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(turned[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(turned)
    box.write("turned.csv", out.getvalue())
    same(box.run("predict", "--output", "scores", "m.kf", "turned.csv").text, box.run("predict", "--output", "scores", "m.kf", "log.csv").text,
         "columns in another order, without the label")


def case_why_no_row_was_left(box):
    """A pipe of rows whose targets are texts, without a loss: all are bad, and the message says why the first one is."""
    result = box.try_run("train", "--on-error", "skip", "-", stdin="a,y\n1,ok\n2,no\n")
    result.refused(3, "no points, only 2 bad rows that were skipped; the first: <stdin>:2:3: target 'ok' is not a number", "--loss logistic")
    result.silent()


def case_what_is_far_larger_is_named(box):
    box.write("t.csv", "size,age,y\n" + "".join("%d,0.0%d,%d\n" % (90000 + k, k % 9 + 1, k % 2) for k in range(40)))
    assert "feature 1 (size) is about 2e+06 times larger than feature 2 (age)" in box.run("train", "t.csv").error
