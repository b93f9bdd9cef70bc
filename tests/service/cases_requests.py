"""What is asked, and what is answered."""
import importlib.util
import json
import os
import random
import re
import subprocess
import time

from client import Service

NAMES = ["amount", "hour", "age"]


def rows(count, seed=1):
    """Numbers and a class that depends on them."""
    source = random.Random(seed)
    made = []
    for _ in range(count):
        values = [round(source.gauss(0, 1), 6) for _ in NAMES]
        made.append((values, int(values[0] - 0.5 * values[1] + source.gauss(0, 0.5) > 0)))
    return made


def as_libsvm(data):
    return "".join("%d %s\n" % (target, " ".join("%d:%r" % (k + 1, v) for k, v in enumerate(values))) for values, target in data)


def as_csv(data):
    return ",".join(NAMES + ["target"]) + "\n" + "".join("%s,%d\n" % (",".join(map(repr, v)), t) for v, t in data)


def as_points(data):
    return [{"features": values, "target": target} for values, target in data]


def as_named(data):
    return [{"features": dict(zip(NAMES, values)), "target": target} for values, target in data]


def lines(objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


def trained(keepfit, folder, name, text, *options):
    """The file of the model that keepfit train makes of these bytes."""
    path, model = os.path.join(folder, name), os.path.join(folder, name + ".kf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([keepfit, "train", "--quiet", *options, "--model", model, path], check=True, timeout=60)
    with open(model, "rb") as file:
        return file.read()


LOGISTIC = ["--loss", "logistic", "--epsilon", "1e-3"]


def case_each_format_is_the_same_model(keepfit, folder):
    """Requests replayed into keepfit train give the same bytes, whatever their format and however they are cut."""
    data = rows(200)
    plain = trained(keepfit, folder, "plain.svm", as_libsvm(data), *LOGISTIC)
    named = trained(keepfit, folder, "named.csv", as_csv(data), *LOGISTIC)
    typed = trained(keepfit, folder, "typed.jsonl", lines(dict(zip(NAMES, v), target=t) for v, t in data), *LOGISTIC)
    flat = lines(dict(zip(NAMES, v), target=t) for v, t in data)
    ways = {
        "json": (plain, "application/json", lambda part: json.dumps(as_points(part))),
        "lines": (plain, "application/x-ndjson", lambda part: lines(as_points(part))),
        "libsvm": (plain, "application/x-libsvm", as_libsvm),
        "csv": (named, "text/csv", as_csv),
        "named": (typed, "application/json", lambda part: json.dumps(as_named(part))),
        "flat": (typed, "application/x-ndjson", lambda part: lines(dict(zip(NAMES, v), target=t) for v, t in part)),
    }
    assert flat
    for name, (expected, kind, write) in ways.items():
        place = os.path.join(folder, name)
        os.mkdir(place)
        with Service(keepfit, place, *LOGISTIC) as service:
            at = 0
            for size in (1, 1, 8, 40, 150):
                status, _, answer = service.push(write(data[at:at + size]), kind)
                assert status == 200, (name, answer)
                assert (answer["first"], answer["last"], answer["stage"]) == (at + 1, at + size, at + size), (name, answer)
                assert answer["safe"] is True and answer["bound"] <= 1e-3, answer
                at += size
            status, headers, model = service.ask("GET", "/v1/model")
            assert status == 200 and headers["Content-Type"] == "application/octet-stream"
            assert model == expected, "%s: the model is not that of keepfit train" % name
            assert service.stop() == 0


def case_the_model_in_the_formats_of_others(keepfit, folder):
    """The same bytes as keepfit export makes of the same model; where it refuses, so does the service, and says why."""
    data = rows(60)
    ways = {"logistic": (as_named(data), ["--loss", "logistic", "--intercept"], None),
            "words": ([{"features": v, "target": "ny"[t]} for v, t in data], ["--loss", "logistic"], None),
            "numbers": ([{"features": v, "target": v[0] / 3} for v, _ in data], ["--loss", "squared", "--bias", "1"], None),
            "softmax": (as_points(data) + [{"features": [1, 2, 3], "target": 7}], ["--loss", "softmax"], None),
            "network": (as_points(data), ["--loss", "network:3", "--method", "sgd"], "network"),
            "half": ([{"features": [1, 2, 3], "target": 0.5}] + as_points(data[:1]), ["--loss", "logistic"], "whole numbers"),
            "one": (as_points(data[:1]), ["--loss", "logistic"], "two classes")}
    for name, (points, options, refused) in ways.items():
        place = os.path.join(folder, name)
        os.mkdir(place)
        with Service(keepfit, place, *options) as service:
            assert service.ask("GET", "/v1/model?format=json")[0] == 409
            assert service.push(points)[0] == 200
            with open(os.path.join(place, "m.kf"), "wb") as file:
                file.write(service.ask("GET", "/v1/model")[2])
            for form, kind in (("json", "application/json"), ("liblinear", "text/plain")):
                told = subprocess.run([keepfit, "export", "--quiet", "--to", form, os.path.join(place, "m.kf")],
                                      capture_output=True, timeout=60)
                status, headers, body = service.ask("GET", "/v1/model?format=" + form, raw=True)
                if form == "liblinear" and refused:
                    assert status == 406 and told.returncode == 3, (name, status, body, told)
                    assert refused in json.loads(body)["error"]["message"] and refused in told.stderr.decode(), (body, told)
                    continue
                assert status == 200 and headers["Content-Type"].startswith(kind), (name, status, headers, body)
                assert told.returncode == 0 and body == told.stdout and len(body) > 50, (name, form, body, told)
            status, _, answer = service.ask("GET", "/v1/model?format=xml")
            assert status == 400 and "keepfit, json, liblinear" in answer["error"]["message"], answer


def case_predictions_are_those_of_the_command(keepfit, folder):
    data = rows(120)
    with Service(keepfit, folder, *LOGISTIC) as service:
        assert service.push(as_csv(data[:100]), "text/csv")[0] == 200
        model = os.path.join(folder, "m.kf")
        with open(model, "wb") as file:
            file.write(service.ask("GET", "/v1/model")[2])
        with open(os.path.join(folder, "rows.csv"), "w", encoding="utf-8") as file:
            file.write(as_csv(data[100:]))
        told = subprocess.run([keepfit, "predict", "--quiet", "--output", "label,probability", model,
                               os.path.join(folder, "rows.csv")], capture_output=True, text=True, check=True).stdout
        expected = [line.split(",") for line in told.splitlines()[1:]]
        asked = [{"features": values} for values, _ in data[100:]]
        for body, kind in ((asked, "application/json"), (lines(asked), "application/x-ndjson"),
                           (as_csv(data[100:]), "text/csv"), (as_libsvm(data[100:]), "application/x-libsvm")):
            status, _, answer = service.predict(body, kind)
            assert status == 200, answer
            assert len(answer) == 20
            for one, words in zip(answer, expected):
                assert one["prediction"] == float(words[0])
                assert [one["probabilities"]["0"], one["probabilities"]["1"]] == [float(w) for w in words[1:3]], (one, words)
                assert one["stage"] == 100 and 0 <= one["bound"] <= 1e-3
        status, _, one = service.predict({"features": data[100][0]})
        assert status == 200 and one == service.predict(asked)[2][0], one


def case_classes_may_be_texts(keepfit, folder):
    with Service(keepfit, folder, "--loss", "softmax") as service:
        points = [{"features": [1, 0], "target": "red"}, {"features": [0, 1], "target": "green"},
                  {"features": [-1, -1], "target": "blue"}]
        assert service.push(points * 10)[0] == 200
        status, _, answer = service.predict({"features": [3, 0]})
        assert answer["prediction"] == "red" and set(answer["probabilities"]) == {"red", "green", "blue"}
        status, _, answer = service.push({"features": [1, 1], "target": 3})
        assert status == 422 and "texts" in answer["error"]["message"], answer
        assert service.push({"features": [5, 5], "target": "white"})[0] == 200
        assert "white" in service.predict({"features": [3, 0]})[2]["probabilities"]
        assert service.stop() == 0
        service.start()
        assert service.predict({"features": [3, 0]})[2]["prediction"] == "red"


def case_categories_and_late_ones(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC) as service:
        points = [{"features": {"shop": shop, "sum": value}, "target": "fraud" if shop == "x" else "ok"}
                  for value, shop in enumerate("xyxyyx")]
        assert service.push(points)[0] == 200
        answer = service.predict([{"features": {"shop": "x", "sum": 1}}, {"features": {"shop": "y", "sum": 1}}])[2]
        assert [one["prediction"] for one in answer] == ["fraud", "ok"], answer
        assert service.push({"features": {"shop": "new", "sum": 2}, "target": "ok"})[0] == 200
        status, _, answer = service.predict({"features": [1, 2]})
        assert status == 422 and "names" in answer["error"]["message"], answer


def case_a_request_is_whole_or_not(keepfit, folder):
    """Whatever is wrong with one point, none of the request is there, and the place is named."""
    bad = [
        ([{"features": [1, 2], "target": 1}, {"features": [1, 1e200], "target": 1}], "point 2", 422),
        ([{"features": [1, 2], "target": 1}, {"features": [1, 2], "target": 7}, {"features": [1, 2], "target": 0},
          {"features": [1, 2], "target": 9}], "point 3", 422),
        ([{"features": [1, 2], "target": 1}, {"features": [1, "x"], "target": 1}], "point 2, byte", 400),
        ([{"features": [1, 2], "target": 1}, {"features": [1, 2]}], "point 2, byte", 400),
        ([{"features": [1, 2], "target": 1}, {"features": {"a": 2}, "target": 1}], "point 2, byte", 400),
        ([{"features": [1, 2], "target": 1, "weight": -1}], "point 1, byte", 400),
        ([{"features": [1, 2], "target": 1, "wieght": 1}], "point 1, byte", 400),
    ]
    with Service(keepfit, folder, *LOGISTIC) as service:
        service.push([{"features": [1, 2], "target": 7}])
        for points, place, wanted in bad:
            status, _, answer = service.push(points)
            assert status == wanted and answer["error"]["at"].startswith(place), (points, status, answer)
        for text in ("1 1:1\n0 1:1 1:2\n", "1 1:1\nx 1:2\n", "1 1:1\n0 1:nan\n"):
            status, _, answer = service.push(text, "application/x-libsvm")
            assert status == 422 and answer["error"]["at"] == "line 2", answer
        for text in ("[1", "{", "[]", "nonsense", '{"features":[01],"target":1}', '{"features":[1e999],"target":1}',
                     '{"features":[1],"features":[1],"target":1}', '{"features":[1],"target":1} x', "[" * 100000,
                     '{"features":{"a\\ud800":1},"target":1}', '{"features":{"a\\u0000":1},"target":1}', "\0",
                     '{"features":[1,],"target":1}', '{"features":[+1],"target":1}', '{"features":[.5],"target":1}'):
            status, _, answer = service.push(text)
            assert status in (400, 422) and answer["error"]["code"], (text[:60], answer)
        report = service.ask("GET", "/v1/report")[2]
        assert report["stage"] == 1, report


def case_forgetting(keepfit, folder):
    data = rows(30)
    with Service(keepfit, folder, *LOGISTIC) as service:
        assert service.push(as_points(data))[0] == 200
        status, _, answer = service.ask("DELETE", "/v1/points/7")
        assert status == 200 and answer["removed"] == 7 and answer["stage"] == 30, answer
        assert service.ask("DELETE", "/v1/points/7")[0] == 404
        assert service.ask("DELETE", "/v1/points/31")[0] == 404
        for wrong in ("0", "-1", "01", "1x", "99999999999999999999999", "%2e%2e"):
            assert service.ask("DELETE", "/v1/points/" + wrong)[0] in (400, 404), wrong
        page = service.ask("GET", "/v1/points?from=5&limit=4")[2]
        assert [one["number"] for one in page["points"]] == [5, 6, 8, 9] and page["next"] == 10
        assert page["points"][0]["features"] == data[4][0] and page["points"][0]["target"] == data[4][1]
        assert service.stop() == 0
        service.start()
        assert service.ask("GET", "/v1/report")[2]["points"] == 29
        assert service.ask("DELETE", "/v1/points/7")[0] == 404


def case_points_with_ids(keepfit, folder):
    """A point with an id takes the place of the one that had it, and can be forgotten by it."""
    data = rows(12)
    with Service(keepfit, folder, *LOGISTIC) as service:
        assert service.push([dict(one, id="order-%d" % k) for k, one in enumerate(as_points(data[:10]))])[0] == 200
        status, _, answer = service.push(dict(as_points(data[10:])[0], id="order-3"))
        assert status == 200 and answer["last"] == 11, answer
        page = service.ask("GET", "/v1/points")[2]["points"]
        assert [one["number"] for one in page] == [1, 2, 3, 5, 6, 7, 8, 9, 10, 11] and page[-1]["id"] == "order-3"
        status, _, answer = service.ask("DELETE", "/v1/points/order-3")
        assert status == 200 and answer["removed"] == "order-3", answer
        assert service.ask("DELETE", "/v1/points/order-3")[0] == 404
        service.push(dict(as_points(data[11:])[0], id="77"))
        assert service.ask("DELETE", "/v1/points/77")[0] == 404
        assert service.ask("DELETE", "/v1/points/77?by=key")[2]["removed"] == "77"
        service.kill()
        service.start()
        assert service.ask("GET", "/v1/report")[2]["points"] == 9
        assert service.ask("DELETE", "/v1/points/order-5")[0] == 200


def case_labels_that_come_later(keepfit, folder):
    data = rows(40)
    with Service(keepfit, folder, *LOGISTIC, "--max-waiting", "5") as service:
        assert service.push(as_points(data[:20]))[0] == 200
        asked = [{"features": values, "id": "row %d" % k} for k, (values, _) in enumerate(data[20:24])]
        answer = service.predict(asked)[2]
        assert [one["id"] for one in answer] == [one["id"] for one in asked]
        service.kill()
        service.start()
        labels = [{"id": "row %d" % k, "target": data[20 + k][1]} for k in range(4)]
        status, _, answer = service.ask("POST", "/v1/labels", labels[:2])
        assert status == 200 and (answer["first"], answer["last"]) == (21, 22), answer
        status, _, again = service.ask("POST", "/v1/labels", labels[:2])
        assert status == 200 and again["stage"] == 22, again
        status, _, answer = service.ask("POST", "/v1/labels", [labels[2], {"id": "nobody", "target": 1}])
        assert status == 404 and answer["error"]["at"] == "label 2", answer
        assert service.ask("GET", "/v1/report")[2]["stage"] == 22
        service.kill()
        service.start()
        assert service.ask("POST", "/v1/labels", labels[0])[0] == 200
        assert service.ask("POST", "/v1/labels", dict(labels[0], target=5))[0] == 409
        assert service.ask("POST", "/v1/labels", labels[2:])[2]["stage"] == 24
        for wrong in ([], {}, [[]], {"id": "", "target": 1}, {"id": "x" * 201, "target": 1},
                      {"id": "x", "target": None}, {"id": "x\ry", "target": 1},
                      {"id": "x\ny", "target": 1}, {"id": "x"}, {"target": 1}, {"id": "x", "target": 1, "weight": 1},
                      '{"id":"x","id":"x","target":1}', "[", "1"):
            status, _, answer = service.ask("POST", "/v1/labels", wrong)
            assert status in (400, 422) and answer["error"]["message"], (wrong, answer)
        for k in range(6):
            service.predict({"features": [1, 2, 3], "id": "late %d" % k})
        assert service.ask("POST", "/v1/labels", {"id": "late 0", "target": 1})[0] == 404, "the oldest has gone"
        assert service.ask("POST", "/v1/labels", {"id": "late 1", "target": 1})[0] == 200
        model = service.ask("GET", "/v1/model")[2]
    text = as_libsvm(data[:24] + [([1, 2, 3], 1)])
    assert model == trained(keepfit, folder, "labels.svm", text, *LOGISTIC)


def case_what_came_of_earlier_predictions(keepfit, folder):
    """Labels are held against what was predicted then, though the model has gone on, and none is lost or counted twice by a kill."""
    data = rows(60)
    ways = {"logistic": (lambda v, t: ["b\u00e9", "a"][t], lambda pairs: sum(p != t for p, t in pairs) / len(pairs)),
            "squared": (lambda v, t: v[0] + t, lambda pairs: (sum((p - t) ** 2 for p, t in pairs) / len(pairs)) ** 0.5)}
    for loss, (target, error) in ways.items():
        place = os.path.join(folder, loss)
        os.mkdir(place)
        with Service(keepfit, place, "--loss", loss, "--epsilon", "1e-3") as service:
            assert service.ask("GET", "/v1/report")[2]["late"] == {"count": 0, "error": None}
            assert service.push([{"features": v, "target": target(v, t)} for v, t in data[:6]])[0] == 200
            asked = [{"features": v, "id": "p%d" % k} for k, (v, _) in enumerate(data[6:30])]
            given = [one["prediction"] for one in service.predict(asked)[2]]
            assert service.push([{"features": [-x for x in v], "target": target(v, t)} for v, t in data[30:]])[0] == 200
            now = [one["prediction"] for one in service.predict([{"features": one["features"]} for one in asked])[2]]
            pairs = [(p, target(v, t)) for p, (v, t) in zip(given, data[6:30])]
            assert error(pairs) != error([(p, t) for p, (_, t) in zip(now, pairs)]), "the case would show nothing"
            for begin in range(0, 24, 6):
                labels = [{"id": "p%d" % k, "target": pairs[k][1]} for k in range(begin, begin + 6)]
                for _ in range(2):  # the second time they are known
                    assert service.ask("POST", "/v1/labels", labels)[0] == 200
                if begin == 12:
                    assert service.stop() == 0
                else:
                    service.kill()
                service.start()
                late = service.ask("GET", "/v1/report")[2]["late"]
                assert late["count"] == begin + 6 and abs(late["error"] - error(pairs[:begin + 6])) < 1e-12, (late, begin)
            points = service.ask("GET", "/v1/report")[2]["points"]
            again = service.predict({"features": asked[0]["features"], "id": "p0"})[2]["prediction"]
            status, _, answer = service.ask("POST", "/v1/labels", {"id": "p0", "target": pairs[1][1]})
            assert status == 200 and answer["last"] == 61, answer
            pairs.append((again, pairs[1][1]))
            report = service.ask("GET", "/v1/report")[2]
            assert report["late"]["count"] == 25 and abs(report["late"]["error"] - error(pairs)) < 1e-12, report["late"]
            assert report["points"] == points, "the point of the id has taken the place of the earlier one"
            told = dict(line.rsplit(" ", 1) for line in service.ask("GET", "/metrics")[2].decode().splitlines() if line[0] != "#")
            assert float(told["keepfit_late_labels"]) == 25 and float(told["keepfit_late_error"]) == report["late"]["error"]


def matches(schema, value, schemas):
    """A few words of JSON Schema, those that the document has."""
    if "$ref" in schema:
        return matches(schemas[schema["$ref"].rsplit("/", 1)[1]], value, schemas)
    if "oneOf" in schema:
        return sum(matches(one, value, schemas) for one in schema["oneOf"]) == 1
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    is_kind = {"object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
               "number": isinstance(value, (int, float)) and not isinstance(value, bool), "integer": type(value) is int,
               "boolean": isinstance(value, bool), "null": value is None}
    if kinds and not any(is_kind[kind] for kind in kinds):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        if set(schema.get("required", [])) - set(value) or (rest is False and set(value) - set(known)):
            return False
        return all(matches(known.get(name, rest if isinstance(rest, dict) else {}), one, schemas) for name, one in value.items())
    if isinstance(value, list):
        return all(matches(schema.get("items", {}), one, schemas) for one in value)
    return True


def case_the_document_says_what_is_there(keepfit, folder):
    """Every route of the OpenAPI document answers as it says; what it takes is taken, what it does not have is not there."""
    with Service(keepfit, folder, *LOGISTIC) as service:
        status, _, document = service.ask("GET", "/v1/openapi.json")
        assert status == 200 and document["openapi"].startswith("3.1")
        schemas = document["components"]["schemas"]
        service.push(as_points(rows(20)))
        service.predict({"features": [1, 2, 3], "id": "a"})
        bodies = {"Points": as_points(rows(3)), "Rows": [{"features": [1, 2, 3]}], "Labels": {"id": "a", "target": 1},
                  "Inference": {"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP64", "data": [1, 2, 3]}]},
                  "Invocation": {"inputs": [[1, 2, 3]]}}
        asked = 0
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if path == "/v1/events":
                    continue
                body = None
                if "requestBody" in operation:
                    name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
                    body = bodies[name]
                    assert matches(schemas[name], body, schemas), name
                query = "?format=json" if path == "/v1/model" else ""
                for parameter in operation.get("parameters", []):
                    assert (parameter["in"] == "path") == (parameter["name"] == "number" and "{number}" in path), parameter
                    for choice in parameter["schema"].get("enum", []):
                        assert service.ask(method.upper(), "%s?%s=%s" % (path, parameter["name"], choice))[0] == 200, choice
                status, headers, answer = service.ask(method.upper(), path.replace("{number}", "2") + query, body)
                assert status == 200, (path, answer)
                content = operation["responses"]["200"].get("content")
                if content:
                    schema = content["application/json"]["schema"]
                    assert matches(schema, answer, schemas), (path, schema, answer)
                other = {"get": "DELETE", "post": "PUT", "delete": "POST"}[method]
                status, headers, answer = service.ask(other, path.replace("{number}", "2"))
                assert status == 405 and method.upper() in headers["Allow"], (path, status)
                assert matches(schemas["Error"], answer, schemas), answer
                asked += 1
        assert asked >= 12, asked
        for path in ("/v1", "/v1/point", "/v1/points/", "/v1/points/1/2", "//", "/v1/points/../model", "/metrics/x"):
            assert service.ask("GET", path)[0] in (404, 405), path


def case_metrics_follow_the_conventions(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC) as service:
        service.push(as_points(rows(25)))
        service.predict([{"features": [1, 2, 3]}] * 4)
        status, headers, data = service.ask("GET", "/metrics")
        text = data.decode()
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
        seen, helped = {}, set()
        for line in text.splitlines():
            found = re.match(r"# (HELP|TYPE) (keepfit_[a-z_]+) (.+)$", line)
            if found:
                helped.add((found.group(1), found.group(2)))
                if found.group(1) == "TYPE":
                    assert found.group(3) == ("counter" if found.group(2).endswith("_total") else "gauge"), line
                continue
            found = re.match(r"(keepfit_[a-z_]+)(\{[a-z]+=\"[^\"]*\"\})? (\S+)$", line)
            assert found, line
            assert ("HELP", found.group(1)) in helped and ("TYPE", found.group(1)) in helped
            seen[found.group(1)] = float(found.group(3))
        assert (seen["keepfit_points_total"], seen["keepfit_predictions_total"], seen["keepfit_stage"]) == (25, 4, 25)


def case_events_tell_what_changes(keepfit, folder):
    with Service(keepfit, folder, *LOGISTIC) as service:
        service.push(as_points(rows(5)))
        connection = service.connect()
        connection.request("GET", "/v1/events")
        answer = connection.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream"

        def event():
            told = {}
            while True:
                line = answer.readline().decode().rstrip("\n")
                if not line:
                    if "data" in told:
                        return told["id"], json.loads(told["data"])
                    told = {}
                elif not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    told[name] = value

        number, state = event()
        assert state["stage"] in (0, 5) and int(number) == state["stage"], state
        for count in (1, 2, 3):
            service.push(as_points(rows(1, count)))
            until = time.time() + 10
            while event()[1]["stage"] != 5 + count:
                assert time.time() < until
        assert service.stop() == 0  # also with a listener
        connection.close()


def case_neighbours_protocols(keepfit, folder):
    """The same predictions as by /v1/predict."""
    data = rows(60)
    for name, points in (("plain", as_points(data)), ("named", as_named(data))):
        place = os.path.join(folder, name)
        os.mkdir(place)
        with Service(keepfit, place, *LOGISTIC) as service:
            assert service.push(points)[0] == 200
            values = [one[0] for one in data[:5]]
            own = [one["prediction"] for one in service.predict([{"features": one["features"]} for one in points[:5]])[2]]
            table = {"dataframe_split": {"columns": NAMES, "data": values}}
            if name == "named":
                status, _, answer = service.ask("POST", "/invocations", table)
                assert status == 200 and answer["predictions"] == own, answer
                assert service.ask("POST", "/invocations", {"dataframe_split": {"columns": NAMES[:2], "data": values}})[0] == 400
                records = [one["features"] for one in points[:5]]
                turned = [dict(reversed(one.items())) for one in records]
                for body in ({"dataframe_records": records}, json.dumps({"params": {}, "dataframe_records": turned}, indent=2)):
                    status, _, answer = service.ask("POST", "/invocations", body)
                    assert status == 200 and answer == {"predictions": own}, answer
                without = {"hour": 1.5}  # a name that is missing is a missing value, as in the service's own requests
                wanted = service.predict({"features": without})[2]["prediction"]
                assert service.ask("POST", "/invocations", {"dataframe_records": [without]})[2] == {"predictions": [wanted]}
                for wrong in ([], {}, [[1]], [1], [dict(records[0], hour="x y")], [dict(records[0], nobody=1)], records[0],
                              '{"dataframe_records":[{"hour":1,"hour":1}]}', '{"dataframe_records":[{"hour":1,}]}',
                              '{"dataframe_records":[{"hour":1}],"dataframe_records":[{"hour":1}]}'):
                    body = wrong if isinstance(wrong, str) else {"dataframe_records": wrong}
                    assert service.ask("POST", "/invocations", body)[0] in (400, 422), wrong
                continue
            for body in ({"inputs": values}, {"instances": values, "params": {"a": [1]}}):
                status, _, answer = service.ask("POST", "/invocations", body)
                assert status == 200 and answer == {"predictions": own}, answer
            for given in (values, [number for row in values for number in row]):
                tensor = {"name": "x", "shape": [5, 3], "datatype": "FP64", "data": given}
                status, _, answer = service.ask("POST", "/v2/models/default/infer", {"id": "7", "inputs": [tensor]})
                assert status == 200 and answer["outputs"][0]["data"] == own and answer["outputs"][0]["shape"] == [5], answer
            for wrong in (dict(tensor, shape=[5, 2]), dict(tensor, shape=[4, 3]), dict(tensor, shape=[5.5, 3]), dict(tensor, shape=[5, 3.5]),
                          dict(tensor, datatype="BYTES"), dict(tensor, data=[]),
                          dict(tensor, shape=[15]), dict(tensor, data=[["a"]]), {}):
                assert service.ask("POST", "/v2/models/default/infer", {"inputs": [wrong]})[0] == 400, wrong
            for wrong in ({}, {"inputs": []}, {"inputs": [1]}, {"inputs": values, "instances": values}, {"inputs": [[1, 2]] * 3 + [[1]]}):
                assert service.ask("POST", "/invocations", wrong)[0] in (400, 422) or wrong.get("inputs", [0])[0] == [1, 2], wrong
            assert service.ask("GET", "/v2/health/ready")[0] == 200
            assert service.ask("GET", "/v2/models/default")[2]["inputs"][0]["shape"] == [-1, 3]


def case_the_python_client(keepfit, folder):
    """Class Remote of the package, which needs nothing else of it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "keepfit", "remote.py")
    spec = importlib.util.spec_from_file_location("remote", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = rows(30)
    with Service(keepfit, folder, *LOGISTIC) as service, module.Remote("http://127.0.0.1:%d" % service.port) as remote:
        assert remote.push([v for v, _ in data[:20]], [t for _, t in data[:20]])["last"] == 20
        service.kill()
        service.start()
        told = remote.push([v for v, _ in data[20:22]], [t for _, t in data[20:22]], weights=[1, 2], ids=["a", "b"])
        assert (told["first"], told["stage"]) == (21, 22), told
        assert remote.predict([[1, 2, 3]], ids=["q"], explain=2)[0]["explanation"]["contributions"]
        assert remote.label({"q": 1})["last"] == 23
        assert remote.forget("a")["removed"] == "a" and remote.forget(3)["removed"] == 3
        assert remote.report()["points"] == 21
        with open(os.path.join(folder, "m"), "wb") as file:
            file.write(remote.model())
        subprocess.run([keepfit, "inspect", os.path.join(folder, "m")], check=True, capture_output=True, timeout=60)
        for wrong, status in ((lambda: remote.push([[1]], [5]), 422), (lambda: remote.forget("nobody"), 404)):
            try:
                wrong()
                raise AssertionError("it was taken")
            except module.RemoteError as reason:
                assert reason.status == status and str(reason), reason
        service.kill()
        impatient = module.Remote("http://127.0.0.1:%d" % service.port, retries=0)
        try:
            impatient.report()
            raise AssertionError("nobody was there")
        except module.RemoteError as reason:
            assert reason.status is None


def case_a_prediction_is_explained(keepfit, folder):
    for loss, targets in (("logistic", ["no", "yes"]), ("softmax", ["a", "b", "c"]), ("squared", [1.5, -2, 0.25])):
        place = os.path.join(folder, loss)
        os.mkdir(place)
        with Service(keepfit, place, "--loss", loss, "--intercept") as service:
            points = [{"features": dict(zip(NAMES, v)), "target": targets[k % len(targets)]} for k, (v, _) in enumerate(rows(60))]
            assert service.push(points)[0] == 200
            row = {"features": points[0]["features"]}
            for most in (1, 2, 3, 10):
                status, _, answer = service.ask("POST", "/v1/predict?explain=%d" % most, row)
                assert status == 200, answer
                told = answer["explanation"]
                sizes = [abs(one["contribution"]) for one in told["contributions"]]
                assert sizes == sorted(sizes, reverse=True) and len(sizes) <= min(most, 3), told
                total = told["intercept"] + told["rest"] + sum(one["contribution"] for one in told["contributions"])
                scores = answer["scores"]
                mean = sum(scores.values()) / len(scores) if loss == "softmax" else 0
                wanted = scores[told["class"]] - mean if told["class"] else scores["value"]
                assert abs(total - wanted) < 1e-9 * (1 + abs(wanted)), (total, wanted)
            assert service.ask("POST", "/v1/predict?explain=x", row)[0] == 400


def case_the_page_and_what_it_reads(keepfit, folder):
    """The fields that the page's contract names are there."""
    contract = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "service", "page", "events.md"),
                    encoding="utf-8").read()
    table = contract.split("## The object `stage`")[1].split("`drift`:")[0]
    fields = [name for line in table.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert len(fields) > 25, fields
    with Service(keepfit, folder, *LOGISTIC) as service:
        status, headers, page = service.ask("GET", "/")
        assert status == 200 and headers["Content-Type"].startswith("text/html") and len(page) > 20000
        assert "script-src 'sha256-" in headers["Content-Security-Policy"] and headers["Referrer-Policy"] == "no-referrer"
        service.push(as_points(rows(50)))
        service.push("nonsense")
        connection = service.connect()
        connection.request("GET", "/v1/events")
        answer, told = connection.getresponse(), {}
        while "bad_requests" not in told or told["stage"] < 50 or not told["bad_requests"]:
            line = answer.readline()
            if line.startswith(b"data: "):
                told = json.loads(line[6:])
                missing = [name for name in fields if name not in told]
                assert not missing, missing
        connection.close()
        assert told["window"] == 49 and len(told["calibration"]) == 10 and 0 <= told["auc"] <= 1, told
        assert told["bad_requests"][0]["request"] == "POST /v1/points" and told["bad_requests"][0]["status"] == 400
        report = service.ask("GET", "/v1/report")[2]
        assert report["history"] and report["history"][-1]["stage"] == 50 and report["loss"] == "logistic", report


def case_push_and_ask(keepfit, folder):
    """The command's own clients, for each format, over a service that is killed meanwhile."""
    data = rows(300)
    texts = {"p.svm": as_libsvm(data), "p.csv": as_csv(data), "p.jsonl": lines(dict(zip(NAMES, v), target=t) for v, t in data),
             "bare.csv": "".join("%s,%d\n" % (",".join(map(repr, v)), t) for v, t in data)}
    for name, text in texts.items():
        place = os.path.join(folder, "of-" + name)
        os.mkdir(place)
        path = os.path.join(place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with Service(keepfit, place, *LOGISTIC) as service:
            url = "http://127.0.0.1:%d" % service.port
            push = subprocess.Popen([keepfit, "push", "--batch", "7", url, path], stderr=subprocess.PIPE, text=True)
            time.sleep(0.05)
            service.kill()
            service.start()
            message = push.communicate(timeout=60)[1]
            assert push.returncode == 0 and message == "300 points sent\n", message
            model = service.ask("GET", "/v1/model")[2]
            assert model == trained(keepfit, place, name, text, *LOGISTIC), name
            with open(os.path.join(place, "m"), "wb") as file:
                file.write(model)
            asked = subprocess.run([keepfit, "ask", "--batch", "50", url, path], capture_output=True, text=True, timeout=60)
            told = subprocess.run([keepfit, "predict", "--quiet", os.path.join(place, "m"), path], capture_output=True, text=True,
                                  check=True, timeout=60)
            assert asked.returncode == 0, asked.stderr
            assert [float(w) for w in asked.stdout.split()] == [float(w) for w in told.stdout.split()], name
            if name == "p.svm":
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text + "1 1:x\n")
                push = subprocess.run([keepfit, "push", "--batch", "7", url, path], capture_output=True, text=True, timeout=60)
                assert push.returncode == 3 and "line 295" in push.stderr and "line 7" in push.stderr, push.stderr
            assert service.stop() == 0
    gone = subprocess.run([keepfit, "push", "--retries", "1", url, path], capture_output=True, text=True, timeout=60)
    assert gone.returncode == 1 and "did not get through" in gone.stderr, gone
    assert subprocess.run([keepfit, "push", "https://x", path], capture_output=True, timeout=60).returncode == 2
