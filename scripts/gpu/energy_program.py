"""The program of the section energy of scripts/check-gpu: products of matrices, reported to dtctl.

    energy_program.py SECONDS IDLE_SHARE        of each step
"""
import sys
import time

import dtctl_report as report

try:
    import torch
except ImportError:
    torch = None

seconds, idle_share = float(sys.argv[1]), float(sys.argv[2])
is_gpu = torch is not None and torch.cuda.is_available()
if torch is not None:
    side, device, kind = (8192, "cuda", torch.bfloat16) if is_gpu else (256, "cpu", torch.float32)
    a, b = (torch.randn(side, side, device=device, dtype=kind) for _ in range(2))


def step():
    if torch is None:
        time.sleep(0.05)
        return
    for _ in range(20 if is_gpu else 2):
        a @ b
    if is_gpu:
        torch.cuda.synchronize()


report.begin()
end = time.perf_counter() + seconds
while (begin := time.perf_counter()) < end:
    step()
    time.sleep((time.perf_counter() - begin) * idle_share / (1 - idle_share))
    report.step(samples=1)
report.result()
