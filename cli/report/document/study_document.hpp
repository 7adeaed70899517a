// A study in a few paragraphs and tables, to be pasted into an issue, a wiki or a proposal for compute time.
#pragma once

#include "cli/output/document.hpp"
#include "cli/report/reported_study.hpp"

#include <string>

namespace dt::cli {

// A picture that lies beside the document; `file` is empty if there is none.
struct DocumentPicture {
  std::string file, caption;
};

// Adds the study: verdict, doubts, efficiency of each size, where the efficiency went, hardware and software, commands.
void add_study(MarkupDocument& document, const ReportedStudy& study, const DocumentPicture& efficiency);

} // namespace dt::cli
