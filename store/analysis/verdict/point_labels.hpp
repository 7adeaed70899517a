// How people read the labels of a study's points: "easgd · 0.05" for "learning_rate=0.05 strategy=easgd period=4". Pure
// functions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dt::store {

// A key that the labels of a study differ in.
struct LabelKey {
  std::string key;         // "learning_rate"; empty: a mark without a key, such as "simulated"
  bool is_implied = false; // its values follow from those of another key
};

// Shown labels of the points that are looked at together. A shown label has the values of the keys that differ, words before
// numbers, without keys whose value follows from that of another key. One number stands alone beside words; several numbers, or
// numbers alone, stand after their keys: "sync-sgd · 0.1", "period 4". Two labels never look the same. Cheap to copy.
class PointLabels {
 public:
  PointLabels() = default;
  // `labels`: without the size, in the order of the study; repeated ones count once. `of_recipe`: the recipe's own labels, which
  // replace the others (StudyRecord::labels).
  explicit PointLabels(const std::vector<std::string>& labels, const std::map<std::string, std::string>& of_recipe = {});

  // The label as it is shown; an unknown one unchanged.
  std::string shown(const std::string& label) const;
  // The value of a key in a label; empty if the label lacks it.
  std::string value(const std::string& label, const std::string& key) const;
  // In the order of the sweep.
  const std::vector<LabelKey>& keys() const { return keys_; }
  bool has_own() const { return has_own_; } // the recipe gives labels

 private:
  std::vector<LabelKey> keys_;
  std::shared_ptr<const std::map<std::string, std::string>> shown_; // by label; shared by copies. Null: there are none
  bool has_own_ = false;
};

} // namespace dt::store
