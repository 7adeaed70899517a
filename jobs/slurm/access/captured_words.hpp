// What libslurm writes to standard error during a call, which tells more than its error number.
#pragma once

#include <string>

namespace dt::jobs::slurm {

// Takes standard error of this process during the object's lifetime.
class CapturedWords {
 public:
  CapturedWords();
  CapturedWords(const CapturedWords&) = delete;
  CapturedWords& operator=(const CapturedWords&) = delete;
  ~CapturedWords();
  // The last line, without the prefix "<program>: error: ".
  std::string last() const;

 private:
  int file_, before_;
};

} // namespace dt::jobs::slurm
