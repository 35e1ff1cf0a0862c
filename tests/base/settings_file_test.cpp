// The file that THINWIRE_CONFIG names: its lines, and what stands before them.
#include "base/settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace thinwire {
namespace {

TEST(SettingLines, HaveSpacesCommentsAndValuesWithSigns) {
  const auto lines = parse_setting_lines(
      "# of the site\n\n  THINWIRE_CODEC = zfp:rate=16 \r\n\tTHINWIRE_LINK=\nTHINWIRE_CODEC=off");
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->size(), 3u);
  EXPECT_EQ((*lines)[0].number, 3u);
  EXPECT_EQ((*lines)[0].name, "THINWIRE_CODEC");
  EXPECT_EQ((*lines)[0].value, "zfp:rate=16");
  const SettingsFile file{.path = "x", .lines = *lines, .status = {}};
  EXPECT_STREQ(file.value_of("THINWIRE_CODEC"), "off");
  EXPECT_EQ(file.value_of("THINWIRE_LINK"), nullptr);
  EXPECT_EQ(file.value_of("THINWIRE_LOG"), nullptr);
}

TEST(SettingLines, OfOtherKindsAreNamed) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"x"sv, "\n\nTHINWIRE_CODEC"sv, "=1"sv, "a=\0b"sv,
                                      "a=b\rc=d"sv, "# a\rb=c"sv, "a=\x1b[0m"sv}) {
    const auto lines = parse_setting_lines(text);
    ASSERT_FALSE(lines.ok()) << text;
    const std::string number = text.starts_with('\n') ? "line 3 " : "line 1 ";
    EXPECT_TRUE(lines.status().message().starts_with(number)) << lines.status().message();
  }
  EXPECT_TRUE(parse_setting_lines("")->empty());
  EXPECT_EQ(parse_setting_lines("\xEF\xBB\xBF"
                                "A=b")
                ->front()
                .name,
            "A");
}

class FileOfSettings : public testing::Test {
 protected:
  FileOfSettings() : path_(testing::TempDir() + "settings." + std::to_string(getpid())) {}
  ~FileOfSettings() override { std::filesystem::remove(path_); }
  SettingsFile with(const std::string& text) {
    std::ofstream(path_) << text;
    return read_settings_file(path_.c_str());
  }
  std::string path_;
};

TEST_F(FileOfSettings, IsJudgedLikeVariables) {
  const struct {
    const char* text;
    const char* part;
  } cases[] = {{"THINWIRE_CODEC=mpc\nTHINWIRE_LINK=\n", ""},
               {"\nTHINWIRE_THRESHOLD=much\n", ": line 2: THINWIRE_THRESHOLD: "},
               {"THINWIRE_CODEK=mpc\n", "the nearest is THINWIRE_CODEC"},
               {"PATH=/bin\n", "PATH: no setting has this name"},
               {"THINWIRE_CONFIG=/other\n", "only the environment names the file"},
               {"mpc\n", "line 1 is not NAME=value"}};
  for (const auto& [text, part] : cases) {
    const auto said = judge_settings(with(text));
    ASSERT_EQ(said.size(), *part == '\0' ? 0u : 1u) << text;
    for (const std::string& sentence : said) {
      EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
      EXPECT_NE(sentence.find(path_), std::string::npos) << sentence;
    }
  }
}

TEST_F(FileOfSettings, IsNotJudgedForEver) {
  std::string text;
  for (int line = 0; line < 60'000; ++line) text += "THINWIRE_CODEX=b\n";
  const auto said = judge_settings(with(text));
  EXPECT_EQ(said.size(), 11u);
  const auto long_name = judge_settings(with(std::string(1 << 19, 'n') + "=1\n"));
  ASSERT_EQ(long_name.size(), 1u);
  EXPECT_LT(long_name.front().size(), 400u + path_.size());
}

TEST_F(FileOfSettings, HasNoLinesIfItCannotBeRead) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);  // it waits for nobody
  for (const char* path : {"/none/such", "/", "/dev/zero", path_.c_str()}) {
    const SettingsFile file = read_settings_file(path);
    EXPECT_FALSE(file.status.ok()) << path;
    EXPECT_TRUE(file.lines.empty());
    EXPECT_EQ(judge_settings(file).size(), 1u);
  }
  EXPECT_TRUE(read_settings_file(nullptr).status.ok());
  EXPECT_TRUE(read_settings_file("").path.empty());
}

}  // namespace
}  // namespace thinwire
