// The former place of in_parallel, for jobs/submit.cpp. The files of an attempt are in core/record/attempt_files.hpp.
#pragma once

#include "jobs/in_parallel.hpp"
