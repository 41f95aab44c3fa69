// A stream copies the text that it is made of: from a string that another thread changes.
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

int main() {
    std::string text = "12 and so much more that the text has a block of its own";
    std::mutex mutex;
    int n = 0;
    std::thread reader([&] {
#ifndef RACY
        std::lock_guard<std::mutex> guard(mutex);
#endif
        std::istringstream in(text); // RACE!
        in >> n;
    });
    {
        std::lock_guard<std::mutex> guard(mutex);
        text[0] = '2'; // RACE!
    }
    reader.join();
    return n > 99;
}
