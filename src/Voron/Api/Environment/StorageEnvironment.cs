using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Diagnostics;
using Voron.Maintenance;
using Voron.Opening;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>
/// An embedded store of ordered trees in a directory. It has one writer at a time and up to 65,535 concurrent readers, which never wait. Every commit
/// is durable when it returns, unless its <see cref="Durability"/> is lazy.
/// </summary>
/// <remarks>
/// All members are thread-safe. Across all processes, a directory can be open in one environment for writing, or in any number of read-only ones.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
[DebuggerTypeProxy(typeof(DebugView))]
public sealed partial class StorageEnvironment : IDisposable, IAsyncDisposable
{
    private static readonly TimeSpan ReclaimPatience = TimeSpan.FromSeconds(5);

    private readonly OpenedEngine _opened;
    private readonly Engine _engine;
    private readonly WritingParts? _writing;
    private readonly SingleClose _closing;
    private readonly EnvironmentDiagnostics _diagnostics;
    private readonly LongCalls _calls;
    private readonly BackupCalls _backups;
    private readonly CompactionCalls _compactions;
    private readonly BackgroundDeletions? _deletions;
    private readonly DropCalls? _drops;
    private readonly DictionaryCalls? _dictionaries;

    private StorageEnvironment(OpenedEngine opened)
    {
        _opened = opened;
        _engine = opened.Engine;
        Recovery = RecoveryDescription.Of(opened.Recovered);
        _closing = new SingleClose(Close);
        _diagnostics = new EnvironmentDiagnostics(opened);
        _calls = new LongCalls(opened);
        _backups = new BackupCalls(opened, _calls);
        _compactions = new CompactionCalls(opened, _calls);
        if (_engine.Options.ReadOnly)
            return;
        _engine.Above = _deletions = new BackgroundDeletions(RunOf(_engine.Options.CommitClock), RunOf(TimeProvider.System), _calls);
        _writing = opened.BeginWriting(() => Begin(TimeSpan.MaxValue, nameof(WriteAsync), CancellationToken.None));
        _drops = new DropCalls(opened, _calls);
        _dictionaries = new DictionaryCalls(opened, _calls);
    }

    /// <summary>The directory, or "memory".</summary>
    public string Path => _engine.Disk.Path;

    /// <summary>
    /// The name of the environment in metrics and activities: <see cref="StorageOptions.Name"/>, or else <see cref="Path"/>. If the process already
    /// has an open environment of that name, a number is added, as in <c>memory#2</c>.
    /// </summary>
    public string Name => _engine.Name.Text;

    /// <summary>The options with which the environment was opened: an immutable copy with the actual page size and memory limits.</summary>
    public StorageOptions Options => _engine.Options;

    /// <summary>Describes the findings of recovery in the journal when the environment was opened.</summary>
    public RecoveryReport Recovery { get; }

    /// <summary>The maximum length of a key in bytes.</summary>
    public int MaxKeyLength => Trees.Pages.TreeLimits.MaxKeyLength(_engine.PageSize);

    /// <summary>
    /// Returns statistics about the environment's activity and content. Takes no lock, waits for no other thread and calls no observer, so it suits
    /// health checks. Queries the free space of the volume from the system.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public EnvironmentStatistics GetStatistics() => _diagnostics.GetStatistics();

    /// <summary>Begins a read transaction on a snapshot of the committed state. Takes no lock and never waits.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="InvalidOperationException">65,535 read transactions are open, the maximum for an environment.</exception>
    public ReadTransaction BeginRead() => new(_opened.Readers.Rent());

    /// <summary>Begins the write transaction, after waiting until the previous one has been committed or disposed.</summary>
    /// <remarks>
    /// The wait has no limit. A dedicated thread that has begun the open transaction with this call would wait for itself, and gets an exception
    /// instead. The engine cannot detect this for pool threads and asynchronous code: after five seconds, the log names the holder
    /// (<c>WriterHeldForLong</c>), <see cref="EnvironmentStatistics.LongWriterWaits"/> and the metric count the wait, the current activity gets an
    /// event, and <see cref="ToString"/> names the open transaction. The overload with a timeout throws when the time is over.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The environment is read-only, or the call was made inside a group-commit operation, or by the thread that has begun the open transaction.
    /// </exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public WriteTransaction BeginWrite() => BeginWrite(TimeSpan.MaxValue);

    /// <summary>Begins the write transaction, after waiting at most a given time for the previous one to end.</summary>
    /// <param name="timeout">The maximum time to wait; <see cref="Timeout.InfiniteTimeSpan"/> for no limit.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="TimeoutException">Another write transaction is open and did not end in time.</exception>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    /// <inheritdoc cref="BeginWrite()"/>
    public WriteTransaction BeginWrite(TimeSpan timeout, CancellationToken cancellationToken = default) =>
        new(Begin(timeout, nameof(BeginWrite), cancellationToken));

    /// <summary>
    /// Begins the write transaction without blocking a thread while another write transaction is open. Await it: pool threads that block on its
    /// result can starve the thread that completes it. <see cref="BeginWrite()"/> blocks without needing a pool thread.
    /// </summary>
    /// <exception cref="OperationCanceledException">The call was cancelled while it waited.</exception>
    /// <inheritdoc cref="BeginWrite()"/>
    public async ValueTask<WriteTransaction> BeginWriteAsync(CancellationToken cancellationToken = default)
    {
        var writing = RequireWritable(nameof(BeginWriteAsync));
        var body = await writing.Entrance.BeginAsync(cancellationToken).ConfigureAwait(false);
        body.Durability = Options.Durability;
        return new WriteTransaction(body);
    }

    /// <summary>
    /// Updates the data file to the newest possible state: the published state, or the state that the oldest reader sees. First makes
    /// lazy commits durable.
    /// </summary>
    /// <returns>A description of the flush; null if there was nothing to do, or if a reader prevents it.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public FlushReport? Flush()
    {
        var writing = RequireWritable(nameof(Flush));
        return _engine.WhileOpen(writing.Flusher, static flusher => flusher.Flush());
    }

    /// <summary>
    /// Returns free space to the file system: truncates the free end of the data file, and punches holes into other free ranges of at least 64 KiB.
    /// Keeps space that an open reader may still need.
    /// </summary>
    /// <remarks>
    /// The length of the file may stay the same: a hole takes no space on the volume, but counts in the length, and a file not much longer than its
    /// pages keeps the space that was allocated ahead for its growth (<see cref="StorageOptions.MaxGrowthBytes"/>).
    /// </remarks>
    /// <returns>The number of bytes returned; also 0 while another call, or the background thread, is returning space.</returns>
    /// <exception cref="TimeoutException">A write transaction was open for five seconds. Space returned before that stays returned.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public long ReclaimSpace()
    {
        var writing = RequireWritable(nameof(ReclaimSpace));
        return _engine.WhileOpen(writing.Reclaimer, static reclaimer => reclaimer.Run(ReclaimPatience));
    }

    /// <summary>
    /// Verifies everything in a snapshot: trees, key order, counts, values, free space, the owner of each page, and checksums. Reads and writes
    /// continue meanwhile. Like any reader, the call keeps its snapshot until it ends.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call, which ended the call.</exception>
    /// <exception cref="InvalidOperationException">Too many backups and verifications are running.</exception>
    public VerificationReport Verify() => VerificationCall.Run(_engine);

    /// <summary>
    /// Closes the environment. Flushes as much as it can, so that the next opening has nothing to replay. Durable changes stay durable whatever
    /// happens during the call, and no commit is acknowledged after it. Any thread may call this method, except inside an operation of <c>Write</c>
    /// or <c>WriteAsync</c>; a second call returns immediately. To wait for a close that another thread has begun, await <see cref="DisposeAsync"/>.
    /// </summary>
    /// <remarks>
    /// Waits for writes in progress, however long the device takes. Waits up to five seconds for an open write transaction, which cannot be committed
    /// after that. Waits up to a minute for background work of the environment that has already begun, such as the deletion of old changes from
    /// feeds. Waits up to five seconds each for running observers and for the logger. Open read transactions can be used until they end. The
    /// directory can be opened again when the last transaction has ended, or immediately if none is open.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The call was made inside an operation of <c>Write</c> or <c>WriteAsync</c>, and would wait for itself.
    /// </exception>
    public void Dispose()
    {
        _writing?.GroupCommit.ThrowIfInside(nameof(Dispose));
        _closing.Run();
    }

    /// <summary>
    /// Closes the environment like <see cref="Dispose"/>, but on a background thread: neither the calling thread nor a pool thread
    /// waits for the device.
    /// </summary>
    /// <returns>
    /// A task that completes when the environment is closed. If another call of this method or of <see cref="Dispose"/> has begun to close it,
    /// the task completes with that call.
    /// </returns>
    /// <inheritdoc cref="Dispose"/>
    [SuppressMessage("Design", "CA1816", Justification = "There is no finalizer.")]
    public ValueTask DisposeAsync()
    {
        _writing?.GroupCommit.ThrowIfInside(nameof(DisposeAsync));
        return new ValueTask(_closing.RunInBackground());
    }

    /// <summary>Describes the environment by its path and its state.</summary>
    public override string ToString() => $"environment '{Path}' ({DescribeState()})";

    /// <summary>The parts that tests and the command-line tool need.</summary>
    internal EnvironmentInternals Internals => new(_opened, _drops?.Dropper);

    /// <summary>Returns the parts for writing, for a call that needs them.</summary>
    /// <param name="call">The member that was called.</param>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    internal WritingParts RequireWritable(string call)
    {
        if (_closing.HasBegun)
            throw EndedErrors.Environment(Path);
        if (_writing is not { } writing)
            throw new InvalidOperationException($"{call} is not possible: the environment in '{Path}' is open for reading only.");
        writing.GroupCommit.ThrowIfInside(call);
        _engine.Poison.ThrowIfPoisoned();
        return writing;
    }

    private WriteTransactionBody Begin(TimeSpan timeout, string call, CancellationToken cancellationToken)
    {
        var body = RequireWritable(call).Entrance.Begin(timeout, cancellationToken);
        body.Durability = Options.Durability;
        return body;
    }

    private void Close()
    {
        try
        {
            new EnvironmentCloser(_opened).Close();
        }
        finally
        {
            _diagnostics.End();
        }
    }

    private string DescribeState() =>
        _closing.HasBegun ? "closed"
        : _engine.Poison.IsPoisoned ? "poisoned: refuses writes"
        : _writing is not { } writing ? "open for reading"
        : writing.Transactions.IsOpen ? DescribeTransaction(writing.Writer)
        : "open";

    private static string DescribeTransaction(SingleWriter writer) =>
        $"open, write transaction {writer.TransactionId} for {Environment.TickCount64 - writer.Origin.BeganTick} ms, begun by thread {writer.BeganBy}";

    /// <summary>The environment as a debugger shows it, open or closed.</summary>
    private sealed class DebugView(StorageEnvironment environment)
    {
        public string Path => environment.Path;

        public string Name => environment.Name;

        public string State => environment.DescribeState();

        public StorageOptions Options => environment.Options;

        public RecoveryReport Recovery => environment.Recovery;

        /// <summary>Null when the environment is closed.</summary>
        public EnvironmentStatistics? Statistics
        {
            get
            {
                try
                {
                    return environment.GetStatistics();
                }
                catch (Exception)
                {
                    return null;
                }
            }
        }
    }
}
