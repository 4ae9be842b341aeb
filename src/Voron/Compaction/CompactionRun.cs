using System.Diagnostics;
using Voron.Flushing;
using Voron.Primitives;
using Voron.Staging;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Compaction;

/// <summary>
/// Shortens the data file while other callers read and write: moves the content of its tail to free pages before it, and cuts the tail off.
/// </summary>
/// <remarks>
/// <code>
///   flushed ─▶ planned ─▶ tail withheld ─▶ values ─▶ branches, leaves ─▶ maps ─▶ flushed, cut ─▶ planned again, or done
///                              ▲  each batch:  found under a snapshot ─▶ moved in a short transaction ─┐
///                              └───────────────────────────────────────────────────────────────────────┘
/// </code>
/// Each transaction leaves all trees intact, so a run that ends at any point, by cancellation, closing or a crash, leaves nothing to resume. Values
/// move first, because single pages would otherwise occupy places that fit several contiguous pages.
/// <para>
/// After every <see cref="BytesBetweenFlushes"/>, a flush bounds the journal and the page versions, and allows free pages of the tail to be
/// returned. If a reader holds the flusher back for too long, the run ends and names the reader.
/// </para>
/// </remarks>
internal sealed partial class CompactionRun : IDisposable
{
    /// <summary>The number of moved bytes after which a flush is made.</summary>
    private const long BytesBetweenFlushes = 64L << 20;

    /// <summary>
    /// The bytes of allocated blocks after which the empty parts of the tail are returned. This limits the extra space of the file during a run.
    /// </summary>
    private const long BytesBetweenReturns = 128L << 20;

    /// <summary>The maximum number of passes: other callers may have taken the places of some pages.</summary>
    private const int MaxPasses = 3;

    /// <summary>How often a pass restarts the search for single free pages before the tail.</summary>
    private const int MaxRestarts = 2;

    /// <summary>The number of places that are found before they are moved: a transaction moves as many of them as it has time for.</summary>
    private const int MostFound = 256;

    /// <summary>The number of polls, with pauses, that find remaining versions before the run detaches them.</summary>
    private const int PollsBeforeDetaching = 25;

    private static readonly TimeSpan TimeOfTransaction = TimeSpan.FromMilliseconds(2);

    private static readonly TimeSpan ReaderPause = TimeSpan.FromMilliseconds(20);

    private static readonly TimeSpan WriterPatience = TimeSpan.FromSeconds(1);

    private readonly Engine _engine;
    private readonly SingleWriter _writer;
    private readonly Flusher _flusher;
    private readonly SpaceReclaimer _reclaimer;
    private readonly CompactionOptions _options;
    private readonly CancellationToken _stop;
    private readonly RenewedSnapshot _snapshot;
    private readonly CompactionWriter _transactions;
    private readonly TailScan _scan;
    private readonly ValueMover _values;
    private readonly PageMover _mover;
    private readonly BytePace _pace;
    private readonly List<(byte[]? Tree, byte[] Key)> _found = [];
    private readonly long _began = Stopwatch.GetTimestamp();
    private long _movedBytes;
    private long _expectedBytes;
    private long _movedSinceFlush;
    private long _settledId;
    private long _plannedId;
    private long _awaitedId;
    private int _polls;
    private int _valuesLeft;
    private bool _isTailGone;
    private bool _isFull;
    private int _restarts;
    private int _restarted;
    private SlowReaderReport? _blockedBy;

    /// <param name="engine">The environment, which the caller keeps in use.</param>
    /// <param name="writer">Its writer.</param>
    /// <param name="parts">The services that the run uses.</param>
    /// <param name="options">The options.</param>
    /// <param name="stop">Cancels the run.</param>
    public CompactionRun(Engine engine, SingleWriter writer, in CompactionParts parts, CompactionOptions options, CancellationToken stop)
    {
        _engine = engine;
        _writer = writer;
        _flusher = parts.Flusher;
        _reclaimer = parts.Reclaimer;
        _options = options;
        _stop = stop;
        _pace = new BytePace(options.MaxBytesPerSecond);
        _snapshot = new RenewedSnapshot(engine);
        _transactions = new CompactionWriter(engine, writer, parts.Entrance, options.IsOnOneThread);
        _scan = new TailScan(_snapshot);
        _values = new ValueMover(engine, parts.Staging, _snapshot, _transactions);
        _mover = new PageMover(writer.WritePages, options.IsOnOneThread ? TimeSpan.MaxValue : TimeOfTransaction);
    }

    public void Dispose() => _snapshot.Dispose();

    /// <summary>Compacts the environment.</summary>
    public async Task<CompactionReport> RunAsync()
    {
        var bytesBefore = FileBytes;
        _reclaimer.LongestHold = TimeSpan.Zero;
        _flusher.Flush();
        var passes = await RunPassesAsync().ConfigureAwait(false);
        var isCut = await FinishAsync().ConfigureAwait(false);
        var left = MakePlan();
        var valuesLeft = _valuesLeft + _mover.ExtentsStillInTail;
        return new CompactionReport
        {
            BytesBefore = bytesBefore,
            BytesAfter = FileBytes,
            UsedBytes = left.UsedPages * _engine.PageSize,
            BytesMoved = _movedBytes,
            Passes = passes,
            ValuesLeft = valuesLeft,
            IsComplete = isCut && valuesLeft == 0 && !left.IsWorthwhile(_engine.PageSize),
            BlockedBy = _blockedBy,
            LongestWriterHold = _transactions.LongestHold > _reclaimer.LongestHold ? _transactions.LongestHold : _reclaimer.LongestHold,
            Duration = Stopwatch.GetElapsedTime(_began),
        };
    }

    private async Task<int> RunPassesAsync()
    {
        var passes = 0;
        try
        {
            for (var hasMoved = true; hasMoved && passes < MaxPasses && _blockedBy == null; passes++)
            {
                var plan = MakePlan();
                if (!plan.IsWorthwhile(_engine.PageSize))
                    break;
                var before = _movedBytes;
                _plannedId = plan.TransactionId;
                await RunPassAsync(plan).ConfigureAwait(false);
                hasMoved = _movedBytes > before;
            }
        }
        catch (StorageFullException)
        {
            // The caller needs the space that has been emptied so far.
            await TryFinishAsync().ConfigureAwait(false);
            throw;
        }

        return passes;
    }

    // Nothing more can be moved in this pass.
    private bool IsOver => _isTailGone || _isFull || _blockedBy != null;

    private long FileBytes => _engine.DataFile.CapacityPages * _engine.PageSize;

    private CompactionPlan MakePlan()
    {
        _snapshot.Take();
        try
        {
            return CompactionPlan.Make(_engine.Layout, _snapshot.Pages, _engine.Reserved!.Pages);
        }
        finally
        {
            _snapshot.Release();
        }
    }

    private async Task RunPassAsync(CompactionPlan plan)
    {
        _scan.TailStart = plan.TailStart;
        _expectedBytes = _movedBytes + plan.PagesToMove * _engine.PageSize;
        _mover.SetPlace = default;
        _mover.ExtentsStillInTail = 0;
        (_isTailGone, _isFull, _restarts, _restarted, _valuesLeft) = (false, false, 0, 0, 0);
        try
        {
            await WithholdAsync(plan.TailStart).ConfigureAwait(false);
            await MoveValuesAsync().ConfigureAwait(false);
            await MovePagesAsync().ConfigureAwait(false);
            await MoveMapsAsync().ConfigureAwait(false);
            if (_blockedBy == null)
                await WaitForReadersAsync(() => TryCutAsync(cutsAll: false)).ConfigureAwait(false);
        }
        finally
        {
            _writer.RunWhenFree(_writer.WritePages.Space.OfferTail);
        }
    }

    // Other callers must find the free pages before the tail immediately, or they would be offered the tail.
    private async Task WithholdAsync(long page)
    {
        while (await _transactions.UseAsync(pages => pages.Space.ExamineSome(), _stop).ConfigureAwait(false))
            _stop.ThrowIfCancellationRequested();
        await _transactions.UseAsync(
            pages =>
            {
                pages.Space.WithholdTail(page);
                return true;
            },
            _stop).ConfigureAwait(false);
    }

    // Long values first: they fit in the fewest places.
    private async Task MoveValuesAsync()
    {
        await MoveValuesAsync(isShort: false, MoveLongAsync).ConfigureAwait(false);
        await MoveValuesAsync(isShort: true, (name, keys) => AddAsync(name, keys, isValue: true)).ConfigureAwait(false);
        await MoveFoundAsync(isValue: true).ConfigureAwait(false);
    }

    private async Task MoveValuesAsync(bool isShort, Func<byte[], List<byte[]>, Task> move)
    {
        var keys = new List<byte[]>();
        for (byte[]? name = null; !IsOver && (name = _scan.NextTree(name, out var hasExtents)) != null;)
        {
            for (var from = hasExtents ? TreeTail.First() : null; from != null && !IsOver;)
            {
                keys.Clear();
                _scan.FindValues(name, isShort, ref from, keys);
                await move(name, keys).ConfigureAwait(false);
            }
        }
    }

    private async Task MoveLongAsync(byte[] name, List<byte[]> keys)
    {
        foreach (var key in keys)
        {
            if (IsOver)
                return;
            _values.MovedBytes = 0;
            var outcome = await _values.MoveAsync(name, key, _scan.TailStart, _stop).ConfigureAwait(false);
            _isTailGone = outcome == ValueOutcome.NoTail;
            if (outcome is ValueOutcome.NoPlace or ValueOutcome.StillInTail)
                _valuesLeft++;

            // Paid afterwards: a pause during the move would keep flushes waiting for the value's snapshot.
            await _pace.PauseAsync(_values.MovedBytes, _stop).ConfigureAwait(false);
            await NoteMovedAsync(_values.MovedBytes).ConfigureAwait(false);
        }
    }

    private async Task MovePagesAsync()
    {
        await MovePagesAsync(null).ConfigureAwait(false);
        for (byte[]? name = null; !IsOver && (name = _scan.NextTree(name, out _)) != null;)
            await MovePagesAsync(name).ConfigureAwait(false);
        await MoveFoundAsync(isValue: false).ConfigureAwait(false);
    }

    private async Task MovePagesAsync(byte[]? name)
    {
        var keys = new List<byte[]>();
        for (var from = TreeTail.First(); from != null && !IsOver;)
        {
            keys.Clear();
            _scan.FindPages(name, ref from, keys);
            await AddAsync(name, keys, isValue: false).ConfigureAwait(false);
        }
    }

    // If thousands of trees have one page each in the tail, one transaction moves the pages of many trees.
    private async Task AddAsync(byte[]? name, List<byte[]> keys, bool isValue)
    {
        foreach (var key in keys)
            _found.Add((name, key));
        if (_found.Count >= MostFound)
            await MoveFoundAsync(isValue).ConfigureAwait(false);
    }

    private async Task MoveFoundAsync(bool isValue)
    {
        for (var next = 0; next < _found.Count && !IsOver;)
        {
            await MoveInTransactionAsync(body => TryMoveSome(body, isValue, ref next)).ConfigureAwait(false);
            if (next == _found.Count || _mover.Obstacle != MoveObstacle.NoPlace)
                continue;
            if (!isValue && !TryRestart())
                break;
            if (isValue)
            {
                _valuesLeft++;
                next++;
            }
        }

        _found.Clear();
    }

    private async Task MoveMapsAsync()
    {
        for (var group = 0L; group >= 0 && !IsOver;)
        {
            await MoveInTransactionAsync(body => MapMover.TryMoveSome(body.WritePages, _mover, ref group)).ConfigureAwait(false);
            if (_mover.Obstacle == MoveObstacle.NoPlace && !TryRestart())
                return;
        }
    }

    // Other callers may have freed pages that the search for single pages has already passed.
    private bool TryRestart()
    {
        _restarts++;
        _isFull = _restarts > MaxRestarts;
        return !_isFull;
    }

    private bool TryMoveSome(WriteTransactionBody body, bool isValue, ref int next)
    {
        var (opened, state) = (_found[next].Tree, Open(body, _found[next].Tree));
        for (; next < _found.Count; next++)
        {
            var (name, key) = _found[next];
            if (!ReferenceEquals(name, opened))
                (opened, state) = (name, Open(body, name));

            // Deleted or renamed since.
            if (state == null)
                continue;
            var isMoved = isValue
                ? TreeMover.TryMoveExtent(body.WritePages, state, key, _mover)
                : TreeMover.TryMovePages(body.WritePages, state, key, _mover);
            if (!isMoved)
                return false;
        }

        return true;
    }

    private static TreeState? Open(WriteTransactionBody body, byte[]? name) => name == null ? body.Catalog : body.OpenTree(name)?.SettledState();

    // Moved pages are committed even if the work did not finish.
    private async Task MoveInTransactionAsync(Func<WriteTransactionBody, bool> work)
    {
        bool needsBlocks;
        do
        {
            SchedulePoint.Reach(SchedulePlace.CompactionFound);
            await _transactions.RunAsync(
                body =>
                {
                    if (_restarts > _restarted)
                        body.WritePages.Space.Low.Restart();
                    _restarted = _restarts;
                    _isTailGone = !_mover.TryBegin();
                    if (!_isTailGone)
                        work(body);
                    return _mover.Bytes > 0;
                },
                _stop).ConfigureAwait(false);
            needsBlocks = _mover.Obstacle == MoveObstacle.NoBlocks;
            await _pace.PauseAsync(_mover.Bytes, _stop).ConfigureAwait(false);
            await NoteMovedAsync(_mover.Bytes).ConfigureAwait(false);
            if (needsBlocks)
                await MakeBlocksAsync(_mover.Unprepared).ConfigureAwait(false);
        }
        while (needsBlocks && !IsOver);
    }

    private Task MakeBlocksAsync(long section) =>
        _transactions.MakeBlocksAsync(section * _engine.Layout.PagesPerSection, _engine.Layout.PagesPerSection, _stop);

    private async Task NoteMovedAsync(long bytes)
    {
        _movedBytes += bytes;
        _movedSinceFlush += bytes;
        if (bytes > 0)
            _options.Progress?.Report(new CompactionProgress(_movedBytes, Math.Max(_movedBytes, _expectedBytes), FileBytes));
        if (_movedSinceFlush >= BytesBetweenFlushes)
            await FlushAsync().ConfigureAwait(false);
        if (_transactions.MadeBytes < BytesBetweenReturns)
            return;
        _transactions.MadeBytes = 0;
        await WaitForReadersAsync(() => TryCutAsync(cutsAll: false)).ConfigureAwait(false);
        await ReclaimAsync(() => _reclaimer.TryPunch(WriterPatience)).ConfigureAwait(false);
    }
}

/// <summary>The services of the environment that a compaction uses.</summary>
/// <param name="Entrance">Gives the run the writer.</param>
/// <param name="Flusher">Writes the moved pages to the data file.</param>
/// <param name="Reclaimer">Shortens the file.</param>
/// <param name="Staging">Writes large values without the writer.</param>
internal readonly record struct CompactionParts(WriterEntrance Entrance, Flusher Flusher, SpaceReclaimer Reclaimer, StagingArea Staging);
