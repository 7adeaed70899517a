// DT_CLONES: compiles a function once for each instruction set; the loader chooses the version for this processor. The rest of
// the build targets every x86-64.
#pragma once

// The targets are levels of the psABI, not processors: a clone for "arch=haswell" or "arch=skylake-avx512" would run only on
// exactly that processor. Clones are disabled under sanitizers, because the loader cannot run sanitized code yet when it chooses.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define DT_CLONES
#endif
