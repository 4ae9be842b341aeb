/*
 * Readers that register without a lock, the writer that drops versions, the flusher that joins the oldest reader and detaches
 * flushed versions; see protocol.md.
 *
 * One page, changed by each transaction: version v is that of transaction v, in a frame of its own. Fences are full, so memory is
 * sequentially consistent here; the effect of a missing fence is a planted fault.
 */
#ifndef TXS
#define TXS 4
#endif
#ifndef READERS
#define READERS 2
#endif
#define FLUSHER READERS       /* the flusher's own slot is the last one */
#define NONE 255
#ifndef ROUNDS
#define ROUNDS 1               /* transactions of each reader */
#endif
#ifndef FLUSHES
#define FLUSHES 2
#endif

byte published = 0;
byte horizon = 0;
byte sequence = 0;                 /* rises with each publication and each detach */

byte slot[READERS + 1] = NONE;     /* the snapshot that a reader is registered at */
byte slotSequence[READERS + 1];    /* the sequence that it took its state from */
byte uses[READERS + 1];            /* raised before a slot takes another state */
byte confirmed[READERS + 1];       /* the use that has passed the test of the horizon */

bit inTable[TXS + 1];              /* the version is in the page's chain */
bit reused[TXS + 1];               /* its frame is in use again */
byte detachedAt[TXS + 1];          /* the sequence of its detach; 0 for none */
byte inFile = 0;                   /* the version that the data file has */
bit writing = 0;                   /* the data file's page is being overwritten */

/*
 * The newest published state is copied to the slot; the horizon shows whether versions of it may be gone already. Steps
 * that only the slot's owner could distinguish are one step.
 */
inline register(me, s, h) {
    do
    :: true ->
#ifdef TEST_BEFORE_STORE
        atomic { s = published; h = horizon }
        atomic { uses[me] = uses[me] + 1; slotSequence[me] = sequence; slot[me] = s }
#else
        s = published;
        atomic { uses[me] = uses[me] + 1; slotSequence[me] = sequence; slot[me] = s }
        h = horizon;
#endif
        if
        :: atomic { h > s -> slot[me] = NONE; h = 0 }
        :: atomic { h <= s -> confirmed[me] = uses[me]; h = 0; break }
        fi
    od
}

proctype reader(byte me) {
    byte s;
    byte h;
    byte rounds = 0;
    do
    :: rounds < ROUNDS ->
        register(me, s, h);

        /* The newest version that it may see; then its bytes, some time later. */
        if
        :: atomic { inTable[s] -> skip }
           assert(!reused[s])
        :: atomic { !inTable[s] -> assert(inFile == s); assert(!writing) }
        fi;
        atomic { slot[me] = NONE; s = 0; h = 0; rounds++ }
    :: rounds == ROUNDS -> break
    od
}

/* Holds the writer's gate in turn with the flusher's detaching: both steps are atomic as a whole where the gate makes them so. */
bit gate = 0;

inline raiseHorizon(p) {
    if
    :: horizon < p -> horizon = p
    :: else
    fi
}

proctype writer() {
    byte p;
    byte i;
    byte v;
    bit kept;
    bit seen[TXS + 1];
    do
    :: published < TXS ->
        atomic { inTable[published + 1] = 1; published++; sequence++ }

        /* Prune versions that no reader can see. Only the writer publishes, so it knows the newest published version. */
#ifdef SCAN_BEFORE_HORIZON
        atomic { gate == 0 -> gate = 1; p = published; i = 0 }
#else
        atomic { gate == 0 -> gate = 1; p = published; i = 0; raiseHorizon(p) }
#endif
        do
        :: atomic { i <= READERS -> if :: slot[i] != NONE -> seen[slot[i]] = 1 :: else fi; i++ }
        :: atomic { i > READERS -> break }
        od;
#ifdef SCAN_BEFORE_HORIZON
        raiseHorizon(p);
#endif
        skip;
        d_step {
            v = 1;
            do
            :: v < p ->
                if
                :: inTable[v] && !seen[v] -> inTable[v] = 0; reused[v] = 1
                :: else
                fi;
                seen[v] = 0;
                v++
            :: else -> break
            od;
            v = 0; seen[0] = 0; seen[p] = 0
        }

        /* Reuse detached frames that no older reader can hold. */
        d_step {
            v = 1;
            do
            :: v <= TXS ->
                if
                :: detachedAt[v] != 0 && !reused[v] ->
                    kept = 0; i = 0;
                    do
                    :: i < READERS ->
#ifndef REUSE_WITHOUT_LOOKING
                        if :: slot[i] == v && slotSequence[i] < detachedAt[v] -> kept = 1 :: else fi;
#endif
                        i++
                    :: else -> break
                    od;
                    if :: !kept -> reused[v] = 1 :: else fi
                :: else
                fi;
                v++
            :: else -> break
            od;
            v = 0; i = 0; kept = 0; p = 0; gate = 0
        }
    :: else -> break
    od
}

proctype flusher() {
    byte k;
    byte oldest;
    byte use;
    byte i;
    byte h;
    byte own;
    byte flushes = 0;
    do
    :: flushes < FLUSHES ->
        flushes++;
        /* Registered itself, as any reader; then the oldest of the others. */
        register(FLUSHER, own, h);
        atomic { raiseHorizon(published); k = own; oldest = NONE; i = 0 }
        do
        :: atomic { i < READERS -> if :: slot[i] < k -> k = slot[i]; oldest = i :: else fi; i++ }
        :: atomic { i >= READERS -> i = 0; break }
        od;
        if
        :: oldest == NONE -> skip
        :: oldest != NONE ->
            /* Joined: the own slot says so before the other's is read again. From here on the own slot keeps it. */
            use = uses[oldest];
            if
#ifndef JOIN_UNCONFIRMED
            :: confirmed[oldest] != use -> k = inFile
            :: confirmed[oldest] == use ->
#else
            :: true ->
#endif
                slot[FLUSHER] = k;
                if
                :: slot[oldest] != k || uses[oldest] != use -> k = inFile
                :: else -> skip
                fi
            fi
        fi;
        if
        :: k > inFile ->
            assert(!reused[k]);
            writing = 1;
            atomic { assert(!reused[k]); inFile = k; writing = 0 }

            /* Checkpoint; then detach, with the writer held. */
            atomic {
                gate == 0;
                sequence++;
                i = 1;
                do
                :: i <= k ->
                    if :: inTable[i] -> inTable[i] = 0; detachedAt[i] = sequence :: else fi;
                    i++
                :: else -> break
                od;
                i = 0
            }
        :: k <= inFile -> skip
        fi;
        atomic { slot[FLUSHER] = NONE; k = 0; own = 0; oldest = 0; use = 0; i = 0; h = 0 }
    :: else -> break
    od
}

init {
    byte r;
    atomic {
        do
        :: r < READERS -> run reader(r); r++
        :: else -> break
        od;
        run writer();
        run flusher()
    }
}
