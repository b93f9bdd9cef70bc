"""Wrong usage: exit 2, one line on standard error, nothing on standard output, no file made."""

import contextlib

from harness import libsvm, numbers, over, same, two_classes

# What is wrong, the words, and what the message must name. LOG is data of two classes, NUM of numbers.
WRONG = (
    ("unknown option", "train --foo NUM", "--foo"),
    ("unknown option behind the file", "train NUM --foo", "--foo"),
    ("unknown short option", "train -x NUM", "-x"),
    ("unknown short option in front of a known one", "train -xq NUM", "x"),
    ("value for a flag", "train --json=yes NUM", "--json"),
    ("option of another command", "train --rows 5 NUM", "--rows"),
    ("option of another command", "predict --lambda 1 NUM NUM", "--lambda"),
    ("option of another command", "inspect --loss squared NUM", "--loss"),
    ("option of another command", "generate --lambda 1", "--lambda"),
    ("option of another command", "list --quiet methods", "--quiet"),
    ("ambiguous option: trace, trace-stages", "train --tr t.csv NUM", "--tr"),
    ("ambiguous option: threads, target and others", "train --t 2 NUM", "--t"),
    ("ambiguous option: lambda, lambda-total", "train --la 1 NUM", "--la"),
    ("missing value", "train NUM --lambda", "--lambda"),
    ("missing value of a short option", "train NUM -m", "-m"),
    ("negative lambda", "train --lambda -1 NUM", "--lambda"),
    ("lambda nan", "train --lambda nan NUM", "--lambda"),
    ("lambda inf", "train --lambda inf NUM", "--lambda"),
    ("lambda is a word", "train --lambda x NUM", "--lambda"),
    ("lambda with a tail", "train --lambda 1x NUM", "--lambda"),
    ("lambda in hexadecimal", "train --lambda 0x1 NUM", "--lambda"),
    ("lambda is empty", "train --lambda= NUM", "--lambda"),
    ("lambda overflows", "train --lambda 1e999 NUM", "--lambda"),
    ("lambda 0 with refit", "train --lambda 0 --method refit NUM", "--lambda"),
    ("lambda 0 with exact", "train --lambda 0 --method exact NUM", "--lambda"),
    ("lambda-total 0 with refit", "train --lambda-total 0 --method refit NUM", "lambda"),
    ("both lambdas", "train --lambda 1 --lambda-total 1 NUM", "--lambda-total"),
    ("epsilon 0", "train --epsilon 0 NUM", "--epsilon"),
    ("negative epsilon", "train --epsilon -1 NUM", "--epsilon"),
    ("ball of negative radius", "train --domain ball:-1 NUM", "--domain"),
    ("ball of radius 0", "train --domain ball:0 NUM", "--domain"),
    ("ball of radius nan", "train --domain ball:nan NUM", "--domain"),
    ("ball without radius", "train --domain ball NUM", "--domain"),
    ("ball with two radii", "train --domain ball:1:2 NUM", "--domain"),
    ("box upside down", "train --domain box:1:0 NUM", "--domain"),
    ("box with one side", "train --domain box:1 NUM", "--domain"),
    ("simplex with a number", "train --domain simplex:1 NUM", "--domain"),
    ("unknown domain", "train --domain cube NUM", "--domain"),
    ("empty domain", "train --domain= NUM", "--domain"),
    ("unknown method", "train --method foo NUM", "foo"),
    ("unknown loss", "train --loss foo NUM", "--loss"),
    ("part of a loss", "train --loss log NUM", "--loss"),
    ("unknown step", "train --method sgd --step foo NUM", "--step"),
    ("unknown step, method auto", "train --step foo NUM", "--step"),
    ("step 0", "train --method sgd --step 0 NUM", "--step"),
    ("negative step", "train --method csvrg --step -1 NUM", "--step"),
    ("step of 0/L", "train --method svrg --step 0/L NUM", "--step"),
    ("unknown setting", "train --setting foo NUM", "--setting"),
    ("inner 0", "train --inner 0 NUM", "--inner"),
    ("inner is negative", "train --inner -5 NUM", "--inner"),
    ("inner is a fraction", "train --inner 1.5 NUM", "--inner"),
    ("outer 0", "train --outer 0 NUM", "--outer"),
    ("negative alpha", "train --alpha -1 NUM", "--alpha"),
    ("negative seed", "train --seed -1 NUM", "--seed"),
    ("seed beyond 64 bits", "train --seed 99999999999999999999 NUM", "--seed"),
    ("limit 0", "train --limit 0 NUM", "--limit"),
    ("threads 0", "train --threads 0 NUM", "--threads"),
    ("threads is a word", "train -j many NUM", "--threads"),
    ("trace-stages 0", "train --trace-stages 0 NUM", "--trace-stages"),
    ("trace-stages is a word", "train --trace-stages x NUM", "--trace-stages"),
    ("trace-stages 0 with a trace", "train --trace t.csv --trace-stages 0 NUM", "--trace-stages"),
    ("trace-stages is a word, with a trace", "train --trace t.csv --trace-stages x NUM", "--trace-stages"),
    ("trace-stages is a fraction", "train --trace t.csv --trace-stages 1.5 NUM", "--trace-stages"),
    ("trace-stages 0 of compare", "compare --trace-stages 0 NUM", "--trace-stages"),
    ("bias and intercept", "train --bias 1 --intercept NUM", "--intercept"),
    ("bias 0", "train --bias 0 NUM", "--bias"),
    ("bias whose square overflows", "train --bias 1e200 NUM", "--bias"),
    ("delta 0", "train --loss huber --delta 0 NUM", "--delta"),
    ("model on standard output", "train --model - NUM", "--model"),
    ("save-every without model", "train --save-every 5 NUM", "--model"),
    ("save-every 0", "train --model m.kf --save-every 0 NUM", "--save-every"),
    ("exact with logistic", "train --method exact --loss logistic LOG", "exact"),
    ("exact with softmax", "train --method exact --loss softmax LOG", "exact"),
    ("theory without a bounded domain", "train --method csvrg --setting theory NUM", "--domain"),
    ("theory with lambda 0", "train --method csvrg --setting theory --domain ball:1 --lambda 0 NUM", "--lambda"),
    ("unknown scale", "train --scale foo NUM", "--scale"),
    ("unknown on-error", "train --on-error ignore NUM", "--on-error"),
    ("unknown format", "train --format foo NUM", "--format"),
    ("unknown header", "train --header maybe NUM", "--header"),
    ("max-features 0", "train --max-features 0 NUM", "--max-features"),
    ("target for LIBSVM", "train --target 1 NUM", "--target"),
    ("weights for LIBSVM", "train --weight-column 1 NUM", "--weight-column"),
    ("no such column", "train --target z TAB", "'z'"),
    ("column beyond the last", "train --target 9 TAB", "9"),
    ("column 0", "train --target 0 TAB", "0"),
    ("target is weight", "train --target a --weight-column a TAB", "weight"),
    ("bad delimiter", "train --delimiter ab TAB", "--delimiter"),
    ("digit as delimiter", "train --delimiter 1 TAB", "--delimiter"),
    ("two files", "train NUM NUM", "NUM"),
    ("no file", "train", "FILE"),
    ("no file behind --", "train --", "FILE"),
    ("no data for predict", "predict MODEL", "FILE"),
    ("no model for predict", "predict", "needs"),
    ("three files for predict", "predict MODEL NUM NUM", "NUM"),
    ("unknown output", "predict --output foo MODEL NUM", "--output"),
    ("no model for inspect", "inspect", "CHECKPOINT"),
    ("two models for inspect", "inspect MODEL MODEL", "MODEL"),
    ("no file for compare", "compare", "FILE"),
    ("no methods", "compare --methods , NUM", "--methods"),
    ("unknown method of compare", "compare --methods auto,foo NUM", "foo"),
    ("option of a method without value", "compare --methods csvrg:inner NUM", "inner"),
    ("unknown option of a method", "compare --methods csvrg:foo=1 NUM", "foo"),
    ("bad option of a method", "compare --methods csvrg:inner=0 NUM", "inner"),
    ("window of one method", "compare --methods auto,sgd:window=3 NUM", "window"),
    ("seed of one method", "compare --methods auto,sgd:seed=3 NUM", "seed"),
    ("threads of one method", "compare --methods auto,sgd:threads=3 NUM", "threads"),
    ("method of a method", "compare --methods auto:method=sgd NUM", "method"),
    ("method that does not fit the loss", "compare --loss logistic --methods auto,exact LOG", "exact"),
    ("no runs", "compare --runs 0 NUM", "--runs"),
    ("argument for generate", "generate 5", "5"),
    ("no rows", "generate --rows 0", "--rows"),
    ("rows is negative", "generate --rows -5", "--rows"),
    ("rows beyond 64 bits", "generate --rows 99999999999999999999", "--rows"),
    ("no features", "generate --features 0", "--features"),
    ("more non-zeros than features", "generate --features 3 --nnz 4", "--nnz"),
    ("negative noise", "generate --noise -1", "--noise"),
    ("noise nan", "generate --noise nan", "--noise"),
    ("negative drift", "generate --drift -1", "--drift"),
    ("unknown order", "generate --order foo", "--order"),
    ("no classes", "generate --loss softmax --classes 0", "--classes"),
    ("unknown family", "list foo", "foo"),
    ("no family", "list", "methods"),
    ("two families", "list methods losses", "losses"),
    ("unknown command", "foo", "foo"),
    ("part of a command", "tra NUM", "tra"),
    ("empty command", "EMPTY", ""),
    ("option as command", "--foo", "--foo"),
    ("help on an unknown command", "help foo", "foo"),
    ("help on two commands", "help train predict", "predict"),
    ("completion for an unknown shell", "help --completion fish", "fish"),
)


@over([("%d: %s" % (k + 1, case[0]), *case[1:]) for k, case in enumerate(WRONG)])
def case_wrong(box, case):
    _, line, part = case
    names = {"NUM": "num.svm", "LOG": "log.svm", "TAB": "tab.csv", "MODEL": "model.kf", "EMPTY": ""}
    box.write("num.svm", libsvm(numbers(5)))
    box.write("log.svm", libsvm(two_classes((1, 2), 10)))
    box.write("tab.csv", "a,b,y\n1,2,3\n4,5,6\n")
    if "MODEL" in line:
        box.run("train", "-m", "model.kf", "num.svm")
    before = sorted(box.contents())
    words = [names.get(word, word) for word in line.split()]
    box.try_run(*words).refused(2, names.get(part, part)).silent()
    same(sorted(box.contents()), before, "files")


def case_nothing(box):
    result = box.try_run()
    result.check(result.code == 2 and result.error.startswith("usage: keepfit"), "expected a line on usage").silent()


@over((("squared",), ("logistic",)))
def case_auto_without_lambda(box, case):
    """Nothing can be proved then, but something can be done."""
    box.write("data.svm", libsvm(two_classes((1, 2))))
    told = box.run("train", "--json", "--loss", case[0], "--lambda", "0", "data.svm").json
    same((told["method"], told["lambda"]), ("auto", 0), "method and lambda")
    assert told["chosen"] not in ("exact", "refit") and told["worst_bound"] is None


def case_options_may_be_shortened_and_repeated(box):
    box.write("data.svm", libsvm(numbers(5)))
    told = box.run("train", "--js", "--lambda", "1", "--lambda", "2", "data.svm").json
    same(told["lambda"], 2, "lambda")


# What was typed, and what was meant: in options, values, methods, losses, columns, commands.
MISSPELT = (
    ("train --lamda 1 NUM", "--lambda"), ("train --epsilom=1 NUM", "--epsilon"), ("train --max_features 3 NUM", "--max-features"),
    ("train --loss logistik NUM", "logistic"), ("train --loss Squared NUM", "squared"), ("train --loss network NUM", "network:H"),
    ("train --loss log NUM", "logistic"), ("train --method quadratc NUM", "quadratic"), ("train --domain bal:2 NUM", "ball:R"),
    ("train --format libsvn NUM", "libsvm"), ("train --scale colums NUM", "columns"), ("train --on-error skpi NUM", "skip"),
    ("train --journal j --sync alway NUM", "always"), ("train --resume chek NUM", "check"), ("train --target Amuont TAB", "amount"),
    ("trian NUM", "train"), ("help predcit", "predict"), ("list lossess", "losses"), ("generate --order srted", "sorted"),
    ("export --to jsn MODEL", "json"), ("reproduce rigde", "ridge"), ("compare --methods csvgr NUM", "csvrg"),
    ("compare --methods csvrg:iner=3 NUM", "--inner"), ("help --completion bahs", "bash"),
    ("predict --output probabilty MODEL NUM", "probability"), ("predict --output label,scoers MODEL NUM", "scores"),
    ("predict --extra-features ignor MODEL NUM", "ignore"),
)


@over(MISSPELT)
def case_misspelt(box, case):
    line, meant = case
    names = {"NUM": "num.svm", "TAB": "tab.csv", "MODEL": "model.kf"}
    box.write("num.svm", libsvm(numbers(5)))
    box.write("tab.csv", "amount,b,y\n1,2,3\n4,5,6\n")
    if "MODEL" in line:
        box.run("train", "-m", "model.kf", "num.svm")
    box.try_run(*[names.get(word, word) for word in line.split()]).refused(2, "; did you mean %s?" % meant).silent()


@over(("train --foo 1 NUM", "train --loss foo NUM", "train --method foo NUM", "foo NUM", "train --domain box:1:0 NUM"))
def case_nothing_like_it(box, line):
    box.write("num.svm", libsvm(numbers(5)))
    result = box.try_run(*[{"NUM": "num.svm"}.get(word, word) for word in line.split()]).refused(2)
    result.check("did you mean" not in result.error, "expected no suggestion")


@over((("KEEPFIT_LAMDA", "KEEPFIT_LAMBDA"), ("KEEPFIT_lambda", "KEEPFIT_LAMBDA"), ("KEEPFIT_MAXFEATURES", "KEEPFIT_MAX_FEATURES"),
       ("KEEPFIT_MODLE", "KEEPFIT_MODEL")))
def case_misspelt_variable(box, case):
    """It had no effect, and nobody was told."""
    name, meant = case
    box.write("num.svm", libsvm(numbers(5)))
    box.try_run("train", "-m", "m.kf", "num.svm", env={name: "0.5"}).refused(2, name + " is no setting; did you mean %s?" % meant).silent()
    assert not box.exists("m.kf")


def case_variables_of_others(box):
    """What nothing is like gets a warning; what the project itself uses, and other commands' options, do not."""
    box.write("num.svm", libsvm(numbers(5)))
    result = box.run("train", "num.svm", env={"KEEPFIT_FOO": "1"})
    same(result.error, "keepfit: warning: the environment's KEEPFIT_FOO is no setting of keepfit, and has no effect\n", "standard error")
    same(box.run("train", "-q", "num.svm", env={"KEEPFIT_FOO": "1"}).error, "", "standard error with --quiet")
    known = {"KEEPFIT_DATA": "/", "KEEPFIT_COMMAND": "x", "KEEPFIT_TEST_QUICK": "1", "KEEPFIT_VERSION": "1", "KEEPFIT_ROWS": "5"}
    same(box.run("train", "num.svm", env=known).error, "", "standard error")


@over(("columns", "minmax"))
def case_scaling_an_endless_pipe(box, scale):
    """It would wait for the last row, for ever."""
    rows = libsvm(numbers(5))
    box.write("num.svm", rows)
    process = box.start("train", "--scale", scale, "-m", "m.kf", "-")
    try:
        with contextlib.suppress(BrokenPipeError):  # it may be refused already
            process.stdin.write(rows.encode())
            process.stdin.flush()
        same(process.wait(20), 2, "exit, while the pipe is open")
        assert b"--scale " + scale.encode() in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    box.run("train", "--scale", scale, "-m", "whole.kf", "num.svm")
    box.run("train", "--scale", scale, "-m", "m.kf", "-", stdin_file="num.svm")  # redirected from a file, it has an end
    same(box.read("m.kf"), box.read("whole.kf"), "model of the redirected file")
    box.run("train", "--scale", scale, "--limit", "5", "-m", "m.kf", "-", stdin=rows + rows)
    same(box.read("m.kf"), box.read("whole.kf"), "model of the first five rows")
    box.try_run("train", "--scale", scale, "--limit", "5", "--shuffle", "-", stdin=rows).refused(2, "--scale " + scale).silent()
    box.run("train", "--scale", "rows", "-", stdin=rows)
    result = box.run("train", "--shuffle", "-", stdin=rows)
    result.check("--shuffle reads the stream to its end" in result.error, "expected a warning")
