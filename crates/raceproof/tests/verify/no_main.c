// A library: who calls it, and from how many threads, is not known.
static int calls;

void count_call(void) {
    calls = calls + 1;
}
