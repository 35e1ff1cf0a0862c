// The figures of a run: a table to read, or one line of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

// Each row has a name in JSON and one in the table.
class Report {
 public:
  explicit Report(const std::string& program);

  void text(const std::string& key, const std::string& label, const std::string& value);
  void integer(const std::string& key, const std::string& label, std::int64_t value);
  void yes_or_no(const std::string& key, const std::string& label, bool value);
  // `unit` is for the table; a value that is not finite is null in JSON.
  void number(const std::string& key, const std::string& label, double value,
              const std::string& unit = "");

  // To standard output.
  void print(bool as_json) const;

 private:
  struct Row {
    std::string key;
    std::string label;
    std::string json;
    std::string shown;
  };

  std::vector<Row> rows_;
};

}  // namespace examples
