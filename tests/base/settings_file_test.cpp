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
  for (const std::string_view text : {"x"sv, "\n\nTHINWIRE_CODEC"sv, "=1"sv, "a=\0b"sv}) {
    const auto lines = parse_setting_lines(text);
    ASSERT_FALSE(lines.ok()) << text;
    const std::string number = text.starts_with('\n') ? "line 3 " : "line 1 ";
    EXPECT_TRUE(lines.status().message().starts_with(number)) << lines.status().message();
  }
  EXPECT_TRUE(parse_setting_lines("")->empty());
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
    if (!said.empty()) EXPECT_NE(said.front().find(part), std::string::npos) << said.front();
    if (!said.empty()) EXPECT_NE(said.front().find(path_), std::string::npos) << said.front();
  }
}

TEST_F(FileOfSettings, HasNoLinesIfItCannotBeRead) {
  for (const char* path : {"/none/such", "/", "/dev/zero"}) {
    const SettingsFile file = read_settings_file(path);
    EXPECT_FALSE(file.status.ok()) << path;
    EXPECT_TRUE(file.lines.empty());
    EXPECT_EQ(judge_settings(file).size(), 1u);
  }
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);  // it waits for nobody
  EXPECT_TRUE(read_settings_file(path_.c_str()).lines.empty());
  EXPECT_TRUE(read_settings_file(nullptr).status.ok());
  EXPECT_TRUE(read_settings_file("").path.empty());
}

}  // namespace
}  // namespace thinwire
