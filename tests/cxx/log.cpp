// Lines are appended to one text.
#include <mutex>
#include <string>
#include <thread>

static std::mutex mutex;
static std::string log_text;

static void note(const char *line) {
#ifndef RACY
    std::lock_guard<std::mutex> guard(mutex);
#endif
    log_text += line; // RACE!
}

int main() {
    log_text.reserve(64);
    std::thread other(note, "other\n");
    note("main\n");
    other.join();
    return log_text.size() <= 12 ? 0 : 1;
}
