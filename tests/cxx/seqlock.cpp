// A value that one thread writes and others read without locks: a reader tries again if the number of writes changed. The
// racy twin keeps the value itself in plain memory.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <optional>
#include <thread>
#include <type_traits>

template <class T> class Seqlock {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(long) == 0);
    static constexpr size_t WORDS = sizeof(T) / sizeof(long);

public:
    void write(const T &value) {
        std::array<long, WORDS> words;
        std::memcpy(words.data(), &value, sizeof value);
        const unsigned number = number_.load();
        number_.store(number + 1);
        for (size_t i = 0; i < WORDS; i++)
            words_[i] = words[i]; // RACE!
        number_.store(number + 2);
    }

    /// Nothing if a write came in between.
    std::optional<T> try_read() const {
        const unsigned before = number_.load();
        if (before % 2 == 1)
            return std::nullopt;
        std::array<long, WORDS> words;
        for (size_t i = 0; i < WORDS; i++)
            words[i] = words_[i]; // RACE!
        if (number_.load() != before)
            return std::nullopt;
        T value;
        std::memcpy(&value, words.data(), sizeof value);
        return value;
    }

private:
    std::atomic<unsigned> number_{0};
#ifdef RACY
    std::array<long, WORDS> words_{};
#else
    std::array<std::atomic<long>, WORDS> words_{};
#endif
};

struct Position {
    long x;
    long y;
};

static Seqlock<Position> position;

int main() {
    std::thread writer([] { position.write({3, 3}); });
    auto seen = position.try_read();
    writer.join();
    return !seen || seen->x == seen->y ? 0 : 1;
}
