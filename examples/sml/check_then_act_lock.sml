// As check_then_act.sml, but the data is looked at under the lock.
shared data, L;

job change many {
    acquire L;
    read data;
    write data;
    release L;
}

job check many {
    acquire L;
    read data;
    branch otherwise;
    goto done;
  otherwise:
  done:
    release L;
}
