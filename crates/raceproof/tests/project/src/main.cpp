#include <cstdio>
#include <thread>

#include "count.h"

extern "C" int one();

int main(int argc, char **argv) {
    auto work = [] {
        bump();
        if (peek() > 1)
            std::printf("%d\n", scaled(peek()));
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    return argc > 1 && argv[1][0] == 'x' ? 7 : one() - 1;
}
