"""A tracking server with the part of MLflow's REST API 2.0 that dtctl uses, as strict as MLflow's own.

    mlflow_server.py STATE [--token TOKEN] [--user NAME --password TEXT]
                     [--answer PATH=STATUS] [--times N] [--after N] [--store-first]

Prints its port in a line and then serves until it is ended. Writes what it holds, and the requests that it got, to the file STATE
after every request. --answer: requests to PATH, such as runs/log-batch, are answered with STATUS (0: without an end); of
runs/log-batch, only requests with metrics. --times: only so many of them; --after: so many are answered well before;
--store-first: they are carried out all the same, as if only the answer got lost.
"""
import argparse
import base64
import http.server
import json
import math
import os
import re
import sys
import urllib.parse

NAME = re.compile(r"^[/\w.\- ]*$")
STATUSES = {"RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"}
PREFIX = "/api/2.0/mlflow/"


class Refused(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


def invalid(message):
    return Refused(400, "INVALID_PARAMETER_VALUE", message)


def missing(message):
    return Refused(404, "RESOURCE_DOES_NOT_EXIST", message)


def required(body, name, kind):
    value = body.get(name)
    if value is None or value == "" or not isinstance(value, kind) or isinstance(value, bool):
        raise invalid(f"Missing value for required parameter '{name}'.")
    return value


def check_known(body, names):
    for name in body:
        if name not in names:
            raise invalid(f"unknown field {name}")


def check_name(name):
    norm = os.path.normpath(name)
    if not NAME.match(name) or norm != name or norm == "." or norm.startswith(("..", "/")) or len(name) > 250:
        raise invalid(f"Invalid name: '{name}'")


def check_pairs(pairs, most, longest, what):
    if not isinstance(pairs, list) or len(pairs) > most:
        raise invalid(f"A batch logging request can contain at most {most} {what}. Got {len(pairs)} {what}.")
    for pair in pairs:
        check_known(pair, {"key", "value"})
        check_name(required(pair, "key", str))
        if not isinstance(pair.get("value"), str) or len(pair["value"]) > longest:
            raise invalid(f"{what} {pair['key']}: the value is missing or longer than {longest}")
    return pairs


def check_metric(metric):
    check_known(metric, {"key", "value", "timestamp", "step"})
    check_name(required(metric, "key", str))
    value, timestamp, step = metric.get("value"), metric.get("timestamp"), metric.get("step")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise invalid(f"Got invalid value {value} for metric '{metric['key']}'")
    if not isinstance(timestamp, int) or timestamp < 0 or not isinstance(step, int):
        raise invalid(f"Got invalid timestamp {timestamp} or step {step} for metric '{metric['key']}'")


class Tracker:
    def __init__(self):
        self.experiments, self.runs = {}, {}

    def run(self, body):
        run_id = required(body, "run_id", str)
        if run_id not in self.runs:
            raise missing(f"Run with id={run_id} not found")
        return self.runs[run_id]

    def get_by_name(self, query):
        name = required(query, "experiment_name", str)
        for experiment in self.experiments.values():
            if experiment["name"] == name:
                return {"experiment": experiment}
        raise missing(f"Could not find experiment with name '{name}'")

    def create_experiment(self, body):
        check_known(body, {"name", "artifact_location", "tags"})
        name = required(body, "name", str)
        if len(name) > 500:
            raise invalid("Experiment name exceeds the maximum length of 500 characters")
        if any(e["name"] == name for e in self.experiments.values()):
            raise Refused(400, "RESOURCE_ALREADY_EXISTS", f"Experiment '{name}' already exists.")
        number = str(len(self.experiments) + 1)
        self.experiments[number] = {"experiment_id": number, "name": name, "lifecycle_stage": "active"}
        return {"experiment_id": number}

    def search(self, body):
        check_known(body, {"experiment_ids", "filter", "run_view_type", "max_results", "order_by", "page_token"})
        ids = required(body, "experiment_ids", list)
        match = re.fullmatch(r"tags\.`([^`]+)` = '([^']*)'", body.get("filter", ""))
        if not match:
            raise invalid(f"Invalid filter string: {body.get('filter')}")
        if not 0 < body.get("max_results", 1000) <= 50000:
            raise invalid("max_results")
        found = [r for r in self.runs.values()
                 if r["experiment_id"] in ids and r["tags"].get(match[1]) == match[2]]
        found.sort(key=lambda run: -run["start_time"])
        return {"runs": [shown(run) for run in found]} if found else {}

    def create_run(self, body):
        check_known(body, {"experiment_id", "user_id", "run_name", "start_time", "tags"})
        if required(body, "experiment_id", str) not in self.experiments:
            raise missing(f"No Experiment with id={body['experiment_id']} exists")
        tags = check_pairs(body.get("tags", []), 1000, 5000, "tags")
        run_id = f"{len(self.runs) + 1:032x}"
        self.runs[run_id] = {"run_id": run_id, "experiment_id": body["experiment_id"], "name": body.get("run_name", ""),
                             "start_time": body.get("start_time", 0), "status": "RUNNING", "end_time": None,
                             "tags": {t["key"]: t["value"] for t in tags}, "params": {}, "metrics": []}
        return {"run": shown(self.runs[run_id])}

    def log_batch(self, body):
        check_known(body, {"run_id", "metrics", "params", "tags"})
        run = self.run(body)
        metrics = body.get("metrics", [])
        params = check_pairs(body.get("params", []), 100, 6000, "params")
        tags = check_pairs(body.get("tags", []), 100, 5000, "tags")
        if len(metrics) > 1000 or len(metrics) + len(params) + len(tags) > 1000:
            raise invalid("A batch logging request can contain at most 1000 metrics, params, and tags.")
        for metric in metrics:
            check_metric(metric)
        for param in params:
            if run["params"].get(param["key"], param["value"]) != param["value"]:
                raise invalid(f"Changing param values is not allowed. Param with key='{param['key']}' was already logged")
        run["params"].update({p["key"]: p["value"] for p in params})
        run["metrics"] += metrics
        run["tags"].update({t["key"]: t["value"] for t in tags})
        return {}

    def update(self, body):
        check_known(body, {"run_id", "status", "end_time", "run_name"})
        run = self.run(body)
        if body.get("status", "RUNNING") not in STATUSES or not isinstance(body.get("end_time", 0), int):
            raise invalid(f"Invalid status {body.get('status')} or end_time {body.get('end_time')}")
        run.update({name: body[name] for name in ("status", "end_time") if name in body})
        return {"run_info": shown(run)["info"]}


def pairs(texts):
    return [{"key": key, "value": value} for key, value in texts.items()]


def shown(run):
    info = {name: run[name] for name in ("run_id", "experiment_id", "status", "start_time")}
    return {"info": info, "data": {"tags": pairs(run["tags"]), "params": pairs(run["params"])}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def authorized(self):
        options, given = self.server.options, self.headers.get("Authorization")
        wanted = None
        if options.token:
            wanted = "Bearer " + options.token
        if options.user:
            wanted = "Basic " + base64.b64encode(f"{options.user}:{options.password}".encode()).decode()
        return wanted is None or given == wanted

    def planned_status(self, path, body):
        options = self.server.options
        if not options.answer or options.answer.partition("=")[0] != path:
            return None
        if path == "runs/log-batch" and not body.get("metrics"):
            return None
        self.server.hits += 1
        if not options.after < self.server.hits <= options.after + options.times:
            return None
        return int(options.answer.partition("=")[2])

    def outcome(self, method, path, text):
        tracker = self.server.tracker
        routes = {("GET", "experiments/get-by-name"): tracker.get_by_name,
                  ("POST", "experiments/create"): tracker.create_experiment,
                  ("POST", "runs/search"): tracker.search, ("POST", "runs/create"): tracker.create_run,
                  ("POST", "runs/log-batch"): tracker.log_batch, ("POST", "runs/update"): tracker.update}
        if (method, path) not in routes:
            return 404, "<html>not found</html>"
        if len(text) > 1e6:
            raise invalid("Batched logging API requests must be at most 1000000 bytes")
        if method == "POST" and self.headers.get("Content-Type") != "application/json":
            raise invalid("Bad Request. Content-Type must be application/json.")
        query = urllib.parse.urlsplit(self.path).query
        body = dict(urllib.parse.parse_qsl(query, strict_parsing=True)) if method == "GET" else json.loads(text)
        status = self.planned_status(path, body)
        if status is None or self.server.options.store_first:
            answer = routes[method, path](body)
        if status is not None:
            raise Refused(status, "INTERNAL_ERROR", "the test asked for this error \x1b[31m")
        return 200, json.dumps(answer)

    def serve(self, method):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urllib.parse.urlsplit(self.path).path
        path = path[len(PREFIX):] if path.startswith(PREFIX) else path
        try:
            if not self.authorized():
                raise Refused(401, "", "You are not authenticated.")
            status, answer = self.outcome(method, path, text)
        except Refused as refused:
            status, answer = refused.status, json.dumps({"error_code": refused.code, "message": str(refused)})
        self.server.requests.append({"method": method, "path": path, "status": status})
        self.server.write_state()
        if status == 0:
            self.answer_without_end()
            return
        data = answer.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer_without_end(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b" " * 1048576)
        except OSError:  # the client has had enough
            pass

    def do_GET(self):
        self.serve("GET")

    def do_POST(self):
        self.serve("POST")


class Server(http.server.HTTPServer):
    def __init__(self, options):
        super().__init__(("127.0.0.1", 0), Handler)
        self.options, self.tracker, self.requests, self.hits = options, Tracker(), [], 0
        if os.path.exists(options.state):
            with open(options.state) as file:
                kept = json.load(file)
            self.tracker.experiments, self.tracker.runs = kept["experiments"], kept["runs"]
        self.write_state()

    def write_state(self):
        state = {"experiments": self.tracker.experiments, "runs": self.tracker.runs, "requests": self.requests}
        with open(self.options.state + ".new", "w") as file:
            json.dump(state, file)
        os.replace(self.options.state + ".new", self.options.state)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("state")
    for name in ("--token", "--user", "--password", "--answer"):
        parser.add_argument(name)
    parser.add_argument("--times", type=int, default=1000000)
    parser.add_argument("--after", type=int, default=0)
    parser.add_argument("--store-first", action="store_true")
    return parser.parse_args()


server = Server(parse())
print(server.server_address[1], flush=True)
sys.stdout.close()
server.serve_forever()
