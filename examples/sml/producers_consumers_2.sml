// Producers and consumers that give the lock back between two turns, and wait only if they have to.
shared buffer, L, empty, full;

job producer many {
  again:
    acquire L;
    branch ready;
    wait empty, L;
  ready:
    write buffer;
    signal full;
    release L;
    goto again;
}

job consumer many {
  again:
    acquire L;
    branch ready;
    wait full, L;
  ready:
    read buffer;
    signal empty;
    release L;
    goto again;
}
