#include "policy/tables.h"

#include <gtest/gtest.h>

#include <string>

namespace thinwire::policy {
namespace {

std::string error_of(const std::string& text) {
  const auto read = read_tables(text);
  return read.ok() ? "" : read.status().message();
}

TEST(Tables, HaveTheirKeysInOrderWithTheirLines) {
  const auto read = read_tables(
      "# a policy\r\n"
      "[[rule]]  # the first\n"
      "name = 'a \\ b'\n"
      "  size-from=65536\n"
      "list = [ \"x\", # one\n"
      "  'y',\n"
      "]\n"
      "\n"
      "[[rule]]\n"
      "name = \"\xC3\xA9\"");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), 2U);
  const Table& first = read->front();
  EXPECT_EQ(first.line, 2);
  ASSERT_EQ(first.entries.size(), 3U);
  EXPECT_EQ(std::get<std::string>(first.entries[0].value), "a \\ b");
  EXPECT_EQ(std::get<std::uint64_t>(first.entries[1].value), 65536U);
  EXPECT_EQ(first.entries[1].line, 4);
  EXPECT_EQ(std::get<Texts>(first.entries[2].value), (Texts{"x", "y"}));
  EXPECT_EQ(read->back().line, 9);
  EXPECT_EQ(std::get<std::string>(read->back().entries[0].value), "\xC3\xA9");
}

TEST(Tables, EachWrongLineIsNamed) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"a = 1\n", "1: 'a' stands above the first [[rule]]"},
      {"[[rule]]\na = 1\nb = 2\na = 3\n", "4: 'a' is given twice, first in line 2"},
      {"[rule]\n", "1: a heading is [[rule]], nothing else"},
      {"[[rule]\n", "1: a heading is [[rule]], nothing else"},
      {"[[rule]]\na 1\n", "2: 'a' is followed by no ="},
      {"[[rule]]\na = 1 2\n", "2: the line goes on after its value"},
      {"[[rule]]\na = \"x\n", "2: a text ends on its line"},
      {"[[rule]]\na = \"x", "2: a text ends on its line"},
      {"[[rule]]\na = [\"x\"\n\n\"y\"]\n", "4: a list has commas between its texts"},
      {"[[rule]]\na = [\"x\"", "2: a list has commas between its texts"},
      {"[[rule]]\na = [1]\n",
       "2: a list has texts in quotes, with commas between them, and ends with ]"},
      {"[[rule]]\na = \"\\n\"\n",
       "2: a text in double quotes has no backslash; single quotes take it as it is"},
      {"[[rule]]\na = 01\n", "2: a value is a text in quotes, a list of such, or a whole number"},
      {"[[rule]]\na = true\n", "2: a value is a text in quotes, a list of such, or a whole number"},
      {"[[rule]]\na = 9223372036854775808\n",
       "2: a value is a text in quotes, a list of such, or a whole number"},
      {"[[rule]]\n\"a\" = 1\n", "2: a line begins with a key, [[rule]] or #"},
      {"[[rule]]\n# \xFF\n", "2: this is not UTF-8"},
      {"[[rule]]\na = \"\xED\xA0\x80\"\n", "2: this is not UTF-8"},
      {"[[rule]]\na = \"\x01\"\n", "2: a control character"},
  };
  for (const auto& each : cases) EXPECT_EQ(error_of(each.text), each.error) << each.text;
}

}  // namespace
}  // namespace thinwire::policy
