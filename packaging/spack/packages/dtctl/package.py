# Spack's package of dtctl, in a repository of its own:
#
#   spack repo add packaging/spack
#   spack dev-build dtctl@0.1.0 +engine
#
# Tried: compiled as Python, and its directives executed and compared with CMakeLists.txt (tests/packaging/check_spack.py). Not tried:
# Spack itself, which could not be reached. Names of dependencies are those of Spack's own packages, from memory.
from spack.package import *


class Dtctl(CMakePackage):
    """Honest scaling studies of distributed training: from a YAML recipe through jobs on this machine or Slurm to verdicts on speed-up,
    efficiency and lost time."""

    homepage = "https://dtctl.example"
    # No release has been published: spack dev-build builds a clone.

    version("0.1.0")

    # Debian has it as a package (libjs-chart.js); its script becomes a part of dtctl.
    resource(
        name="chart.js",
        url="https://registry.npmjs.org/chart.js/-/chart.js-3.9.1.tgz",
        sha256="111e0751796f087a51e94dfed910ccfb1278fd30e584a6e48514dba9ae7e72c6",
        placement="chart.js",
    )

    variant("engine", default=True, description="Build the training engine, its benchmarks and, with simgrid, the simulator")
    variant("simgrid", default=False, when="+engine", description="Build the simulator")
    variant("slurm", default=True, description="Build the module that speaks to Slurm through its library")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")

    depends_on("yaml-cpp@0.7:")
    depends_on("fmt@9")
    depends_on("spdlog@1.10: +fmt_external")
    depends_on("cli11@2")
    depends_on("nlohmann-json@3.11:")
    depends_on("re2 +shared")
    depends_on("sqlite@3.35:")
    depends_on("civetweb")
    depends_on("xxhash")
    depends_on("boost")
    depends_on("slurm", when="+slurm")

    with when("+engine"):
        depends_on("openmpi@4:5")
        depends_on("onednn@2")
        depends_on("zlib-api")
        depends_on("jpeg")
        depends_on("libspng")
        depends_on("libwebp")
        depends_on("libarchive")
        depends_on("hdf5@1.10: ~mpi")
        depends_on("hwloc@2")
        depends_on("simgrid@3.32", when="+simgrid")

    conflicts("%gcc@:11", msg="dtctl needs C++20 of GCC 12 or newer")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("DTCTL_TESTS", False),
            self.define("DTCTL_CHART_JS", join_path(self.stage.source_path, "chart.js", "dist", "chart.min.js")),
            self.define_from_variant("DTCTL_ENGINE", "engine"),
            self.define_from_variant("DTCTL_SLURM", "slurm"),
        ]
