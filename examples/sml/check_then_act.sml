// One kind of thread changes the data under a lock, the other looks at it without (figure 5).
shared data, L;

job change many {
    acquire L;
    read data;
    write data;
    release L;
}

job check many {
    read data;
    branch otherwise;
    goto done;
  otherwise:
  done:
}
