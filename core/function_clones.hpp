// DT_CLONES: a function once for each instruction set, chosen by the loader. The build itself is for every x86-64.
#pragma once

// Levels of the psABI, not processors: "arch=haswell" or "arch=skylake-avx512" would be taken on exactly that processor alone.
// Sanitizers cannot have their checks run by the loader yet.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define DT_CLONES
#endif
