#include "core/program/environment.hpp"

#include "core/files/file.hpp"
#include "core/program/interpreter.hpp"
#include "core/text.hpp"
#include "tests/core/variable.hpp"
#include "tests/support/temporary_folder.hpp"

#include <chrono>
#include <cstdlib>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using namespace dt;
using Catch::Contains;
using dt::test::TemporaryFolder;
using dt::test::Variable;
using Words = std::vector<std::string>;

namespace {

// A folder of packages on PYTHONPATH, and a home.
struct Site {
  TemporaryFolder folder;
  fs::path packages = folder.path() / "packages", home = folder.path() / "home";
  Variable path{"PYTHONPATH", packages.string()};
  Site()
  {
    make_folders(home);
    install("alpha", "1.0");
  }
  fs::path environments() const { return home / "environments"; }
  fs::path info(const std::string& name, const std::string& version) const
  {
    return packages / (name + "-" + version + ".dist-info");
  }
  void install(const std::string& name, const std::string& version) const
  {
    make_folders(info(name, version));
    write_file_atomic(info(name, version) / "METADATA",
                      "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n\nVersion: 9 in the text\n");
  }
  void upgrade(const std::string& name, const std::string& from, const std::string& to) const
  {
    fs::remove_all(info(name, from));
    install(name, to);
  }
  // Everything on the path of Python becomes as old as an environment usually is.
  void settle() const { fs::last_write_time(packages, fs::file_time_type::clock::now() - std::chrono::hours(1)); }
  // It has just changed, however long Python takes to answer.
  void unsettle() const { fs::last_write_time(packages, fs::file_time_type::clock::now() + std::chrono::hours(1)); }
  ProgramEnvironment ask(const Words& command = {"/usr/bin/python3", "train.py"}) const
  {
    return describe_program(command, environments());
  }
  std::string put_program(const std::string& name, const std::string& text) const
  {
    const auto file = folder.path() / name;
    write_file_atomic(file, text);
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
};

} // namespace

TEST_CASE("an environment is known by interpreter and packages: an upgrade changes its id, and its place does not")
{
  const Site site;
  const auto before = site.ask();
  INFO(before.unknown);
  REQUIRE(before.id.size() == 32);
  CHECK(before.facts.at("python").starts_with("CPython 3."));
  CHECK(before.facts.at("python_environment") == before.id);
  CHECK(site.ask().id == before.id);

  site.upgrade("alpha", "1.0", "1.1");
  site.install("beta_b", "2.0+cu118");
  const auto after = site.ask();
  CHECK(after.id != before.id);
  const auto changes = environment_changes(site.environments(), before.id, after.id);
  CHECK(texts_of(changes) == Words{"alpha 1.0, now 1.1", "beta-b missing, now 2.0+cu118"});
  CHECK(texts_of(changes, 1) == Words{"alpha 1.0, now 1.1", "and 1 more"});
  CHECK(environment_changes(site.environments(), before.id, "0123").empty());

  const auto elsewhere = site.folder.path() / "moved";
  fs::rename(site.packages, elsewhere);
  const Variable moved("PYTHONPATH", elsewhere.string());
  CHECK(site.ask().id == after.id);
}

TEST_CASE("the file of an environment lists its packages for its owner alone, and an answer about packages that have just "
          "changed is not kept")
{
  const Site site;
  site.unsettle();
  const auto file = site.environments() / (site.ask().id + ".json");
  CHECK_THAT(read_file(file), Contains("\"alpha\": \"1.0\""));
  CHECK((fs::status(file).permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  CHECK(names_in(site.environments()).size() == 1);
}

TEST_CASE("an answer is kept, and is asked for again when a package was installed or the interpreter is another one")
{
  const Site site;
  site.settle();
  const auto first = site.ask();
  const auto names = names_in(site.environments());
  REQUIRE(names.size() == 2);    // the environment and the answer
  for (const auto& name : names) // an answer that is used again is taken as it is
    if (const auto file = site.environments() / name; name.starts_with("asked-")) {
      auto text = read_file(file);
      text.replace(text.find("\"alpha\":\"1.0\""), 13, "\"alpha\":\"7.7\"");
      write_file_atomic(file, text);
    }
  const auto kept = site.ask();
  CHECK(kept.id != first.id);
  CHECK_THAT(read_file(site.environments() / (kept.id + ".json")), Contains("7.7"));

  site.upgrade("alpha", "1.0", "1.2");
  CHECK(texts_of(environment_changes(site.environments(), first.id, site.ask().id)) == Words{"alpha 1.0, now 1.2"});
}

TEST_CASE("versions of torch, CUDA, cuDNN and NCCL are read without importing torch")
{
  const Site site;
  site.install("torch", "2.1.0");
  make_folders(site.packages / "torch");
  write_file_atomic(site.packages / "torch" / "__init__.py", "raise RuntimeError('imported')\n");
  write_file_atomic(
      site.packages / "torch" / "version.py",
      "from typing import Optional\n__version__ = '2.1.0'\ncuda: Optional[str] = '12.1'\nhip: Optional[str] = None\n");
  site.install("nvidia_cudnn_cu12", "8.9.2.26");
  const auto facts = site.ask().facts;
  CHECK(facts.at("torch") == "2.1.0");
  CHECK(facts.at("cuda") == "12.1");
  CHECK(facts.at("cudnn") == "8.9.2.26");
  CHECK(facts.at("nccl") == "unknown: a part of torch");
  CHECK(facts.count("hip") == 0);
}

TEST_CASE("a package that was installed from a repository is known by its commit")
{
  const Site site;
  const auto origin = site.info("alpha", "1.0") / "direct_url.json";
  write_file_atomic(origin, R"({"url": "https://example.org/a", "vcs_info": {"vcs": "git", "commit_id": "00aa11"}})");
  site.unsettle();
  const auto before = site.ask();
  write_file_atomic(origin, R"({"url": "https://example.org/a", "vcs_info": {"vcs": "git", "commit_id": "00bb22"}})");
  CHECK(texts_of(environment_changes(site.environments(), before.id, site.ask().id)) ==
        Words{"alpha 1.0 @ 00aa11, now 1.0 @ 00bb22"});
}

TEST_CASE("a virtual environment has packages of its own, and a script is asked through its first line")
{
  const Site site;
  const auto venv = (site.folder.path() / "venv").string();
  REQUIRE(std::system(("/usr/bin/python3 -m venv --without-pip " + shell_quote(venv)).c_str()) == 0);
  const auto here = site.ask({venv + "/bin/python", "train.py"});
  CHECK(here.facts.at("python_program") == venv + "/bin/python");
  CHECK(here.id != site.ask().id); // the distribution's packages are not seen there
  CHECK(site.ask({site.put_program("run.py", "#!" + venv + "/bin/python -u\n"), "--lr"}).id == here.id);
  CHECK(site.ask({site.put_program("long", "#!/bin/sh\n'''exec' \"" + venv + "/bin/python\" \"$0\" \"$@\"\n' '''\n")}).id ==
        here.id);
  const Variable path("PATH", venv + "/bin:" + std::getenv("PATH"));
  CHECK(site.ask({"python3", "train.py"}).id == here.id);
  CHECK(site.ask({site.put_program("env.py", "#!/usr/bin/env -S python3 -u\n")}).id == here.id);
  CHECK(site.ask({"env", "X=1", "python", "train.py"}).id == here.id);
  CHECK(site.ask({"python3", "-I", "train.py"}).id != here.id); // PYTHONPATH is not read
}

namespace {

// A program in the current folder, and packages of which alpha requires gamma, and delta only for its extra `more`.
struct Importing {
  Site site;
  TemporaryFolder work;
  fs::path before = fs::current_path();
  Importing()
  {
    fs::current_path(work.path());
    for (const auto* name : {"beta", "gamma", "delta"}) site.install(name, "1.0");
    write_file_atomic(site.info("alpha", "1.0") / "METADATA", "Name: alpha\nVersion: 1.0\nRequires-Dist: gamma (>=1.0)\n"
                                                              "Requires-Dist: delta ; extra == 'more'\n");
    write_file_atomic(site.info("beta", "1.0") / "top_level.txt", "other_name\n");
  }
  ~Importing() { fs::current_path(before); }
  void put(const fs::path& file, const std::string& text) const
  {
    if (file.has_parent_path()) make_folders(file.parent_path());
    write_file_atomic(work.path() / file, text);
  }
  // Which of the packages the command uses, or why that is unknown.
  Words used(const Words& command = {"/usr/bin/python3", "-u", "train.py"}) const
  {
    std::vector<EnvironmentChange> changes;
    for (const auto* name : {"alpha", "beta", "delta", "gamma", "gone"}) changes.push_back({name, name});
    const auto found = changes_in_use(command, changes);
    CHECK(found.used.size() + found.unused.size() == changes.size());
    return found.unknown.empty() ? texts_of(found.used) : Words{found.unknown};
  }
  Words used_by(const std::string& train) const
  {
    put("train.py", train);
    return used();
  }
};

} // namespace

TEST_CASE("a program uses the packages that its files import, wherever they do, and what these require")
{
  const Importing program;
  CHECK(program.used_by("import os, json\nimport importlib.util\n").empty());
  CHECK(program.used_by("import alpha.nn as nn\n") == Words{"alpha", "gamma"});
  CHECK(program.used_by("def train():\n    try:\n        from other_name.x import y\n    except ImportError:\n        pass\n") ==
        Words{"beta"});
  CHECK(program.used_by("import importlib\nimportlib.import_module('delta')\n") == Words{"delta"});
  write_file_atomic(program.site.info("beta", "1.0") / "METADATA", "Name: beta\nVersion: 1.0\nRequires-Dist: alpha[more]\n");
  CHECK(program.used_by("import other_name\n") == Words{"alpha", "beta", "delta", "gamma"});
}

TEST_CASE("the files of a program are those that its command names and those that they import or name, and no others")
{
  const Importing program;
  program.put("unused.py", "import beta\n");
  program.put("parts/__init__.py", "from . import net\n");
  program.put("parts/net.py", "import delta\n");
  program.put("settings.py", "import gamma\n");
  CHECK(program.used_by("import parts\n") == Words{"delta"});
  CHECK(program.used_by("exec(open('settings.py').read())\n") == Words{"gamma"});
  CHECK(program.used_by("import importlib\nimportlib.import_module(f'parts.{1}')\n") == Words{"delta"});
  CHECK(program.used({"python3", "-m", "parts.net"}) == Words{"delta"});
  CHECK(program.used({"python3", "-c", "import gamma"}) == Words{"gamma"});
  program.put("tool", "#!/usr/bin/env python3\nimport gamma\n");
  fs::permissions(program.work.path() / "tool", fs::perms::owner_all);
  CHECK(program.used({"./tool", "train.py"}) == Words{"delta", "gamma"});
  CHECK(program.used({"python3", "parts"}) == Words{"beta", "delta", "gamma"}); // no __main__.py: all files here
}

TEST_CASE(
    "what a program imports is unknown where its files do not tell, and a module that is missing may be one that was removed")
{
  const Importing program;
  CHECK(program.used_by("import importlib, sys\nimportlib.import_module(sys.argv[1])\n") ==
        Words{"train.py: what line 2 imports is only known when it runs"});
  CHECK_THAT(program.used_by("def :\n").at(0), Contains("train.py cannot be parsed: invalid syntax"));
  CHECK(program.used_by("try:\n    import no_such_module\nexcept ImportError:\n    pass\n") == Words{"gone"});
  write_file_atomic(program.site.packages / "bare.py", "import delta\n"); // of no package
  CHECK(program.used_by("import bare\n") == Words{"delta"});
  fs::remove(program.work.path() / "train.py");
  CHECK(program.used() == Words{"the command names no Python file"});
}

TEST_CASE("what cannot be known is said to be unknown, and why")
{
  const Site site;
  struct Row {
    Words command;
    std::string why;
  };
  const auto script = site.put_program("run.sh", "#!/bin/bash\npython3 train.py\n"),
             broken = site.put_program("python3", "#!/bin/sh\necho broken >&2\nexit 3\n");
  for (const auto& [command, why] : std::vector<Row>{{{"uv", "run", "train.py"}, "`uv` decides which program it starts"},
                                                     {{"setsid", "python3", "train.py"}, "`setsid` decides"},
                                                     {{"bash", "run.sh"}, "`bash` decides"},
                                                     {{"no-such-program"}, "there is no program `no-such-program` here"},
                                                     {{"/no/such/python3", "train.py"}, "there is no program `/no/such/python3`"},
                                                     {{script}, "`run.sh` is a script for `bash`"},
                                                     {{broken, "train.py"}, "`" + broken + "` cannot be asked: broken"}}) {
    const auto found = site.ask(command);
    CHECK(found.id.empty());
    CHECK(found.facts.at("python_environment") == "unknown: " + found.unknown);
    CHECK_THAT(found.unknown, Catch::StartsWith(why));
  }
}

TEST_CASE("a program that is no script is known by its file's content")
{
  const Site site;
  const auto found = site.ask({"true"});
  CHECK(found.id.empty());
  CHECK(found.unknown.empty());
  CHECK(found.facts.at("program_file").ends_with("/true"));
  CHECK(found.facts.at("program_hash").size() == 32);
}

TEST_CASE("the first words of a command decide which interpreter it starts")
{
  CHECK(leading_words({"python3", "-I", "train.py", "--lr", "0.1"}) == Words{"python3", "-I"});
  CHECK(leading_words({"numactl", "-N", "0", "python3.12", "train.py"}) == Words{"numactl", "-N", "0", "python3.12"});
  CHECK(leading_words({"torchrun", "train.py"}) == Words{"torchrun"});
  CHECK(leading_words({"python-config", "--libs"}) == Words{"python-config"});
}
