// A thread waits until another one has published a pointer, and uses what is behind it.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

struct Settings {
    std::string name;
    std::vector<int> limits;
};

Settings settings;
std::atomic<Settings *> published;

#ifdef RACY
constexpr auto order = std::memory_order_relaxed;
#else
constexpr auto order = std::memory_order_acquire;
#endif

int main() {
    std::jthread writer([] {
        settings.name = "a name that is too long to be kept inside"; // RACE!
        settings.limits.push_back(1);                                // RACE!
        published.store(&settings, std::memory_order_release);
    });
    std::jthread reader([] {
        Settings *seen;
        while (!(seen = published.load(order)))
            ;
        seen->limits.push_back(2); // RACE!
        seen->name += '!';         // RACE!
    });
}
