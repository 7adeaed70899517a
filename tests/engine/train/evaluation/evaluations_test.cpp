// The scores that a run's evaluations leave: last, best, and the time to the target accuracy.
#include "engine/train/evaluation/evaluations.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::train;

TEST_CASE("scores hold loss and accuracy of the last evaluation, and the best accuracy of all")
{
  Scores scores;
  scores.add({.loss_sum = 20, .correct = 6, .samples = 8}, 0, 10, 1);
  CHECK(scores.loss == 2.5);
  CHECK(scores.accuracy == 0.75);
  CHECK(scores.best_accuracy == 0.75);
  scores.add({.loss_sum = 24, .correct = 4, .samples = 8}, 0, 20, 2);
  CHECK(scores.loss == 3);
  CHECK(scores.accuracy == 0.5);
  CHECK(scores.best_accuracy == 0.75);
}

TEST_CASE("an evaluation of no samples measures nothing and leaves the best accuracy")
{
  Scores scores;
  scores.add({}, 0.5, 10, 1);
  CHECK_FALSE(scores.loss);
  CHECK(std::isnan(scores.accuracy));
  CHECK(std::isnan(scores.best_accuracy));
  CHECK(std::isnan(scores.time_to_accuracy_s));
  scores.best_accuracy = 0.25; // of an earlier evaluation
  scores.add({}, 0.5, 20, 2);
  CHECK(scores.best_accuracy == 0.25);
}

TEST_CASE("the time to the target accuracy is that of the first evaluation that reaches it, and stays")
{
  Scores scores;
  scores.add({.loss_sum = 1, .correct = 5, .samples = 8}, 0.75, 100, 10);
  CHECK(std::isnan(scores.time_to_accuracy_s));
  scores.add({.loss_sum = 1, .correct = 6, .samples = 8}, 0.75, 200, 20);
  CHECK(scores.time_to_accuracy_s == 20);
  scores.add({.loss_sum = 1, .correct = 8, .samples = 8}, 0.75, 300, 30);
  CHECK(scores.time_to_accuracy_s == 20);
  CHECK(scores.steps_to_accuracy == 200);
}

TEST_CASE("without a target accuracy no evaluation reaches it")
{
  Scores scores;
  scores.add({.loss_sum = 0, .correct = 8, .samples = 8}, 0, 100, 10);
  CHECK(std::isnan(scores.time_to_accuracy_s));
}
