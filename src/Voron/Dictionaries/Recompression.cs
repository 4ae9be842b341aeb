using System.Diagnostics;
using Voron.Format;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Dictionaries;

/// <summary>
/// Rewrites the values of a tree that are compressed differently from new ones, and drops the dictionaries that no value uses afterwards.
/// </summary>
/// <remarks>
/// <code>
///   snapshot: find the next value that is to be rewritten ─▶ transaction: rewrite it and those behind it, for 2 ms ─┐
///        ▲                                                                                                          │
///        └──────────────────────────────────────────────────────────────────────────────────────────────────────────┘
///   no such value ─▶ transaction: drop the older dictionaries
/// </code>
/// The pass begins when the newest dictionary is durable, and writers use no older one from then on: values that the pass has left behind need no
/// second pass. If the settings of the tree change meanwhile, nothing is dropped. The tree is the only state: after a cancellation or a crash, the
/// next call skips the rewritten values.
/// </remarks>
/// <param name="engine">The environment.</param>
/// <param name="entrance">Gives the writer to the transactions.</param>
/// <param name="treeName">The bytes of the name of the tree.</param>
/// <param name="treeId">The id of the tree.</param>
internal sealed class Recompression(ReadingEngine engine, WriterEntrance entrance, byte[] treeName, uint treeId)
{
    private const long BytesOfStep = 4 << 20;
    private const int PartOfTransaction = 8;

    private static readonly TimeSpan MaxHold = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan SnapshotHold = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan HoldBesideOthers = TimeSpan.FromMicroseconds(500);

    private readonly byte[] _value = new byte[PackedValue.MostBytes];
    private CompressionSettings _settings;
    private int _target;
    private byte[] _from = [];
    private bool _isGone;
    private bool _isAtEnd;

    /// <summary>The number of values that were rewritten.</summary>
    public long Rewritten { get; private set; }

    /// <summary>The number of entries that were examined.</summary>
    public long Entries { get; private set; }

    /// <summary>The number of dictionaries that were dropped.</summary>
    public long Dropped { get; private set; }

    /// <exception cref="CorruptionException">A value or a page is damaged. Rewritten values stay rewritten.</exception>
    /// <exception cref="OperationCanceledException">Cancelled. Rewritten values stay rewritten.</exception>
    public async Task RunAsync(CancellationToken stop)
    {
        var began = Stopwatch.GetTimestamp();
        if (!TryBegin())
            return;
        while (!PlantedFault.DropNamedDictionaries && TryFindNext(stop))
            await ShortCommit.RunAsync(entrance, RewriteSome, stop).ConfigureAwait(false);
        if (_isGone)
            return;

        // If no value uses a dictionary, the last one is dropped too; the settings keep its number.
        var below = _target == 0 ? _settings.LastDictionary + 1 : _target;
        await ShortCommit.RunAsync(
            entrance, body => (Dropped = body.DropDictionaries(treeId, below, _settings.Changes)) > 0, stop).ConfigureAwait(false);
        var milliseconds = (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        DictionaryLog.Recompressed(engine.Logger, treeId, engine.Disk.Path, Rewritten, Entries, Dropped, milliseconds);
    }

    private bool TryBegin()
    {
        using var reading = new EngineSnapshot(engine);
        if (!CompressedTrees.TryFind(reading.Snapshot, treeId, out _, out _settings))
            return false;
        var isUsed = _settings.Mode != 0 && _settings.LastDictionary != 0
            && CompressedTrees.HasDictionary(reading.Snapshot, treeId, _settings.LastDictionary);
        _target = isUsed ? _settings.LastDictionary : 0;
        return true;
    }

    // Looks for the next value without holding the writer, and renews the snapshot now and then. False at the end of the tree.
    private bool TryFindNext(CancellationToken stop)
    {
        while (!_isAtEnd)
        {
            stop.ThrowIfCancellationRequested();
            if (TryFindInSnapshot())
                return !_isGone;
        }

        return false;
    }

    // Returns true if a value was found, or the tree no longer exists. Records the position to continue from.
    private bool TryFindInSnapshot()
    {
        using var reading = new EngineSnapshot(engine);
        var pages = reading.Snapshot;
        _isGone = !Catalog.TryFind(new TreeState(pages.State.Catalog), pages, treeName, out var header) || header.TreeId != treeId;
        if (_isGone)
            return true;
        var began = Stopwatch.GetTimestamp();
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(header), pages, canChange: false);
        try
        {
            for (var found = Seek(cursor); found; found = cursor.MoveNext())
            {
                var mustRewrite = MustRewrite(cursor);
                if (mustRewrite || Stopwatch.GetElapsedTime(began) > SnapshotHold)
                {
                    _from = cursor.Key.ToArray();
                    return mustRewrite;
                }

                Entries++;
            }

            _isAtEnd = true;
            return false;
        }
        finally
        {
            cursor.Close();
        }
    }

    private bool Seek(TreeCursor cursor) => _from.Length == 0 ? cursor.SeekFirst() : cursor.Seek(_from);

    private bool RewriteSome(WriteTransactionBody body)
    {
        if (body.OpenTree(treeName) is not { } tree || tree.StateAsIs.TreeId != treeId)
        {
            _isGone = true;
            return false;
        }

        var began = Stopwatch.GetTimestamp();
        var (bytes, before) = (0L, Rewritten);
        var state = tree.SettledState();
        var cursor = new TreeCursor();
        cursor.Open(state, body.WritePages);
        try
        {
            for (var found = Seek(cursor); found; found = cursor.MoveNext())
            {
                if (bytes >= BytesOfStep || (bytes > 0 && IsLongEnough(body, began)))
                {
                    _from = cursor.Key.ToArray();
                    return true;
                }

                Entries++;
                if (MustRewrite(cursor))
                    bytes += Rewrite(body, state, cursor);
            }

            _isAtEnd = true;
            return Rewritten > before;
        }
        finally
        {
            cursor.Close();
        }
    }

    private bool IsLongEnough(WriteTransactionBody body, long began)
    {
        var held = Stopwatch.GetElapsedTime(began);
        return held >= MaxHold || (held >= HoldBesideOthers && engine.WriterLock!.HasQueue)
            || body.WritePages.ChangedBytes >= engine.Options.MaxTransactionBytes / PartOfTransaction;
    }

    private long Rewrite(WriteTransactionBody body, TreeState state, TreeCursor cursor)
    {
        // Copied, since the change moves the bytes of the page.
        var length = (int)cursor.ValueLength;
        cursor.Value.CopyTo(_value);
        var key = cursor.Key.ToArray();
        if (!cursor.TryGetPacked(out _)
            && body.Context.Packer.Pack(treeId, 0, body.WritePages.PageSize, key.Length, _value.AsSpan(0, length)).Kind != ValueKind.Extended)
            return length;
        TreeWriter.Put(body.WritePages, state, key, _value.AsSpan(0, length));
        Rewritten++;
        return length;
    }

    private bool MustRewrite(TreeCursor cursor)
    {
        var isPacked = cursor.TryGetPacked(out var packed);
        if (_settings.Mode == 0 || isPacked)
            return isPacked && (_settings.Mode == 0 || packed.Dictionary != _target);
        return !cursor.HasLargeValue && cursor.ValueLength is >= PackedValue.LeastBytes and <= PackedValue.MostBytes;
    }
}
