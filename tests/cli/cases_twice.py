"""Names that are hard to tell apart: two columns with one name, names that are numbers or not ASCII."""

from cases_columns import NAMES, predicted, table, trained
from harness import numbers, over, same


def case_of_two_columns_of_a_name_none_is_taken_in_silence(box):
    """What was seen: with --extra-features ignore the first of two columns of a feature's name was taken, the other left out."""
    rows = trained(box)
    box.write("twice.csv", table(rows, ("hour", "amount", "amount", "age")))
    box.try_run("predict", "--extra-features", "ignore", "m.kf", "twice.csv").refused(3, "more often than there 'amount'").silent()
    box.write("labels.csv", table(rows, NAMES + ("verdict",)))
    same(predicted(box, "m.kf", "labels.csv"), [row[3] for row in rows], "predictions, which need no label")
    box.try_run("predict", "--score", "m.kf", "labels.csv").refused(3, "two columns are called 'verdict'", "--target").silent()
    box.run("predict", "--score", "--target", "5", "m.kf", "labels.csv")


def case_two_columns_with_a_targets_name(box):
    """What was seen: train took the first of two columns called 'y' for the target, and the other for a feature."""
    box.write("rows.csv", "y,a,y\n1,0,1\n1,-1,0\n")
    box.try_run("train", "rows.csv").refused(3, "rows.csv: two columns are called 'y'", "--target its number").silent()


def case_a_target_with_the_name_of_a_feature(box):
    """What was seen: trained with the last of the columns a, b, a as target, predict took the first a for the target, and the
    target for a feature: on its own training data the error was 5 instead of 0."""
    rows = [(float(value[0]), float(value[1]), 3 * value[0] - value[1]) for value, _ in numbers(30)]
    box.write("rows.csv", "a,b,a\n" + "".join("%r,%r,%r\n" % row for row in rows))
    box.run("train", "-q", "--target", "3", "--lambda", "1e-9", "-m", "m.kf", "rows.csv")
    words = box.run("predict", "--score", "m.kf", "rows.csv").error.split()
    assert words[0] == "rmse" and float(words[1]) < 0.1, words
    box.write("bare.csv", "b,a\n" + "".join("%r,%r\n" % (b, a) for a, b, _ in rows))
    same(predicted(box, "m.kf", "bare.csv"), predicted(box, "m.kf", "rows.csv"), "predictions without the target")
    box.write("turned.csv", "a,a,b\n" + "".join("%r,%r,%r\n" % (a, y, b) for a, b, y in rows))
    box.try_run("predict", "m.kf", "turned.csv").refused(3, "more often than there 'a'").silent()


def case_an_exported_weight_has_a_name_of_its_own(box):
    """What was seen: a feature called weight made two columns of that name, which nobody can tell apart again."""
    box.write("rows.csv", "weight,weight_,y\n1,2,0\n-1,0,1\n2,2,0\n")
    box.run("train", "-q", "--journal", "j", "rows.csv")
    box.run("export", "--to", "csv", "j", "again.csv")
    same(box.read("again.csv").decode().split("\n")[:2], ["weight,weight_,weight__,y", "1,2,1,0"], "what was exported")
    same(predicted(box, "--weight-column", "weight__", "j", "again.csv"), predicted(box, "j", "rows.csv"), "predictions")


@over((("ä", "ä"), ("日本", "日本"), ("x\x01", "x\\x01"), ("x\x85", "x\\xc2\\x85"), ("😀" * 11, "😀" * 10 + "...")))
def case_names_in_a_message_can_be_read(box, names):
    """What was seen: a column called ä was reported as missing under the name \\xc3\\xa4."""
    box.write("rows.csv", names[0] + ",b,y\n1,2,0\n-1,0,1\n2,2,0\n")
    box.run("train", "-q", "-m", "m.kf", "rows.csv")
    box.write("other.csv", "b,y\n1,2\n")
    box.try_run("predict", "m.kf", "other.csv").refused(3, "missing '%s'" % names[1]).silent()


def case_a_header_of_numbers_is_one_for_its_model(box):
    """What was seen: trained with --header yes on columns called 2020, 2021 and 2022, predict took the header for a row, and so
    answered one line too many, of columns in another order."""
    box.write("rows.csv", "2020,2021,2022\n1,2,1\n-1,2,0\n3,1,2\n")
    box.run("train", "-q", "--header", "yes", "-m", "m.kf", "--journal", "j", "rows.csv")
    box.write("turned.csv", "2021,2020\n2,1\n2,-1\n1,3\n")
    for source in ("m.kf", "j"):
        same(predicted(box, source, "turned.csv"), predicted(box, "--header", "yes", "m.kf", "rows.csv"), "predictions")
    box.run("train", "-q", "--journal", "j", "rows.csv")
    same(box.run("inspect", "--json", "j").json["points"], 3, "points of the journal")
