/*
 * Commit, flush, checkpoint, recycling of journal files, crash and recovery; see protocol.md.
 *
 * Transactions 1 to TXS change one of two pages each, by a diff in a journal record: transaction i changes page i % 2. A page as of
 * transaction t is known by the transaction that changed it last. Every step of a role is one that a crash can come before or
 * after; roles are program counters of one process, so that a crash can take all of them back at once.
 */
#ifndef TXS
#define TXS 5
#endif
#ifndef CRASHES
#define CRASHES 2
#endif
#define CAP 2         /* records of a journal file */
#define EPOCHS 12     /* epochs of journal files, and where to stop */
#define TORN 255      /* a page that is neither the old nor the new one */

#define asOf(p, t) (((t) % 2 == (p)) -> (t) : ((t) == 0 -> 0 : (t) - 1))

/* On the medium. */
byte checkpoint = 0;          /* the one that the header names */
byte startEpoch = 0;          /* the epoch at which replay begins, also from the header */
bit durable[TXS + 1];           /* the record was written through */
byte epoch[TXS + 1];            /* of the file that contains it */
byte confirmed[TXS + 1];        /* the newest record that it says was durable, with all before */
bit gone[EPOCHS];             /* that epoch has ended: its file was reused or deleted */
byte medium[2];               /* the pages, as synced */
byte listed = 0;              /* the newest durable list of pages that a flush was about to overwrite */
byte stampMedium = 0;         /* of the data file: twice the number of the last flush, less one while that is unfinished */
byte headerStamp = 0;         /* the stamp of the data file as of the header */

/* Visible to the process. */
byte file[2];                 /* the pages, through the map */
byte stamp = 0;
byte number = 0;              /* flushes that were begun; a crash does not take it back, since the journal has it */
byte current = 0;             /* the newest epoch */
byte inCurrent = 0;           /* records in it */
byte submitted = 0;
byte published = 0;
byte acknowledged = 0;
byte issued = 0;              /* records whose write has begun: at most two after the published ones */
bit written = 0;              /* of two writes, the second has ended before the first */
bit failed = 0;               /* a write has failed: nothing more is written, published or acknowledged */
byte releasedBefore = 0;      /* epochs before this one may end */
byte detached = 0;            /* versions up to here are no longer in the table */
byte crashes = 0;

/* The flusher, and a reader. */
byte flusher = 0;
byte k = 0;
byte snapshot = 0;
bit reading = 0;

inline submit() {
    if
    :: inCurrent == CAP -> current++; inCurrent = 0
    :: else
    fi;
    submitted++;
    epoch[submitted] = current;
    inCurrent++;
#ifdef ACKNOWLEDGE_BEFORE_WRITE
    acknowledged = submitted;
#endif
}

/* A record is sealed when its write begins. */
inline issue() {
    issued++;
#ifdef CONFIRM_WRITE_UNDER_WAY
    confirmed[issued] = issued - 1;
#else
    confirmed[issued] = published;
#endif
}

/* The record of the first write is durable and published; the second one takes its place. */
inline finishWrite() {
    durable[published + 1] = 1;
    published++;
    if
    :: acknowledged < published -> acknowledged = published
    :: else
    fi;
    if
    :: written -> published++; acknowledged = published; written = 0
    :: else
    fi;
}

/* The second write ends first: its record is durable, but waits for the one before. */
inline finishSecond() {
    durable[published + 2] = 1;
#ifdef ACKNOWLEDGE_SECOND_FIRST
    acknowledged = published + 2;
#endif
    written = 1;
}

/* The first write fails, whether or not its record has reached the medium: the second record has an unknown outcome, even if it is durable. */
inline failWrite() {
    if
    :: durable[published + 1] = 1
    :: true
    fi;
    failed = 1;
#ifdef ACKNOWLEDGE_BEHIND_FAILURE
    if
    :: written -> acknowledged = published + 2
    :: else
    fi;
#endif
}

/* The flusher registers at the oldest snapshot: no other reader is older. */
inline choose() {
#ifdef FLUSH_PAST_DURABLE
    k = submitted;
#else
    k = published;
#endif
#ifndef FLUSH_PAST_READER
    if
    :: reading && snapshot < k -> k = snapshot
    :: else
    fi;
#endif
    if
    :: k > checkpoint -> flusher = 1
    :: else -> k = 0
    fi;
}

inline moveHeader() {
    checkpoint = k;
    startEpoch = epoch[k];
    headerStamp = stamp;
}

/* A reader finds the version of a page in the table, or reads the file, which must have the expected one. */
inline check(p) {
    if
    :: reading && asOf(p, snapshot) <= detached -> assert(file[p] == asOf(p, snapshot))
    :: else
    fi;
}

inline loseUnsynced(p) {
    if
    :: true                        /* nothing of it arrived */
    :: medium[p] = file[p]         /* all of it did */
    :: medium[p] != file[p] -> medium[p] = TORN
    fi;
}

byte t;
byte i;

/* A data file that has the header's stamp is that checkpoint's and no other's. */
#define checkStamp(first, second, s) assert(s != headerStamp || (first == asOf(0, checkpoint) && second == asOf(1, checkpoint)))


inline recover(p) {
    if
    :: asOf(p, t) > checkpoint ->
        /* Diffs are replayed over it. They rebuild the page from any mixture of old and new bytes; a list proves it. */
        assert(medium[p] != TORN || (listed > checkpoint && listed <= t));
        assert(medium[p] == TORN || medium[p] <= t)
    :: else ->
        assert(medium[p] == asOf(p, checkpoint))
    fi;
}

inline crash() {
    crashes++;
    if
    :: issued > published -> durable[published + 1] = 1
    :: true
    fi;
    if
    :: issued > published + 1 -> durable[published + 2] = 1
    :: true
    fi;
    loseUnsynced(0);
    loseUnsynced(1);
    if
    :: true
    :: stampMedium = stamp
    fi;

    /* Recovery refuses files of two moments: no crash may leave them. */
    assert(stampMedium == headerStamp || (stampMedium > headerStamp && stampMedium <= 2 * number));
    checkStamp(medium[0], medium[1], stampMedium);

    /* Recovery: from the checkpoint on, as far as records follow one another. */
    t = checkpoint;
    do
    :: t < TXS && durable[t + 1] && !gone[epoch[t + 1]] -> t++
    :: else -> break
    od;
    assert(t >= acknowledged);

    /* A durable record after a missing one is a hole, not a loss: what it confirms was durable when it was sealed. */
    i = t + 1;
    do
    :: i <= TXS -> assert(!durable[i] || confirmed[i] <= t); i++
    :: else -> break
    od;
    assert(t <= submitted);
    recover(0);
    recover(1);

    /* Records after the end of the journal are dropped; replayed versions are in the version table; a new epoch begins. */
    i = t + 1;
    do
    :: i <= TXS -> durable[i] = 0; epoch[i] = 0; confirmed[i] = 0; i++
    :: else -> break
    od;
    i = 0;
    submitted = t; published = t; acknowledged = t; issued = t; written = 0; failed = 0;
    if
    :: listed > t -> listed = 0
    :: else
    fi;
    file[0] = medium[0]; file[1] = medium[1];
    stamp = stampMedium;
    detached = checkpoint;
    releasedBefore = startEpoch;
    current++; inCurrent = 0;
    flusher = 0; k = 0;
    reading = 0; snapshot = 0;
    t = 0;
}

active proctype environment() {
    do
    /* Commit: a write may begin while one is under way, but not in another file. */
    :: atomic { submitted < TXS && submitted - published < 2 && current < EPOCHS - 2 -> submit() }
    :: atomic { !failed && issued < submitted && (issued == published || (!written && epoch[issued] == epoch[issued + 1])) -> issue() }
    :: atomic { !failed && issued > published -> finishWrite() }
    :: atomic { !failed && issued > published + 1 && !written -> finishSecond() }
    :: atomic { !failed && issued > published -> failWrite() }

    /* Flush. A record of its own, behind all submitted ones, lists the pages that are going to be overwritten. */
    :: atomic { flusher == 0 -> choose() }
#if defined(OVERWRITE_UNLISTED)
    :: atomic { flusher == 1 -> number++; flusher = 2 }
#elif defined(FLUSH_PAST_DURABLE)
    :: atomic { flusher == 1 -> listed = k; number++; flusher = 2 }
#else
    :: atomic { flusher == 1 && submitted == published && !failed -> listed = k; number++; flusher = 2 }
#endif
#if defined(STAMP_AT_END)
    :: atomic { flusher == 2 -> flusher = 12 }
#elif defined(STAMP_UNSYNCED)
    :: atomic { flusher == 2 -> stamp = 2 * number - 1; flusher = 12 }
#else
    :: atomic { flusher == 2 -> stamp = 2 * number - 1; flusher = 11 }
#endif
    :: atomic { flusher == 11 -> stampMedium = stamp; flusher = 12 }
    :: atomic { flusher == 12 && file[0] != asOf(0, k) -> file[0] = TORN; flusher = 3 }
    :: atomic { flusher == 12 && file[0] == asOf(0, k) -> flusher = 4 }
    :: atomic { flusher == 3 -> file[0] = asOf(0, k); flusher = 4 }
    :: atomic { flusher == 4 && file[1] != asOf(1, k) -> file[1] = TORN; flusher = 5 }
    :: atomic { flusher == 4 && file[1] == asOf(1, k) -> flusher = 13 }
    :: atomic { flusher == 5 -> file[1] = asOf(1, k); flusher = 13 }
    :: atomic { flusher == 13 -> stamp = 2 * number; flusher = 6 }
#ifdef SKIP_SYNC
    :: atomic { flusher == 6 -> flusher = 7 }
#else
    :: atomic { flusher == 6 -> medium[0] = file[0]; medium[1] = file[1]; stampMedium = stamp; flusher = 7 }
#endif
#ifdef RECYCLE_BEFORE_CHECKPOINT
    :: atomic { flusher == 7 -> releasedBefore = epoch[k]; flusher = 8 }
#else
    :: atomic { flusher == 7 -> flusher = 8 }
#endif
    :: atomic { flusher == 8 -> moveHeader(); flusher = 9 }
    :: atomic { flusher == 9 -> releasedBefore = startEpoch; flusher = 10 }
    :: atomic { flusher == 10 -> detached = checkpoint; flusher = 0; k = 0 }

    /* Recycling: any file before the one that the header names. */
    :: atomic { releasedBefore > 0 && !gone[releasedBefore - 1] -> gone[releasedBefore - 1] = 1 }
    :: atomic { releasedBefore > 1 && !gone[releasedBefore - 2] -> gone[releasedBefore - 2] = 1 }

    /* A reader. */
    :: atomic { !reading -> reading = 1; snapshot = published }
    :: atomic { reading -> reading = 0; snapshot = 0 }
    :: atomic { crashes < CRASHES -> crash() }
    od
}

/* The design's invariants of the ids and of the readers' pages, checked at every moment. */
active proctype invariants() {
    do
    :: atomic {
        assert(checkpoint <= published);
        assert(published <= submitted);
        assert(!reading || checkpoint <= snapshot);
        check(0);
        check(1);
        checkStamp(file[0], file[1], stamp)
    }
    od
}
