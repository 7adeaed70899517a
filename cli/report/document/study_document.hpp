// A study in a few paragraphs and tables, to be pasted into an issue, a wiki or a proposal for compute time.
#pragma once

#include "cli/output/document.hpp"
#include "cli/report/reported_study.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// A picture that lies beside the document; `file` is empty if there is none.
struct DocumentPicture {
  std::string file, caption;
};
struct DocumentPictures {
  DocumentPicture efficiency;
  std::vector<DocumentPicture> tuning; // one for each key that the study tunes
};

// Adds the study: verdict, doubts, tuned values, efficiency of each size, where the efficiency went, hardware and software,
// commands.
void add_study(MarkupDocument& document, const ReportedStudy& study, const DocumentPictures& pictures);

} // namespace dt::cli
