// A manipulator changes the format of a stream that another thread writes to.
#include <ios>
#include <mutex>
#include <sstream>
#include <thread>

int main() {
    std::ostringstream out;
    std::mutex mutex;
    std::thread writer([&] {
        std::lock_guard<std::mutex> guard(mutex);
        out << 12; // RACE!
    });
#ifdef RACY
    out.precision(3); // RACE!
#else
    {
        std::lock_guard<std::mutex> guard(mutex);
        out.precision(3);
    }
#endif
    writer.join();
    return 0;
}
