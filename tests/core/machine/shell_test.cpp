// Quoting, checked by the shells that have to read it.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace dt;

namespace {

// The words as a shell hands them to a program, each ended by a zero byte.
std::string words_as_seen_by(const std::string& shell, const std::vector<std::string>& words)
{
  const test::TemporaryFolder folder;
  const auto script = folder.path() / "script";
  write_file_atomic(script, "printf '%s\\0' " + shell_join(words) + "\n"); // in a file, as job scripts are
  const auto result =
      run_command({"env", "--chdir=" + folder.path().string(), shell, script.string()}, 60); // badly quoted words act there
  INFO(result.err);
  CHECK(result.ok());
  CHECK(result.err.empty());
  return result.out;
}

std::string zero_ended(const std::vector<std::string>& words)
{
  std::string text;
  for (const auto& word : words) (text += word) += '\0';
  return text;
}

std::vector<std::string> random_words(unsigned seed)
{
  std::mt19937 random(seed);
  std::vector<std::string> words;
  for (int i = 0; i < 200; ++i) {
    std::string word(random() % 24, ' ');
    for (auto& c : word) c = static_cast<char>(1 + random() % 255); // a word of a command can hold any byte but zero
    words.push_back(word);
  }
  return words;
}

} // namespace

TEST_CASE("a plainly safe word is left alone, any other stands in single quotes, and a line joins words by single blanks")
{
  CHECK(shell_quote("lenet") == "lenet");
  CHECK(shell_quote("/a/b-c_d.e,f:g@h%i+1") == "/a/b-c_d.e,f:g@h%i+1");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("a b") == "'a b'");
  CHECK(shell_quote("A=1") == "'A=1'");
  CHECK(shell_quote("~") == "'~'");
  CHECK(shell_quote("*") == "'*'");
  CHECK(shell_quote("it's") == "'it'\\''s'");
  CHECK(shell_quote("é") == "'é'");
  CHECK(shell_join({}).empty());
  CHECK(shell_join(std::vector<std::string>{"echo", "", "a b", "c"}) == "echo '' 'a b' c");
}

TEST_CASE("a shell reads random quoted bytes back unchanged")
{
  const auto shell = GENERATE(std::string("bash"), std::string("sh"));
  const auto words = random_words(GENERATE(11U, 12U));
  CHECK(words_as_seen_by(shell, words) == zero_ended(words));
}

TEST_CASE("a shell reads every single byte and every pair with a quote back unchanged")
{
  std::vector<std::string> words;
  for (int byte = 1; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    words.insert(words.end(), {one, "'" + one, one + "'", "\\" + one, one + "\n"});
  }
  CHECK(words_as_seen_by("bash", words) == zero_ended(words));
}

TEST_CASE("a recipe's name cannot run commands")
{
  const test::TemporaryFolder folder;
  const auto touched = (folder.path() / "x").string();
  const std::vector<std::string> words{"$(touch " + touched + "); '",  "`touch " + touched + "`", "'; touch " + touched + "; '",
                                       "\n touch " + touched + "\n",   "& touch " + touched,      "$(touch /tmp/x); '",
                                       "\" ; touch " + touched + " \""};
  CHECK(words_as_seen_by("bash", words) == zero_ended(words));
  CHECK_FALSE(std::filesystem::exists(touched));
}
