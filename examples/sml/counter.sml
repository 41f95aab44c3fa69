// A counter that many threads increment without a lock.
shared counter;

job increment many {
    read counter;
    write counter;
}
