// Many producers fill a buffer and many consumers empty it (figure 2).
shared buffer, L, empty, full;

job producer many {
    acquire L;
  again:
    branch done;
    wait empty, L;
    write buffer;
    signal full;
    goto again;
  done:
    release L;
}

job consumer many {
    acquire L;
  again:
    branch done;
    wait full, L;
    read buffer;
    signal empty;
    goto again;
  done:
    release L;
}
