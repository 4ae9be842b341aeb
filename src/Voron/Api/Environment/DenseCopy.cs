using System.Diagnostics;
using System.Text;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Opening;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>Writes the trees of a snapshot to a new environment, in the order of their keys.</summary>
/// <remarks>
/// A transaction of the copy contains about 16 MiB: a part of a tree, or thousands of small trees. A failure or a cancellation
/// deletes the partial copy.
/// </remarks>
internal sealed class DenseCopy(
    OpenedEngine source, string directory, CompactionOptions options, Func<string, StorageOptions, ICopyTarget> open, CancellationToken stop)
{
    /// <summary>The number of bytes in one transaction of the copy.</summary>
    private const int BytesAtOnce = 16 << 20;

    private readonly ReadingEngine _engine = source.Engine;
    private readonly string _path = source.Engine.Disk.Path;
    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly BytePace _pace = new(options.MaxBytesPerSecond);

    private long _copied;
    private long _expected;

    // The open transaction of the copy, and the number of its bytes.
    private WriteTransaction? _writing;
    private long _pending;

    // The exception that the caller's progress has thrown, which is passed on unchanged.
    private Exception? _ofCaller;

    // Zero or negative if the next tree begins a transaction.
    private long Left => BytesAtOnce - _pending;

    public async Task<CompactionReport> RunAsync()
    {
        try
        {
            using var made = new NewEnvironmentDirectory(directory, _engine.Options.FileMode);
            var used = await CopyAsync(made.Part).ConfigureAwait(false);
            var report = new CompactionReport
            {
                BytesBefore = _engine.DataFile.CapacityPages * _engine.PageSize,
                BytesAfter = new FileInfo(Path.Combine(made.Part, DataFile.FileName)).Length,
                UsedBytes = used,
                BytesMoved = _copied,
                Passes = 1,
                IsComplete = true,
                Duration = Stopwatch.GetElapsedTime(_began),
            };
            made.Complete();
            return report;
        }
        catch (Exception e) when (e != _ofCaller && e is (DiskException or IOException or UnauthorizedAccessException))
        {
            throw TargetFailure.Of($"The compacted copy of '{_path}' could not be made in '{directory}': {e.Message}", e);
        }
    }

    private async Task<long> CopyAsync(string part)
    {
        // Pages verified long ago may have decayed since, and their copies would have valid checksums.
        using var reading = new ReadTransaction(source.Readers.RentVerifying());
        reading.MakeDurable();
        var target = open(part, TargetOptions());
        try
        {
            var trees = TreesOf(reading);
            var largeSets = reading.GetSystemTrees().Where(static tree => SystemTree.IsLargeSets(tree.Name));
            _expected = trees.Concat(largeSets).Sum(tree => tree.Header.Pages * _engine.PageSize);
            foreach (var (name, tree) in trees)
            {
                if (tree.Kind == TreeKind.Plain)
                    CopyCompression(reading, target, name, tree.TreeId);

                // The root page of the tree.
                _pending += _engine.PageSize;
                using var copy = TreeCopy.Begin(reading, name, tree.Kind);
                do
                {
                    var bytes = copy.CopySome(WritingTo(target), Left, stop);
                    Note(target, bytes);
                    await _pace.PauseAsync(bytes, stop).ConfigureAwait(false);
                }
                while (copy.HasMore);
            }

            Commit(target);
            var report = await target.CompactAsync(stop).ConfigureAwait(false);
            return report.UsedBytes;
        }
        finally
        {
            _writing?.Dispose();
            target.Dispose();
        }
    }

    // The trees of users and of tables, but no dropped trees, and none of feeds, because the transactions of the copy have other ids. Dictionaries
    // and large sets are copied with their trees.
    private static List<(byte[] Name, TreeHeader Header)> TreesOf(ReadTransaction reading)
    {
        var trees = new List<(byte[], TreeHeader)>();
        foreach (var name in reading.GetTreeNames())
        {
            _ = reading.GetTreeStatistics(name, out var header);
            trees.Add((Encoding.UTF8.GetBytes(name), header));
        }

        trees.AddRange(reading.GetSystemTrees().Where(
            tree => !SystemTree.IsOfFeeds(tree.Name) && !SystemTree.IsDictionaries(tree.Name) && !SystemTree.IsLargeSets(tree.Name)));
        return trees;
    }

    // The copy begins with the newest dictionary, so its values are as small as those of the source.
    private void CopyCompression(ReadTransaction reading, ICopyTarget target, byte[] name, uint treeId)
    {
        var settings = reading.GetCompression(treeId);
        if (settings.Mode == 0)
            return;

        // A transaction that installs a dictionary does nothing else.
        Commit(target);
        uint copyId;
        using (var writing = target.BeginWrite())
        {
            var tree = writing.CreateSystemTree(name);
            writing.SetCompression(tree, (ValueCompression)settings.Mode);
            copyId = tree.TreeId;
            writing.Commit();
        }

        var newest = reading.GetDictionary(treeId, settings.LastDictionary);
        if (newest.IsEmpty)
            return;
        using var installing = target.BeginWrite();
        var first = new TrainedDictionary(Number: 1, DictionaryEntry.Ratio(newest), newest[DictionaryEntry.HeaderBytes..].ToArray());
        if (installing.Body.InstallDictionary(copyId, first))
            installing.Commit();
    }

    private WriteTransaction WritingTo(ICopyTarget target) => _writing ??= target.BeginWrite();

    private void Note(ICopyTarget target, long bytes)
    {
        _copied += bytes;
        _pending += bytes;
        if (Left <= 0 || PlantedFault.CommitEachTree)
            Commit(target);
    }

    private void Commit(ICopyTarget target)
    {
        _pending = 0;
        if (_writing is not { } writing)
            return;
        using (writing)
        {
            _writing = null;
            writing.Commit();
        }

        try
        {
            options.Progress?.Report(new CompactionProgress(_copied, Math.Max(_copied, _expected), target.DataFileBytes));
        }
        catch (Exception e)
        {
            _ofCaller = e;
            throw;
        }
    }

    // The other options of the source would decide nothing here but the layout: the values that are journaled, and those that are written directly.
    private StorageOptions TargetOptions() => new()
    {
        OpenMode = OpenMode.CreateNew,
        PageSize = _engine.Options.PageSize,
        FileMode = _engine.Options.FileMode,
        TrackChanges = _engine.Options.TrackChanges,
        JournalCompression = _engine.Options.JournalCompression,
        ScrubInterval = Timeout.InfiniteTimeSpan,
        StatusInterval = TimeSpan.Zero,
    };
}
