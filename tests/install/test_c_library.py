"""The C library as `cmake --install` puts it under a prefix, used from an empty directory."""

import re
import shutil
from pathlib import Path

import pytest
from outside import BUILD, ROOT, run

EXAMPLES = ROOT / "examples" / "c_api"
CUDA = Path("/usr/local/cuda")
CALLS_CUDA = ["gpu_allocator.cpp"]  # by itself; left out where there is no toolkit
PROGRAMS = [
    path.name
    for path in sorted(EXAMPLES.glob("*.c*"))
    if path.suffix in (".c", ".cpp")
    and (path.name not in CALLS_CUDA or (CUDA / "include" / "cuda_runtime_api.h").exists())
]


def files_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything, installed and then moved: nothing may remember where it was."""
    folder = tmp_path_factory.mktemp("installed")
    run(["cmake", "--install", BUILD, "--prefix", folder / "first"], folder)
    return (folder / "first").rename(folder / "prefix")


def said(name: str, output: str) -> None:
    """A program did what it is for; the one that needs a GPU may say that there is none."""
    assert output, name
    if output.startswith("skipped: "):
        assert name.startswith("gpu_"), output


def test_find_package(prefix: Path, tmp_path: Path) -> None:
    source = shutil.copytree(EXAMPLES, tmp_path / "source")
    run(["cmake", "-S", source, "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], tmp_path)
    run(["cmake", "--build", "build"], tmp_path)
    for program in PROGRAMS:
        said(program, run([tmp_path / "build" / program.replace(".", "_")], tmp_path))


def test_the_commands_of_the_guide(tmp_path: Path) -> None:
    """As they stand there, but for the build, which is done."""
    blocks = re.findall(
        r"^```\w*\n(.*?)^```$", (ROOT / "docs" / "guide" / "c-library.md").read_text(), re.S | re.M
    )
    (block,) = [block for block in blocks if "try-thinwire" in block]
    script = block.replace("make build\n", "").replace("build/release", str(BUILD))
    assert "try-thinwire/message_c" in script
    assert "one bit flipped: damaged" in run(["bash", "-ec", script], ROOT, HOME=str(tmp_path))


def test_pkg_config(prefix: Path, tmp_path: Path) -> None:
    assert shutil.which("pkg-config"), "tools/setup_packages installs it"
    where = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    asked = run(["pkg-config", "--cflags", "--libs", "thinwire"], tmp_path, **where).split()
    assert [Path(word[2:]).resolve() for word in asked if word.startswith("-L")] == [prefix / "lib"]
    for program in PROGRAMS:
        compiler = ["cc"] if program.endswith(".c") else ["c++", "-std=c++20"]
        # Headers must not warn in a program that asks for every warning.
        warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
        words = [*compiler, *warnings, EXAMPLES / program, *asked, "-lm", "-o", "program"]
        if program in CALLS_CUDA:
            words += ["-isystem", CUDA / "include", "-L", CUDA / "lib64", "-lcudart"]
            words += [f"-Wl,-rpath,{CUDA}/lib64"]
        run(words, tmp_path)
        said(program, run([tmp_path / "program"], tmp_path, LD_LIBRARY_PATH=f"{prefix}/lib"))


def test_versions_that_find_package_takes(prefix: Path, tmp_path: Path) -> None:
    """Until there is a version 1 the minor version is the one that counts."""
    for version, fits in (("0.1", True), ("0.1.0", True), ("0.2", False), ("0.0", False)):
        (tmp_path / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(probe LANGUAGES NONE)\n"
            f"find_package(thinwire {version} QUIET)\n"
            'message(STATUS "found=${thinwire_FOUND} preload=${thinwire_PRELOAD_DIR}")\n'
        )
        build = tmp_path / version
        output = run(["cmake", "-S", ".", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"], tmp_path)
        assert f"found={1 if fits else 0}" in output, version
        assert not fits or f"preload={prefix}/lib" in output


def test_library_has_a_soname_and_exports_the_c_interface_alone(prefix: Path) -> None:
    library = prefix / "lib" / "libthinwire.so"
    assert library.resolve().name == "libthinwire.so.0.1.0"
    dynamic = run(["readelf", "-dW", library], prefix)
    assert "[libthinwire.so.0]" in dynamic
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic
    lines = run(["nm", "-D", "--defined-only", library], prefix).splitlines()
    exported = {line.split()[-1] for line in lines} - {"THINWIRE_0"}
    header = (prefix / "include" / "thinwire" / "thinwire.h").read_text()
    declared = set(re.findall(r"\b(tw_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.S)))
    assert {name.split("@")[0] for name in exported} == declared
    assert all(name.endswith("@@THINWIRE_0") for name in exported)


def test_components(tmp_path: Path) -> None:
    for component in ("runtime", "development"):
        folder = tmp_path / component
        run(["cmake", "--install", BUILD, "--component", component, "--prefix", folder], tmp_path)
    runtime, development = (files_under(tmp_path / name) for name in ("runtime", "development"))
    assert {"lib/libthinwire.so.0", "lib/libthinwire.so.0.1.0"} <= runtime
    assert "lib/libthinwire_mpi_openmpi4.so" in runtime
    assert all(re.fullmatch(r"lib/libthinwire[^/]*\.so[.0-9]*", name) for name in runtime)
    assert "lib/libthinwire.so" in development - runtime
    assert {"include/thinwire/thinwire.h", "lib/pkgconfig/thinwire.pc"} <= development
    assert not runtime & development
    assert not any("mpi_" in name and name.endswith(".so") for name in development)


# A project that has settings of its own, which Thinwire must not change, and a target each way.
PARENT = """
cmake_minimum_required(VERSION 3.22)
project(parent VERSION 7.5 LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
enable_testing()
foreach(name COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS TESTS)
  get_directory_property(before_${name} ${name})
endforeach()
@BRING@
foreach(name COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS TESTS)
  get_directory_property(after ${name})
  if(NOT "${after}" STREQUAL "${before_${name}}")
    message(FATAL_ERROR "${name} is now ${after}")
  endif()
endforeach()
foreach(name CMAKE_BUILD_TYPE CMAKE_CXX_VISIBILITY_PRESET CMAKE_POSITION_INDEPENDENT_CODE)
  if(NOT "${${name}}" STREQUAL "")
    message(FATAL_ERROR "${name} is now ${${name}}")
  endif()
endforeach()
if(NOT CMAKE_CXX_STANDARD EQUAL 17 OR NOT PROJECT_VERSION VERSION_EQUAL 7.5)
  message(FATAL_ERROR "a variable of the parent was changed")
endif()
foreach(target wave codec_cpu capi_test released_openmpi4)
  if(TARGET ${target})
    message(FATAL_ERROR "${target} is part of this build")
  endif()
endforeach()
add_subdirectory(@EXAMPLES@ c_api)
"""
ADD = "add_subdirectory(@ROOT@ thinwire)"
FETCH = (
    "include(FetchContent)\nFetchContent_Declare(thinwire SOURCE_DIR @ROOT@)\n"
    "FetchContent_MakeAvailable(thinwire)"
)


def configured_parent(bring: str, folder: Path) -> Path:
    text = PARENT.replace("@BRING@", bring)
    text = text.replace("@ROOT@", str(ROOT)).replace("@EXAMPLES@", str(EXAMPLES))
    (folder / "CMakeLists.txt").write_text(text)
    command = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DTHINWIRE_CUDA=OFF"]
    run([*command, f"-DCMAKE_INSTALL_PREFIX={folder / 'installed'}"], folder)
    return folder / "build"


@pytest.mark.parametrize("bring", [ADD, FETCH], ids=["add_subdirectory", "FetchContent"])
def test_inside_another_project(bring: str, tmp_path: Path) -> None:
    """Configures only; nothing but the library and the program is to be built or installed."""
    build = configured_parent(bring, tmp_path)
    targets = run(["ninja", "-C", build, "-t", "inputs", "all"], tmp_path).splitlines()
    assert any("c_api" in line for line in targets)
    assert not any("thinwire_mpi_" in line or "libthinwire_static" in line for line in targets)
    run(["cmake", "--install", build, "--component", "development"], tmp_path)
    assert not (tmp_path / "installed").exists() or not files_under(tmp_path / "installed")


@pytest.mark.slow
def test_inside_another_project_it_builds(tmp_path: Path) -> None:
    build = configured_parent(ADD, tmp_path)
    run(["cmake", "--build", build], tmp_path, timeout=1800)
    for program in PROGRAMS:
        said(program, run([build / "c_api" / program.replace(".", "_")], tmp_path))
