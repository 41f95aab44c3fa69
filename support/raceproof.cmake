# A CMake toolchain: cmake -B build -DCMAKE_TOOLCHAIN_FILE=.../raceproof.cmake
# Every C and C++ source is compiled by `raceproof cc` and `raceproof c++`; RACEPROOF names the program to use.
find_program(RACEPROOF raceproof REQUIRED)
find_program(RACEPROOF_ASSEMBLER NAMES clang-19 clang REQUIRED)
set(CMAKE_C_COMPILER ${RACEPROOF} cc)
set(CMAKE_CXX_COMPILER ${RACEPROOF} c++)
set(CMAKE_ASM_COMPILER ${RACEPROOF_ASSEMBLER})
# Try-compiles see this file again, but not the cache.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RACEPROOF)
