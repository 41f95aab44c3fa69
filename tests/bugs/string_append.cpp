// Java's StringBuffer.append (Flanagan and Qadeer, PLDI 2003) in C++: the length is asked under one lock, the text copied under the next.
#include <cassert>
#include <cstring>
#include <mutex>
#include <thread>

class Buffer {
public:
    explicit Buffer(const char *text) : length_(std::strlen(text)) { std::memcpy(text_, text, length_); }

    void append(Buffer &other) {
#ifdef RIGHT
        std::scoped_lock guard(mutex_, other.mutex_);
        std::size_t length = other.length_;
#else
        std::lock_guard guard(mutex_);
        std::size_t length = other.length();
        std::lock_guard guard_of_other(other.mutex_);
#endif
        assert(length <= other.length_); // ASSERT
        std::memcpy(text_ + length_, other.text_, length);
        length_ += length;
    }

    std::size_t length() {
        std::lock_guard guard(mutex_);
        return length_;
    }

    void clear() {
        std::lock_guard guard(mutex_);
        length_ = 0;
    }

private:
    std::mutex mutex_;
    char text_[32];
    std::size_t length_;
};

int main() {
    Buffer first("key"), second("value");
    std::thread thread([&] { second.clear(); });
    first.append(second);
    thread.join();
    return first.length() >= 3 ? 0 : 1;
}
