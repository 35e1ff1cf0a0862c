// Text files of tables and keys: a subset of TOML 1.0 (docs/guide/policy.md has it in words). What
// is read here a TOML library reads alike; what it would read and this does not is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace thinwire::policy {

using Texts = std::vector<std::string>;

// One `key = value`.
struct Entry {
  std::string key;
  int line = 0;
  std::variant<std::string, std::uint64_t, Texts> value;
};

// The content of one `[[name]]`; no key twice.
struct Table {
  std::string name;
  int line = 0;
  std::vector<Entry> entries;
};

// An error's message begins with the line's number: "3: ...".
Result<std::vector<Table>> read_tables(std::string_view text);

// kInvalidArgument, "LINE: WHAT".
Status error_at(int line, const std::string& what);

}  // namespace thinwire::policy
