// A detached thread logs while the end of `main` destroys the log (CERT CON and the C++ Core Guidelines, CP.26).
#include <string>
#include <thread>

struct Log {
    std::string text;
    void add(const char *line) { text += line; } // RACE!
    ~Log() { text = "closed"; } // RACE!
};

static Log log_file;

int main() {
    std::thread thread([] { log_file.add("working\n"); }); // RACE!
#ifdef RIGHT
    thread.join();
#else
    thread.detach();
#endif
    return 0;
} // RACE!
