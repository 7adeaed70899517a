"""A program of the user for the section energy of scripts/check-gpu: products of matrices for some seconds, reported to dtctl.

It asks NVML's energy counter itself at the begin and the end of its measured steps, and every tenth of a second between, and leaves
what it read in DTCTL_KEEP_FOLDER/counter.json: {"begin_unix_s", "end_unix_s", "samples": [[unix_s, joules], ...]}.
"""
import ctypes
import json
import os
import sys
import threading
import time

import dtctl_report as report

try:
    import torch
except ImportError:
    torch = None


class Counter:
    """The energy counter of the first visible GPU; without one it reads nothing."""

    def __init__(self):
        self.card = None
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            card = ctypes.c_void_p()
            first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
            if self.nvml.nvmlInit_v2() == 0 and self.nvml.nvmlDeviceGetHandleByIndex_v2(int(first) if first.isdigit() else 0, ctypes.byref(card)) == 0:
                self.card = card
        except OSError:
            pass

    def joules(self):
        value = ctypes.c_ulonglong()
        if self.card is None or self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.card, ctypes.byref(value)) != 0:
            return None
        return 1e-3 * value.value


def main():
    seconds, idle_share = float(sys.argv[1]), float(sys.argv[2])
    is_gpu = torch is not None and torch.cuda.is_available()
    side = 8192 if is_gpu else 256
    a = b = None
    if torch is not None:
        device, kind = ("cuda", torch.bfloat16) if is_gpu else ("cpu", torch.float32)
        a, b = (torch.randn(side, side, device=device, dtype=kind) for _ in range(2))
    counter, samples, done = Counter(), [], threading.Event()

    def sample():
        while not done.is_set():
            joules = counter.joules()
            if joules is not None:
                samples.append([time.time(), joules])
            done.wait(0.1)

    thread = threading.Thread(target=sample)
    thread.start()
    report.begin()
    begin, measured, steps = time.time(), None, 0
    while time.time() - begin < seconds:
        step_begin = time.perf_counter()
        if a is None:
            time.sleep(0.05)
        else:
            for _ in range(20 if is_gpu else 2):
                a @ b
            if is_gpu:
                torch.cuda.synchronize()
        time.sleep((time.perf_counter() - step_begin) * idle_share / (1 - idle_share))
        steps += 1
        report.step(samples=1)
        if steps == 5:
            measured = time.time()
    report.result()
    done.set()
    thread.join()
    with open(os.path.join(os.environ["DTCTL_KEEP_FOLDER"], "counter.json"), "w") as file:
        json.dump({"begin_unix_s": measured, "end_unix_s": time.time(), "steps": steps, "samples": samples}, file)


main()
