// Files that a program's run is not to fail for: what cannot be written is said once and left out.
#pragma once

#include <string>

namespace thinwire::shim {

// One that grows. Nothing more is written after a failure.
class TraceFile {
 public:
  // `setting` is what a message names.
  void open(const char* setting, const std::string& path);
  void write(const std::string& text);
  void close();

  bool is_broken() const { return file_ < 0; }

 private:
  void give_up();

  const char* setting_ = "";
  std::string path_;
  int file_ = -1;
};

// One that others read meanwhile, whole each time. A failure is said once a process.
void replace_file(const char* setting, const std::string& path, const std::string& text);

// One at the end of a process.
void write_report(const std::string& path, const std::string& text);

}  // namespace thinwire::shim
