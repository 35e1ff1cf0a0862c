#include "policy/tables.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"

namespace thinwire::policy {
namespace {

bool is_blank(char each) { return each == ' ' || each == '\t'; }

bool is_bare(char each) {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
         (each >= '0' && each <= '9') || each == '_' || each == '-';
}

bool is_control(char each) {
  const auto byte = static_cast<unsigned char>(each);
  return (byte < 0x20 && each != '\t') || byte == 0x7F;
}

// How many bytes the UTF-8 character at the text's start has; 0: it is none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return 0;
  }
  // Longer than need be, halves of pairs, beyond the last character.
  const unsigned head = byte(0) << 8 | byte(1);
  const bool wrong = (head >= 0xE000 && head < 0xE0A0) || (head >= 0xEDA0 && head < 0xEE00) ||
                     (head >= 0xF000 && head < 0xF090) || head >= 0xF490;
  return wrong ? 0 : bytes;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<Table>> read() {
    while (status_.ok() && !at_end()) read_line();
    if (!status_.ok()) return status_;
    return std::move(tables_);
  }

 private:
  bool at_end() const { return text_.empty(); }
  char next() const { return at_end() ? '\n' : text_.front(); }
  void fail(const std::string& what) {
    if (status_.ok()) status_ = error_at(line_, what);
  }
  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void skip_blanks() {
    while (!at_end() && is_blank(next())) text_.remove_prefix(1);
  }

  // One character of a comment or of a text.
  void take_character(std::string* into) {
    const std::size_t bytes = character_bytes(text_);
    if (bytes == 0) return fail("this is not UTF-8");
    if (is_control(next())) return fail("a control character");
    if (into != nullptr) into->append(text_.substr(0, bytes));
    text_.remove_prefix(bytes);
  }

  // A comment and the line's end, or nothing but the latter.
  void end_line() {
    skip_blanks();
    if (next() == '#') {
      while (status_.ok() && !at_end() && !text_.starts_with("\n") && !text_.starts_with("\r\n")) {
        take_character(nullptr);
      }
    }
    if (!status_.ok() || at_end()) return;
    if (!take("\n") && !take("\r\n")) return fail("the line goes on after its value");
    ++line_;
  }

  void read_line() {
    skip_blanks();
    if (next() == '[') {
      read_heading();
    } else if (!at_end() && is_bare(next())) {
      read_entry();
    } else if (!at_end() && next() != '#' && next() != '\n' && next() != '\r') {
      return fail("a line begins with a key, [[rule]] or #");
    }
    if (status_.ok()) end_line();
  }

  std::string take_bare() {
    const auto end = std::ranges::find_if_not(text_, is_bare);
    std::string word(text_.begin(), end);
    text_.remove_prefix(word.size());
    return word;
  }

  void read_heading() {
    Table made;
    made.line = line_;
    const bool opens = take("[[");
    made.name = take_bare();
    if (!opens || made.name.empty() || !take("]]")) {
      return fail("a heading is [[rule]], nothing else");
    }
    tables_.push_back(std::move(made));
  }

  void read_entry() {
    Entry made;
    made.line = line_;
    made.key = take_bare();
    skip_blanks();
    if (!take("=")) return fail("'" + made.key + "' is followed by no =");
    if (tables_.empty()) return fail("'" + made.key + "' stands above the first [[rule]]");
    skip_blanks();
    auto& entries = tables_.back().entries;
    for (const Entry& each : entries) {
      if (each.key != made.key) continue;
      return fail("'" + made.key + "' is given twice, first in line " + std::to_string(each.line));
    }
    if (next() == '[') {
      made.value = take_list();
    } else if (next() == '"' || next() == '\'') {
      made.value = take_text();
    } else {
      made.value = take_number();
    }
    entries.push_back(std::move(made));
  }

  std::string take_text() {
    const char quote = next();
    text_.remove_prefix(1);
    std::string made;
    while (status_.ok() && next() != quote) {
      if (next() == '\n' || next() == '\r') {
        fail("a text ends on its line");
      } else if (next() == '\\' && quote == '"') {
        fail("a text in double quotes has no backslash; single quotes take it as it is");
      } else {
        take_character(&made);
      }
    }
    if (status_.ok()) text_.remove_prefix(1);
    return made;
  }

  std::uint64_t take_number() {
    const std::string word = take_bare();
    const auto number = parse_whole_number(word);
    const bool is_one = number && (word.size() == 1 || word.front() != '0') &&
                        *number <= std::uint64_t{0x7FFFFFFFFFFFFFFF};
    if (!is_one) fail("a value is a text in quotes, a list of such, or a whole number");
    return is_one ? *number : 0;
  }

  void skip_lines() {
    for (skip_blanks(); status_.ok() && !at_end(); skip_blanks()) {
      if (next() != '#' && next() != '\n' && next() != '\r') return;
      end_line();
    }
  }

  Texts take_list() {
    Texts made;
    text_.remove_prefix(1);
    for (skip_lines(); status_.ok() && !take("]"); skip_lines()) {
      if (next() != '"' && next() != '\'') {
        fail("a list has texts in quotes, with commas between them, and ends with ]");
        break;
      }
      made.push_back(take_text());
      skip_lines();
      if (!take(",") && next() != ']') fail("a list has commas between its texts");
    }
    return made;
  }

  std::string_view text_;
  int line_ = 1;
  Status status_;
  std::vector<Table> tables_;
};

}  // namespace

Status error_at(int line, const std::string& what) {
  return {StatusCode::kInvalidArgument, std::to_string(line) + ": " + what};
}

Result<std::vector<Table>> read_tables(std::string_view text) { return Reader(text).read(); }

}  // namespace thinwire::policy
