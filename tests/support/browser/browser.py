#!/usr/bin/env python3
"""Opens pages in headless Chromium and reports what a reader would see.

  browser.py look URL [--width N] [--dark] [--print] [--no-script] [--run SCRIPT]... [--shot FILE] [--section ID]
                  [--crop HEIGHT] [--wait EXPRESSION] [--loaded FILE]

Prints one JSON object: `console` (messages and errors), `requests` (addresses that were asked for, but for the page itself),
`overlaps` (texts of charts or of the page that cover each other), `wide` (true if the page has to be scrolled sideways), `values`
(what each --run expression gave). --loaded makes this file when the page is loaded; --wait then waits until the expression is
true. Chromium is steered through its debugging pipe, so no port is opened. Needs Python's standard library and the package chromium.
"""
import argparse
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

OVERLAPS = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "overlaps.js")).read()


class Browser:
    """A headless Chromium with one page. Commands and events are JSON texts that end in a zero byte (file descriptors 3 and 4)."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="dtctl-browser-")
        to_browser, self.send_end = os.pipe()
        self.receive_end, from_browser = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "--disable-background-networking",
                 "--disable-component-update", "--hide-scrollbars", "--force-device-scale-factor=1", "--disable-extensions", "about:blank"]

        def descriptors():  # Chromium reads 3 and writes 4
            high = [os.dup2(to_browser, 100), os.dup2(from_browser, 101)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(["chromium"] + flags, preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.receive_end, 1 << 16)
            if not piece:
                raise RuntimeError("chromium has ended; start it by hand to see why: chromium --headless=new --no-sandbox about:blank")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, parameters=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.send_end, text):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        while not any(known.get("method") == event for known in self.events):
            self.events.append(self.receive())

    def value(self, expression):
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(expression[:200] + ": " + details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def emulate(self, width, height, dark, is_print, script):
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.call("Emulation.setEmulatedMedia", {"media": "print" if is_print else "screen", "features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.call("Emulation.setScriptExecutionDisabled", {"value": not script})

    def open(self, url):
        self.events = []
        self.call("Page.navigate", {"url": url})
        self.wait_for("Page.loadEventFired")

    def settle(self):
        """Waits until the page was painted twice after what has been done to it."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def shot(self, file, section, crop):
        clip = self.value("""(() => { const place = %s ? document.getElementById(%s).closest('section') : document.documentElement;
            const box = place.getBoundingClientRect();
            return { x: 0, y: box.top + scrollY, width: innerWidth, height: Math.min(box.height, %d), scale: 1 }; })()"""
                          % (json.dumps(section), json.dumps(section), crop))
        data = self.call("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))


def text_of(event):
    parameters = event["params"]
    if event["method"] == "Runtime.consoleAPICalled":
        return parameters["type"] + ": " + " ".join(str(one.get("value", one.get("description"))) for one in parameters["args"])
    if event["method"] == "Runtime.exceptionThrown":
        details = parameters["exceptionDetails"]
        return "exception: " + details.get("exception", {}).get("description", details["text"])
    return parameters["entry"]["level"] + ": " + parameters["entry"]["text"]


def look(options):
    browser = Browser()
    try:
        browser.emulate(options.width, options.height, options.dark, options.print, not options.no_script)
        browser.open(options.url)
        if options.loaded:
            open(options.loaded, "w").close()
        if not options.no_script:
            while options.wait and not browser.value(options.wait):
                browser.settle()
            browser.settle()
        report = {"values": [browser.value(expression) for expression in options.run]}
        if options.no_script:
            report["text"] = browser.call("Runtime.evaluate", {"expression": "document.body.innerText"})["result"].get("value")
        if not options.no_script:
            browser.settle()
        report["overlaps"] = browser.value(OVERLAPS)
        report["wide"] = browser.value("document.documentElement.scrollWidth > innerWidth")
        if options.shot:
            browser.shot(options.shot, options.section, options.crop)
        console = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        report["console"] = [text_of(event) for event in browser.events if event.get("method") in console]
        asked = [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
        report["requests"] = [url for url in asked if url != options.url and not url.startswith("blob:")]
        return report
    finally:
        browser.close()


def main():
    def give_up(number, frame):
        raise TimeoutError("the page has not answered for 150 s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(150)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["look"])
    parser.add_argument("url")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--no-script", action="store_true")
    parser.add_argument("--run", action="append", default=[])
    parser.add_argument("--wait")
    parser.add_argument("--loaded")
    parser.add_argument("--shot")
    parser.add_argument("--section")
    parser.add_argument("--crop", type=int, default=16000)
    print(json.dumps(look(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
