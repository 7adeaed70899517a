"""NVML's answers on this card: which counters there are, what one question costs, and whether the energy counter agrees with the power."""
import threading
import time

import torch

from common import DEVICE, IS_GPU, attempt, row


def questions(n, card):
    import ctypes

    fields = [n.NVML_FI_DEV_POWER_INSTANT, n.NVML_FI_DEV_POWER_AVERAGE] if hasattr(n, "NVML_FI_DEV_POWER_INSTANT") else []
    for name, ask in {"TotalEnergyConsumption (mJ)": lambda: n.nvmlDeviceGetTotalEnergyConsumption(card),
                      "PowerUsage (mW)": lambda: n.nvmlDeviceGetPowerUsage(card),
                      "EnforcedPowerLimit (mW)": lambda: n.nvmlDeviceGetEnforcedPowerLimit(card),
                      "FieldValues power instant, average (mW)": lambda: [f.value.uiVal for f in n.nvmlDeviceGetFieldValues(card, fields)],
                      "UtilizationRates": lambda: (lambda u: f"{u.gpu} {u.memory}")(n.nvmlDeviceGetUtilizationRates(card)),
                      "MemoryInfo used": lambda: n.nvmlDeviceGetMemoryInfo(card).used,
                      "ClockInfo SM": lambda: n.nvmlDeviceGetClockInfo(card, n.NVML_CLOCK_SM),
                      "CurrentClocksEventReasons": lambda: hex(n.nvmlDeviceGetCurrentClocksEventReasons(card)),
                      "CurrentClocksThrottleReasons": lambda: hex(n.nvmlDeviceGetCurrentClocksThrottleReasons(card)),
                      "Temperature": lambda: n.nvmlDeviceGetTemperature(card, n.NVML_TEMPERATURE_GPU),
                      "PcieThroughput RX (KB/s)": lambda: n.nvmlDeviceGetPcieThroughput(card, n.NVML_PCIE_UTIL_RX_BYTES),
                      "CurrPcieLinkGeneration, Width": lambda: f"{n.nvmlDeviceGetCurrPcieLinkGeneration(card)} x{n.nvmlDeviceGetCurrPcieLinkWidth(card)}",
                      "ComputeRunningProcesses": lambda: [(p.pid, p.usedGpuMemory) for p in n.nvmlDeviceGetComputeRunningProcesses(card)],
                      "ProcessUtilization": lambda: [(p.pid, p.smUtil) for p in n.nvmlDeviceGetProcessUtilization(card, 0)],
                      "AccountingMode": lambda: n.nvmlDeviceGetAccountingMode(card), "MigMode": lambda: n.nvmlDeviceGetMigMode(card),
                      "NvLinkState 0": lambda: n.nvmlDeviceGetNvLinkState(card, 0), "UUID": lambda: n.nvmlDeviceGetUUID(card)[:8] + "...",
                      "GpmQueryDeviceSupport": lambda: n.nvmlGpmQueryDeviceSupport(card).isSupportedDevice,
                      "GpmQueryIfStreamingEnabled": lambda: n.nvmlGpmQueryIfStreamingEnabled(card)}.items():

        def one(name=name, ask=ask):
            answer = ask()
            begin = time.perf_counter()
            for _ in range(10):
                ask()
            row(f"NVML {name}", str(answer)[:120], "", f"{1e5 * (time.perf_counter() - begin):.0f} us a question")

        attempt(f"NVML {name}", one)


def load(seconds):
    a, b = (torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(20):
            a @ b
        torch.cuda.synchronize()


def energy(n, card):
    changes, powers, done = [], [], threading.Event()

    def sample():
        last = None
        while not done.is_set():
            now, joule = time.perf_counter(), n.nvmlDeviceGetTotalEnergyConsumption(card)
            if joule != last:
                changes.append((now, joule))
                last = joule
            powers.append((now, n.nvmlDeviceGetPowerUsage(card)))
            time.sleep(0.005)

    thread = threading.Thread(target=sample)
    thread.start()
    load(4)
    done.set()
    thread.join()
    joules = 1e-3 * (changes[-1][1] - changes[0][1])
    watts = sum(0.5e-3 * (a[1] + b[1]) * (b[0] - a[0]) for a, b in zip(powers, powers[1:]) if b[0] <= changes[-1][0] and a[0] >= changes[0][0])
    gaps = [b[0] - a[0] for a, b in zip(changes, changes[1:])]
    row("4 s of products: energy counter, integrated power", f"{joules:.1f}, {watts:.1f}", "J",
        f"counter moves every {1e3 * sorted(gaps)[len(gaps) // 2]:.0f} ms ({len(changes)} times)")


def gpm(n, card):
    first, second = n.nvmlGpmSampleAlloc(), n.nvmlGpmSampleAlloc()
    begin = time.perf_counter()
    n.nvmlGpmSampleGet(card, first)
    cost = time.perf_counter() - begin
    load(1)
    n.nvmlGpmSampleGet(card, second)
    wanted = {"GRAPHICS_UTIL": 1, "SM_UTIL": 2, "SM_OCCUPANCY": 3, "INTEGER": 4, "ANY_TENSOR": 5, "HMMA_TENSOR": 7, "DRAM_BW_UTIL": 10, "FP32": 13,
              "PCIE_TX": 20, "PCIE_RX": 21}
    get = n.c_nvmlGpmMetricsGet_t()
    get.version, get.numMetrics, get.sample1, get.sample2 = 1, len(wanted), first, second
    for i, number in enumerate(wanted.values()):
        get.metrics[i].metricId = number
    n.nvmlGpmMetricsGet(get)
    said = [f"{name} {each.value:.1f}" + (f" ({each.nvmlReturn})" if each.nvmlReturn else "") for name, each in zip(wanted, get.metrics)]
    row("GPM over 1 s of bf16 products", ", ".join(said), "%", f"a sample takes {1e6 * cost:.0f} us")


def main():
    import pynvml as n

    n.nvmlInit()
    card = n.nvmlDeviceGetHandleByIndex(0)
    row("card, driver, NVML", f"{n.nvmlDeviceGetName(card)}, {n.nvmlSystemGetDriverVersion()}, {n.nvmlSystemGetNVMLVersion()}")
    questions(n, card)
    attempt("energy", lambda: energy(n, card))
    attempt("GPM", lambda: gpm(n, card))
    import ctypes.util

    row("libnvidia-ml.so.1 by its plain name", bool(ctypes.CDLL("libnvidia-ml.so.1")))


if IS_GPU:
    attempt("NVML", main)
else:
    row("NVML", "no GPU")
