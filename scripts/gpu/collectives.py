"""Run by torchrun: what torch.distributed offers on one device: NCCL with one rank and two, Gloo's DDP beside our sums, the inspector."""
import os
import sys

import torch
import torch.distributed as dist

from common import DEVICE, IS_GPU, ResnetStep, in_turn_ms, ratio_row, row

backend = sys.argv[1]
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
try:
    dist.init_process_group(backend)
    tensor = torch.ones(1 << 20, device=DEVICE)
    dist.all_reduce(tensor)
    if rank == 0:
        row(f"{backend} with {size} ranks on one device", float(tensor[0]), "", f"NCCL {torch.cuda.nccl.version()}" if IS_GPU else "")
    batch = 128 // size if IS_GPU else 2
    plain, wrapped = ResnetStep(batch), ResnetStep(batch)
    wrapped.module = torch.nn.parallel.DistributedDataParallel(wrapped.module, gradient_as_bucket_view=True)
    rounds, steps, warm = (4, 8, 4) if IS_GPU else (2, 1, 1)
    times = in_turn_ms({"plain": plain, "ddp": wrapped}, warm, rounds, steps)
    if rank == 0:
        ratio_row(f"DistributedDataParallel over {backend}, {size} ranks of b{batch}", times, "ddp", "plain")
    dist.destroy_process_group()
except Exception as error:
    text = str(error).strip()
    if rank == 0:
        known = {"Duplicate GPU": "refused", "have NCCL built in": "not there"}
        value = next((word for words, word in known.items() if words in text), "failed")
        row(f"{backend} with {size} ranks on one device", value, "", text[-300:])
