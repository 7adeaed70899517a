// Which requests become one job of Slurm, and the texts that lead back from the job to them.
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/batch.hpp"
#include "jobs/slurm/job_builder.hpp"

#include <catch2/catch.hpp>

#include <csignal>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::slurm;

namespace {

JobRequest request(const std::string& key, std::int64_t nodes = 1)
{
  JobRequest made{key, {}, AttemptFolder("/home/runs/" + key, 1), {}};
  made.resources.nodes = nodes;
  made.resources.time_limit_s = 600;
  return made;
}

std::vector<JobRequest> requests(std::size_t count)
{
  std::vector<JobRequest> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(request("key" + std::to_string(i)));
  return all;
}

// Ids "0000000000000001", "…2", …
auto counted_ids()
{
  return [number = 0]() mutable {
    auto digits = std::to_string(++number);
    return std::string(16 - digits.size(), '0') + digits;
  };
}

std::vector<Batch> plan(std::span<const JobRequest> all, std::int64_t max_tasks = 1000)
{
  return plan_batches(all, max_tasks, counted_ids());
}

} // namespace

TEST_CASE("array indices are read from lists, ranges, steps and throttles, and those that cannot be read stand for nothing")
{
  using Tasks = std::vector<std::uint32_t>;
  CHECK(expand_array_tasks("3") == Tasks{3});
  CHECK(expand_array_tasks("0-3") == Tasks{0, 1, 2, 3});
  CHECK(expand_array_tasks("0-20:5%2") == Tasks{0, 5, 10, 15, 20});
  CHECK(expand_array_tasks("7,1-2,7%100") == Tasks{1, 2, 7});
  for (const auto* text : {"", "%4", "-", "x", "1-", "-3", "5-2", "1-9:0", "4294967295", "0-99999999999", "0x", "..."}) {
    INFO(text);
    CHECK(expand_array_tasks(text).empty());
  }
  CHECK(expand_array_tasks("1,2,...") == std::vector<std::uint32_t>{1, 2}); // cut by Slurm
}

TEST_CASE("array indices are written as the shortest list of ranges and read back alike")
{
  const std::vector<std::uint32_t> tasks{9, 0, 1, 2, 5, 7, 8, 2};
  CHECK(format_array_tasks(tasks) == "0-2,5,7-9");
  CHECK(format_array_tasks(std::vector<std::uint32_t>{}).empty());
  CHECK(expand_array_tasks(format_array_tasks(tasks)) == std::vector<std::uint32_t>{0, 1, 2, 5, 7, 8, 9});
}

TEST_CASE("runs of equal shape become one array in their order, a shape of its own a single job")
{
  auto all = requests(4);
  all[2].resources.nodes = 2;
  const auto batches = plan(all);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].kind == BatchKind::array);
  CHECK(batches[0].members == std::vector<std::size_t>{0, 1, 3});
  CHECK(batches[0].indices == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(batches[1].kind == BatchKind::single);
  CHECK(batches[1].members == std::vector<std::size_t>{2});
}

TEST_CASE("whatever Slurm is asked for sets two shapes apart")
{
  const std::vector<std::function<void(JobRequest&)>> changes{[](JobRequest& r) { r.resources.nodes = 2; },
                                                              [](JobRequest& r) { r.resources.ranks_per_node = 2; },
                                                              [](JobRequest& r) { r.resources.threads_per_rank = 2; },
                                                              [](JobRequest& r) { r.resources.time_limit_s = 601; },
                                                              [](JobRequest& r) { r.resources.partition = "x"; },
                                                              [](JobRequest& r) { r.resources.account = "x"; },
                                                              [](JobRequest& r) { r.resources.qos = "x"; },
                                                              [](JobRequest& r) { r.resources.gpus_per_node = 2; },
                                                              [](JobRequest& r) { r.resources.constraint = "x"; },
                                                              [](JobRequest& r) { r.resources.nodelist = "x"; },
                                                              [](JobRequest& r) { r.resources.exclude = {"x"}; },
                                                              [](JobRequest& r) { r.resources.scheduler_args = {"-H"}; },
                                                              [](JobRequest& r) { r.resources.requeue = 1; },
                                                              [](JobRequest& r) { r.resources.signal_ahead_s = 7; },
                                                              [](JobRequest& r) { r.resources.oversubscribe = true; },
                                                              [](JobRequest& r) { r.after = {"12"}; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    auto all = requests(2);
    changes[i](all[1]);
    CHECK(plan(all).size() == 2);
  }
}

TEST_CASE("arrays are split at the site's limit, and a remainder of one is a single job")
{
  const auto batches = plan(requests(7), 3);
  REQUIRE(batches.size() == 3);
  CHECK(batches[0].members.size() == 3);
  CHECK(batches[1].members == std::vector<std::size_t>{3, 4, 5});
  CHECK(batches[1].indices == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(batches[2].kind == BatchKind::single);
}

TEST_CASE("runs of one ladder are one job, whatever their sizes")
{
  auto all = requests(5);
  for (const std::size_t i : {1u, 2u, 4u}) {
    all[i].ladder = "L";
    all[i].resources.nodes = static_cast<std::int64_t>(i);
  }
  const auto batches = plan(all);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].kind == BatchKind::array);
  CHECK(batches[1].kind == BatchKind::ladder);
  CHECK(batches[1].members == std::vector<std::size_t>{1, 2, 4});
}

TEST_CASE("requests that have a token already are not grouped anew")
{
  auto all = requests(3);
  all[1].token = "a0123456789abcdef.5";
  const auto batches = plan(all);
  REQUIRE(batches.size() == 1);
  CHECK(batches[0].members == std::vector<std::size_t>{0, 2});
}

TEST_CASE("batches are found again from the tokens, with their indices")
{
  auto all = requests(4);
  all[0].token = "a0123456789abcdef.5";
  all[1].token = "jffffffffffffffff.0";
  all[2].token = "no token of ours";
  all[3].token = "a0123456789abcdef.2";
  const auto batches = batches_of(all);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].members == std::vector<std::size_t>{0, 3});
  CHECK(batches[0].indices == std::vector<std::uint32_t>{5, 2});
  CHECK(batches[1].kind == BatchKind::single);
}

TEST_CASE("a job asks for its run's size, time and place, and carries what it is known by")
{
  auto all = requests(1);
  auto& resources = all[0].resources;
  resources.nodes = 2;
  resources.ranks_per_node = 3;
  resources.threads_per_rank = 4;
  resources.time_limit_s = 601;
  resources.signal_ahead_s = 60;
  resources.partition = "gpu";
  resources.requeue = 2;
  all[0].after = {"12", "13_4"};
  all[0].token = "j0123456789abcdef.0";
  all[0].side_threads = 1;
  all[0].title = "my study/a=1/#3";
  const auto job = job_for(batches_of(all)[0], all, "/home/slurm/0123456789abcdef", {"/work", {{"PATH", "/bin"}}, 0, 0}, {});
  CHECK(job.name == "dtctl:my_study/a=1#3");
  CHECK(job.comment == "dtctl:j0123456789abcdef key0");
  CHECK(job.out_path == "/home/slurm/0123456789abcdef/log");
  CHECK(job.nodes == 2);
  CHECK(job.tasks == 6);
  CHECK(job.tasks_per_node == 3);
  CHECK(job.cpus_per_task == 4 + 1);
  CHECK(job.time_limit_min == 11);
  CHECK(job.partition == "gpu");
  CHECK(job.requeue);
  CHECK(job.signal == SIGUSR1);
  CHECK(job.signal_ahead_s == 60);
  CHECK(job.dependency == "afterany:12:13_4");
  CHECK(job.array.empty());
}

TEST_CASE("a job is on its node and on none that is excluded, whatever the scheduler_args exclude besides")
{
  auto all = requests(1);
  auto& resources = all[0].resources;
  resources.nodelist = "node3";
  resources.exclude = {"node1", "node7"};
  resources.scheduler_args = {"--exclude=node9"};
  all[0].token = "j0123456789abcdef.0";
  const auto job = job_for(batches_of(all)[0], all, "/home/slurm/0123456789abcdef", {"/work", {{"PATH", "/bin"}}, 0, 0}, {});
  CHECK(job.require_nodes == "node3");
  CHECK(job.exclude_nodes == "node9,node1,node7");
}

TEST_CASE("the usable nodes of a partition are up and not excluded")
{
  SlurmPartition gpu, all;
  gpu.name = "gpu";
  all.name = "all";
  all.is_default = true;
  const auto node = [](const std::string& name, const std::string& partitions, bool is_usable) {
    SlurmNode one;
    one.name = name;
    one.partitions = partitions;
    one.is_usable = is_usable;
    return one;
  };
  const std::vector<SlurmPartition> partitions{gpu, all};
  const std::vector<SlurmNode> nodes{node("node0", "all,gpu", true), node("node1", "all", true), node("node2", "gpu,all", false),
                                     node("node3", "all,gpu", true)};
  ResourcesSpec resources;
  CHECK(usable_nodes(partitions, nodes, resources) == std::vector<std::string>{"node0", "node1", "node3"});
  resources.partition = "gpu";
  resources.exclude = {"node3"};
  CHECK(usable_nodes(partitions, nodes, resources) == std::vector<std::string>{"node0"});
  resources.partition = "none";
  CHECK(usable_nodes(partitions, nodes, resources).empty());
}

TEST_CASE("the user's dependencies and dtctl's own must all hold, and alternatives are refused beside dtctl's")
{
  auto all = requests(1);
  all[0].token = "j0123456789abcdef.0";
  all[0].resources.scheduler_args = {"--dependency=afterok:7", "--dependency=afterok:8"};
  const auto dependency = [&] { return job_for(batches_of(all)[0], all, "/f", {}, {}).dependency; };
  CHECK(dependency() == "afterok:8");
  all[0].after = {"12"};
  CHECK(dependency() == "afterok:8,afterany:12");
  all[0].resources.scheduler_args = {"-d", "afterok:7?afterok:8"};
  CHECK_THROWS_WITH(dependency(),
                    "resources.scheduler_args: --dependency=afterok:7?afterok:8 names alternatives (?), and Slurm cannot combine "
                    "them with the jobs that --after or --max-jobs of dtctl wait for (afterany:12); use only one of the two.");
  all[0].after.clear();
  CHECK(dependency() == "afterok:7?afterok:8");
}

TEST_CASE("a time limit that Slurm may lower counts as the lower one for the warning ahead of it, except in ladders")
{
  auto all = requests(1);
  all[0].token = "j0123456789abcdef.0";
  all[0].resources.time_limit_s = 3600;
  all[0].resources.signal_ahead_s = 600;
  all[0].resources.scheduler_args = {"--time-min=10"};
  const auto batch = batches_of(all)[0];
  CHECK(job_for(batch, all, "/f", {}, {}).time_limit_min == 60);
  CHECK(job_for(batch, all, "/f", {}, {}).time_min_min == 10);
  CHECK(job_for(batch, all, "/f", {}, {}).signal_ahead_s == 300);
  CHECK(tasks_for(batch, all).at(0).time_limit_s == 600);
  all[0].token = "l0123456789abcdef.0";
  CHECK(tasks_for(batches_of(all)[0], all).at(0).time_limit_s == 3600);
  all[0].token = "j0123456789abcdef.0";
  all[0].resources.scheduler_args.clear();
  all[0].resources.time_limit_s = 60; // a warning longer than half of it would stop the run at once
  CHECK(job_for(batch, all, "/f", {}, {}).signal_ahead_s == 30);
}

// Each was tried with Slurm 22.05: without a backslash %% is a percent sign; with one there are no fields, and \\ is a backslash.
TEST_CASE("the path of the output is written in Slurm's language, and a script gives each task its own log where Slurm cannot")
{
  CHECK(slurm_output("/h%j", BatchKind::single) == "/h%%j/log");
  CHECK(slurm_output("/h%j", BatchKind::array) == "/h%%j/log-%a");
  CHECK(slurm_output("/100%%", BatchKind::ladder) == "/100%%%%/log");
  CHECK(slurm_output("/a\\b", BatchKind::single) == "/a\\\\b/log");
  CHECK(slurm_output("/a\\b%j", BatchKind::single) == "/a\\\\b%j/log");
  CHECK(slurm_output("/a\\b", BatchKind::array) == "/a\\\\b/log");
  CHECK(start_script({"/bin/dtjob", "/plain"}).find("SLURM_ARRAY_TASK_ID") == std::string::npos);
  CHECK(start_script({"/bin/dtjob", "/a\\b c"}).find("exec >> '/a\\b c/log'-\"$SLURM_ARRAY_TASK_ID\" 2>&1\n") !=
        std::string::npos);
}

TEST_CASE("a job bears the name of its run, or what the names of its runs have in common, cut to what the accounting keeps")
{
  using Titles = std::vector<std::string>;
  CHECK(job_name_of(Titles{"s/#1"}, "") == "dtctl:s#1");
  CHECK(job_name_of(Titles{"s/ranks=2/#1", "s/ranks=2/#2"}, "") == "dtctl:s/ranks=2");
  CHECK(job_name_of(Titles{"s/ranks=2/#1", "s/ranks=2/#10", "s/ranks=2/#3"}, "") == "dtctl:s/ranks=2");
  CHECK(job_name_of(Titles{"s/ranks=2/#1", "s/ranks=20/#1"}, "") == "dtctl:s");
  CHECK(job_name_of(Titles{"a/b/x/#1", "a/b/y/#1"}, "") == "dtctl:a/b");
  CHECK(job_name_of(Titles{"a'b\"$(x)%j\n/#1"}, "") == "dtctl:a_b___x__j_x0a#1");
  CHECK(job_name_of(Titles{"", ""}, "0123456789abcdef") == "dtctl:0123456789");
  std::string label;
  for (int i = 0; i < 200; ++i) label += "\u00fc";
  const auto name = job_name_of(std::vector{"s/" + label + "/#12"}, "");
  CHECK(name.size() <= 255);
  CHECK(name.size() >= 253);
  CHECK(name.ends_with("\u00fc..#12"));
}

TEST_CASE("a comment names the batch and the keys of its runs, as many as Slurm takes")
{
  const std::vector<std::string> keys(200, "0123456789abcdef");
  const auto comment = comment_of(BatchKind::array, "0123456789abcdef", keys);
  CHECK(comment.size() <= 1024);
  CHECK(comment.starts_with("dtctl:a0123456789abcdef 0123456789 0123456789 "));
  CHECK(comment.ends_with(" 0123456789 ..."));
  CHECK(batch_of_comment(comment) == "a0123456789abcdef");
  CHECK(batch_of_comment("dtctl:j0123456789abcdef") == "j0123456789abcdef");
  CHECK(batch_of_comment("sbatch --parsable --comment=dtctl:a0123456789abcdef k --job-name=x") == "a0123456789abcdef");
  CHECK(batch_of_comment("sbatch --parsable \"--comment=dtctl:j0123456789abcdef\"") == "j0123456789abcdef");
  CHECK(batch_of_comment("somebody's").empty());
}

TEST_CASE("an array is throttled, logs by task, and bears the name that its runs have in common")
{
  auto all = requests(3);
  for (auto& one : all) one.title = "study/" + one.name + "/#1";
  for (std::size_t i = 0; i < 3; ++i) all[i].token = "a0123456789abcdef." + std::to_string(i * 2);
  const auto job = job_for(batches_of(all)[0], all, "/f", {"/work", {}, 2, 0}, {});
  CHECK(job.array == "0,2,4%2");
  CHECK(job.out_path == "/f/log-%a");
  CHECK(job.name == "dtctl:study");
  CHECK(job.comment == "dtctl:a0123456789abcdef key0 key1 key2");
}

TEST_CASE("a ladder's job has the largest size, cores and GPUs of its runs and the time of all of them together with a margin")
{
  auto all = requests(3);
  for (std::size_t i = 0; i < 3; ++i) {
    all[i].resources.nodes = static_cast<std::int64_t>(i == 1 ? 4 : 1);
    all[i].resources.ranks_per_node = std::int64_t{1} << i; // study.ranks: [1, 2, 4]
    all[i].resources.gpus_per_node = all[i].resources.ranks_per_node;
    all[i].token = "l0123456789abcdef." + std::to_string(i);
  }
  const auto job = job_for(batches_of(all)[0], all, "/f", {"/work", {}, 5, 0}, {});
  CHECK(job.nodes == 4);
  CHECK(job.tasks_per_node == 4);
  CHECK(job.gpus_per_node == 4);
  CHECK(job.time_limit_min == (3 * 600 + ladder_margin_s(3)) / 60);
  CHECK(job.array.empty());
}

TEST_CASE("a run that oversubscribes asks for no more cores than a node has")
{
  auto all = requests(1);
  all[0].resources.ranks_per_node = 8;
  all[0].resources.threads_per_rank = 2;
  all[0].resources.oversubscribe = true;
  all[0].token = "j0123456789abcdef.0";
  const auto job = job_for(batches_of(all)[0], all, "/f", {"/", {}, 0, 4}, {});
  CHECK(job.tasks_per_node == 2);
  CHECK(job.cpus_per_task == 2);
  all[0].resources.threads_per_rank = 16;
  CHECK(job_for(batches_of(all)[0], all, "/f", {"/", {}, 0, 4}, {}).cpus_per_task == 4);
  CHECK(job_for(batches_of(all)[0], all, "/f", {"/", {}, 0, 4}, {}).tasks_per_node == 1);
}

TEST_CASE("no more runs of a submission than allowed hold lanes at a time")
{
  Lanes lanes(3);
  CHECK(lanes.before(2).empty());
  lanes.take(2, "10"); // two of three lanes
  CHECK(lanes.before(1).empty());
  lanes.take(1, "11");
  CHECK(lanes.before(1) == std::vector<std::string>{"10"});
  lanes.take(1, "12");
  CHECK(lanes.before(9) == std::vector<std::string>{"10", "11", "12"});
  lanes.take(9, "13");
  CHECK(lanes.before(1) == std::vector<std::string>{"13"});
  Lanes without_limit(0);
  without_limit.take(5, "10");
  CHECK(without_limit.before(5).empty());
}

TEST_CASE("lanes are shared among the sizes of a submission by their runs, one at least")
{
  using Runs = std::vector<std::size_t>;
  using Shares = std::vector<std::int64_t>;
  CHECK(shares_of_lanes(Runs{3, 3}, 2) == Shares{1, 1});
  CHECK(shares_of_lanes(Runs{3, 3}, 4) == Shares{2, 2});
  CHECK(shares_of_lanes(Runs{100, 2}, 4) == Shares{3, 1});
  CHECK(shares_of_lanes(Runs{3, 3, 3}, 2) == Shares{1, 1, 1}); // the third waits for a lane
  CHECK(shares_of_lanes(Runs{6}, 2) == Shares{2});
  CHECK(shares_of_lanes(Runs{2, 1}, 100) == Shares{2, 1});
  CHECK(shares_of_lanes(Runs{2, 1}, 0) == Shares{0, 0});
}
