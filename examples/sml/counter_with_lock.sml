// A counter that many threads increment under a lock (figure 1 of the paper).
shared counter, L;

job increment many {
    acquire L;
    read counter;
    write counter;
    release L;
}
