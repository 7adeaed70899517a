"""Reports and live pages: how long they take, how large they are.

About five minutes.
"""
import concurrent.futures
import http.client
import os
import statistics
import subprocess
import time

from measuring import columns, median_s, print_head, row, seconds_of

PROGRAMS = ["dtctl", "bench_store"]


def make_home(place, runs, rates, repeats):
    place.use_home(f"home-{runs}-{rates}")
    place.home.mkdir(mode=0o700)
    place.run("bench_store", "--make", place.home / "results.db", "--runs", runs, "--rates", rates, "--repeats", repeats, "--ranks")


class Server:
    def __init__(self, place):
        self.process = subprocess.Popen([place.program("dtctl"), "serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=place.environment, text=True)
        address = self.process.stdout.readline().strip()
        self.host, self.path = address[len("http://"):].split("/", 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, version=None):
        """Asks for the first page, of which this version is known. Gives the version now."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request("GET", "/" + self.path, headers={"If-None-Match": version} if version else {})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.getheader("ETag")

    def processor_s(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def share_while(self, work):
        """The share of a core that it takes meanwhile, and what the work gives."""
        used, begin = self.processor_s(), time.perf_counter()
        given = work()
        return (self.processor_s() - used) / (time.perf_counter() - begin), given

    def poll(self, clients, seconds):
        """Clients that ask every two seconds, as the pages do. Gives the times of all answers."""
        end = time.monotonic() + seconds

        def client(_):
            taken, version = [], None
            while time.monotonic() < end:
                begin = time.monotonic()
                version = self.get(version)
                taken.append(time.monotonic() - begin)
                time.sleep(2)
            return taken

        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            return sum(pool.map(client, range(clients)), [])


def first_page_s(place):
    with Server(place) as server:
        return seconds_of(server.get)


def measure(asked, place):
    print_head()
    columns("what", "measured", "aim")
    file = place.folder / "report.html"
    for runs, rates, repeats, aim in ((200, 8, 5, "< 1 s"), (10000, 40, 50, "< 5 s"), (10000, 2000, 1, "< 5 s")):
        make_home(place, runs, rates, repeats)
        seconds = median_s(5, lambda: place.dtctl("report", "last", "-o", file))
        row(f"report of {runs:,} runs with their ranks, {5 * rates:,} points (median of 5)", f"{seconds:.2f} s, {file.stat().st_size / 1e6:.2f} MB",
            aim + ", at most 2 MB")
    make_home(place, 100000, 10, 5)
    first_s = statistics.median(first_page_s(place) for _ in range(5))
    row("serve: first page after the start, 100,000 runs (median of 5)", f"{1e3 * first_s:.0f} ms", "< 100 ms")
    with Server(place) as server:
        server.get()
        row("serve without clients, 20 s", f"{server.share_while(lambda: time.sleep(20))[0]:.2%} of a core", "< 1 %")
        share, taken = server.share_while(lambda: server.poll(50, 20))
        row("serve with 50 clients on the first page, 20 s", f"{share:.2%} of a core; answers: median {1e3 * statistics.median(taken):.1f} ms, "
            f"longest {1e3 * max(taken):.0f} ms", "")
