#include "cli/app.hpp"

int main(int argc, char** argv) { return dt::cli::run({argv + 1, argv + argc}); }
