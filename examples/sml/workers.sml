// A thread creates workers without end. They wait for a start signal, sent to all, and count under a lock.
shared go, ready, counter, L;

job main {
    acquire L;
    write go;
    broadcast ready;
    release L;
  more:
    create worker;
    branch more;
    join worker;
    acquire L;
    read counter;
    release L;
}

job worker created {
    acquire L;
  check:
    read go;
    branch start;
    wait ready, L;
    goto check;
  start:
    read counter;
    write counter;
    release L;
}
