/* Backups beside flushes: snapshots that are renewed, the change log, and what has to be copied again.

   A page's content is the transaction that has written it last. Page DIRECT is free until one transaction writes it into the data file itself, so it
   has no version. A flush writes the pages up to the oldest snapshot, adds an entry to the log, moves the checkpoint, forgets direct writes, and
   detaches versions, one step at a time. The backup sweeps over the pages, renews its snapshot between any two steps, and then copies what is
   pending, in rounds. At its end, each page that its snapshot uses must have been copied as that snapshot has it.

   Registering a snapshot is one step here: readers.pml shows why it may be.

   Faults, to be found: LOOK_AT_LOG_FIRST, ENTRY_AFTER_DETACH, FORGET_DIRECT, READ_BEFORE_LOOKUP, FLUSH_PAST_SNAPSHOT, FORGET_PENDING. */

#ifndef TXS
#define TXS 3
#endif
#ifndef RENEWALS
#define RENEWALS 2
#endif
#ifndef FLUSHES
#define FLUSHES 2
#endif

#define PAGES 3
#define DIRECT 2
#define NONE 15

byte published = 0;         /* the newest state */
byte wrote[TXS + 1];        /* the pages that each transaction has changed, a bit each */
byte versions[PAGES];       /* the versions that are in memory, a bit for each transaction */
byte file[PAGES];           /* the data file: the transaction that has written each page */
byte direct = 0;            /* the transaction whose direct write is noted; 0 for none */
byte logged[TXS + 1];       /* the entry that goes up to a transaction: its pages */
byte entries = 0;           /* the entries that there are, a bit for each transaction */
byte checkpoint = 0;
byte snapshot = NONE;       /* that of the backup */
byte copies[PAGES];
byte pending = 0;

/* The newest version of a page up to a state, or 0; the content of a page as of a state. */
#define NEWEST(result, page, state) \
  result = state; \
  do \
  :: result > 0 && !(versions[page] & (1 << result)) -> result-- \
  :: else -> break \
  od
#define CONTENT(result, page, state) \
  result = state; \
  do \
  :: result > 0 && !(wrote[result] & (1 << page)) -> result-- \
  :: else -> break \
  od

proctype Writer()
{
  byte pages, page;
  do
  :: published < TXS ->
    if
    :: pages = 1
    :: pages = 2
    :: pages = 3
    :: direct == 0 && file[DIRECT] == 0 && pages == 0 -> pages = 1 | (1 << DIRECT)
    fi;
    if
    :: pages & (1 << DIRECT) ->
      /* Written and noted before the record is submitted. */
      file[DIRECT] = published + 1;
#ifndef FORGET_DIRECT
      direct = published + 1
#endif
    :: else
    fi;
    atomic {
      wrote[published + 1] = pages;
      page = 0;
      do
      :: page < DIRECT ->
        if
        :: pages & (1 << page) -> versions[page] = versions[page] | (1 << (published + 1))
        :: else
        fi;
        page++
      :: else -> break
      od;
      published++;
      pages = 0
    }
  :: else -> break
  od
}

proctype Flusher()
{
  byte flushes, to, page, found, changed, forgotten;
  do
  :: flushes < FLUSHES ->
    flushes++;
    atomic {
      to = published;
#ifndef FLUSH_PAST_SNAPSHOT
      if
      :: snapshot < to -> to = snapshot
      :: else
      fi;
#endif
      if
      :: to < checkpoint -> to = checkpoint
      :: else
      fi
    }
    if
    :: to > checkpoint ->
      changed = 0;
      page = 0;
      do
      :: page < DIRECT ->
        atomic {
          NEWEST(found, page, to);
          if
          :: found > 0 -> file[page] = found; changed = changed | (1 << page)
          :: else
          fi;
          page++
        }
      :: else -> break
      od;
      atomic {
        forgotten = (direct > 0 && direct <= to -> direct : 0);
        if
        :: forgotten > 0 -> changed = changed | (1 << DIRECT)
        :: else
        fi
      }
#ifndef ENTRY_AFTER_DETACH
      atomic { logged[to] = changed; entries = entries | (1 << to) }
#endif
      checkpoint = to;
      if
      :: forgotten > 0 -> direct = 0
      :: else
      fi;
      page = 0;
      do
      :: page < DIRECT -> versions[page] = versions[page] & ~((1 << (to + 1)) - 1); page++
      :: else -> break
      od;
#ifdef ENTRY_AFTER_DETACH
      atomic { logged[to] = changed; entries = entries | (1 << to) }
#endif
    :: else
    fi
  :: else -> break
  od
}

proctype Backup()
{
  byte at, page, found, since, renewals, content, i;
  snapshot = published;
  at = 0;
next:
  /* Renewed between any two pages, or not. */
  if
  :: renewals < RENEWALS ->
    renewals++;
    since = snapshot;
    snapshot = NONE;
    snapshot = published;
#ifdef LOOK_AT_LOG_FIRST
    atomic {
      i = since + 1;
      do
      :: i <= TXS -> if :: entries & (1 << i) -> pending = pending | logged[i] :: else fi; i++
      :: else -> break
      od
    }
#endif
    page = 0;
    do
    :: page < DIRECT ->
      atomic {
        NEWEST(found, page, snapshot);
        if
        :: found > since -> pending = pending | (1 << page)
        :: else
        fi;
        page++
      }
    :: else -> break
    od;
    atomic {
      if
      :: direct > since && direct <= snapshot -> pending = pending | (1 << DIRECT)
      :: else
      fi
    }
#ifndef LOOK_AT_LOG_FIRST
    atomic {
      i = since + 1;
      do
      :: i <= TXS -> if :: entries & (1 << i) -> pending = pending | logged[i] :: else fi; i++
      :: else -> break
      od
    }
#endif
#ifdef FORGET_PENDING
    pending = 0
#endif
  :: true
  fi;
  if
  :: at < PAGES -> page = at; at++
  :: at == PAGES && (pending & 1) -> page = 0
  :: at == PAGES && (pending & 2) -> page = 1
  :: at == PAGES && (pending & 4) -> page = 2
  :: at == PAGES && pending == 0 -> goto finished
  fi;
  atomic { CONTENT(content, page, snapshot) }
  if
  :: content == 0 && page == DIRECT -> pending = pending & ~(1 << page)      /* free */
  :: else ->
#ifdef READ_BEFORE_LOOKUP
    copies[page] = file[page];
    atomic {
      NEWEST(found, page, snapshot);
      if
      :: found > 0 -> copies[page] = found
      :: else
      fi
    }
#else
    atomic { NEWEST(found, page, snapshot) }
    if
    :: found > 0 -> copies[page] = found
    :: else -> copies[page] = file[page]
    fi;
#endif
    pending = pending & ~(1 << page)
  fi;
  goto next;
finished:
  atomic {
    page = 0;
    do
    :: page < PAGES ->
      CONTENT(content, page, snapshot);
      assert(copies[page] == content || (page == DIRECT && content == 0));
      page++
    :: else -> break
    od
  }
}

init
{
  atomic {
    run Writer();
    run Flusher();
    run Backup()
  }
}
