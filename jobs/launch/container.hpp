// The container in which the ranks of a program of the user run (resources.container).
//
//   apptainer, podman   dtjob starts each rank as always, and becomes the runtime in place of the program: it stays outside
//   pyxis               srun starts the rank's process in the container, so that dtjob runs there and must be mounted
//
// The home of dtctl, in which lie the run's folder, the copy of its files and most data sets, is mounted at the same path.
#pragma once

#include "core/spec/run_spec.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt::jobs {

// Absolute paths that the container must have beside resources.container.mounts. Empty ones are left out.
struct ContainerPlaces {
  std::string home; // of dtctl
  std::string data; // the run's data set, which may lie elsewhere
  std::string work; // folder in which the program runs
};

// The words in front of the program's command; none without a container and for pyxis. podman passes variables on by name, so
// that no value stands in a command line.
std::vector<std::string> container_words(const RunSpec& spec, const ContainerPlaces& places);

// The options of srun for pyxis; none otherwise. `agent`: path of dtjob.
std::vector<std::string> pyxis_options(const RunSpec& spec, const ContainerPlaces& places, const std::string& agent);

// Whether srun makes the container before dtjob starts in it, so that the image is not seen there.
bool is_made_by_srun(const RunSpec& spec);

// "container_image", "container_runtime" and "container_digest" of the run; none without a container. The digest tells one
// content of an image from another under the same name: it is that in the name or that podman knows ("sha256:…"), or of a file a
// hash of its size, its first and its last MiB ("file-…"), in which the formats of images have times and identifiers; "unknown: "
// and the reason, if there is none. The function calls `podman image inspect`, which may take a second.
std::map<std::string, std::string> container_facts(const RunSpec& spec);

} // namespace dt::jobs
