// A line is read into a string whose characters another thread looks at through a pointer.
#include <sstream>
#include <string>
#include <thread>

int main() {
    std::string line = "a text that is long enough to be in a block of its own";
    const char *first = line.data();
    std::istringstream in("b\n");
    char seen = 0;
    std::thread reader([&] { seen = *first; }); // RACE!
#ifndef RACY
    reader.join();
#endif
    std::getline(in, line); // RACE!
#ifdef RACY
    reader.join();
#endif
    return seen == 'z';
}
