#include "cli/command/verb.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace dt::cli {

Option* Option::required()
{
  option_->required();
  return this;
}

Option* Option::type_name(const std::string& name)
{
  option_->type_name(name);
  return this;
}

Option* Option::check(const Validator& validator)
{
  option_->check(CLI::Validator(validator, ""));
  return this;
}

Option* Option::one_of(const std::vector<std::string>& values)
{
  option_->check(CLI::IsMember(values));
  return this;
}

Option* Option::needs(Option* other)
{
  option_->needs(other->option_);
  return this;
}

Option* Option::excludes(Option* other)
{
  option_->excludes(other->option_);
  return this;
}

template<class Value> Option* Verb::add_option(const std::string& flags, Value& value, const std::string& help)
{
  return keep(app_->add_option(flags, value, help));
}

template Option* Verb::add_option(const std::string&, std::string&, const std::string&);
template Option* Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* Verb::add_option(const std::string&, std::filesystem::path&, const std::string&);
template Option* Verb::add_option(const std::string&, int&, const std::string&);
template Option* Verb::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* Verb::add_option(const std::string&, std::size_t&, const std::string&);
template Option* Verb::add_option(const std::string&, double&, const std::string&);

Option* Verb::add_flag(const std::string& flags, bool& value, const std::string& help)
{
  return keep(app_->add_flag(flags, value, help));
}

Option* Verb::add_list(const std::string& flags, std::vector<std::string>& values, const std::string& help)
{
  // Without allow_extra_args(false), the option would also take the words after its value.
  return keep(app_->add_option(flags, values, help)->take_all()->allow_extra_args(false));
}

} // namespace dt::cli
