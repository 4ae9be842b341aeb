using System.Diagnostics;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Kinds;
using Voron.Trees.Pages;

namespace Voron;

/// <content>The copy in the order of the keys.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>Writes the trees of a snapshot to a new environment, in the order of their keys.</summary>
    /// <remarks>
    /// A transaction of the copy has about 16 MiB, of a part of a tree or of thousands of small ones. A failure, or a cancellation, deletes what was
    /// made.
    /// </remarks>
    private sealed class DenseCopy(StorageEnvironment source, string directory, CompactionOptions options, CancellationToken stop)
    {
        /// <summary>The number of bytes in one transaction of the copy.</summary>
        private const int BytesAtOnce = 16 << 20;

        private const int IdsAtOnce = 2048;

        private readonly long _began = Stopwatch.GetTimestamp();
        private readonly Primitives.BytePace _pace = new(options.MaxBytesPerSecond);

        private readonly long[] _ids = new long[IdsAtOnce];
        private readonly byte[] _payloads = new byte[IdsAtOnce];

        private long _copied;
        private long _expected;

        // The open transaction of the copy, and the bytes that it has.
        private WriteTransaction? _writing;
        private long _pending;

        // What the caller's progress has thrown, which is the caller's.
        private Exception? _ofCaller;

        // Not positive where the next tree begins a transaction.
        private long Left => BytesAtOnce - _pending;

        public async Task<CompactionReport> RunAsync()
        {
            try
            {
                using var made = new NewEnvironmentDirectory(directory, source.Options.FileMode);
                var used = await CopyAsync(made.Part).ConfigureAwait(false);
                var report = new CompactionReport
                {
                    BytesBefore = source.GetStatistics().DataFileBytes,
                    BytesAfter = new FileInfo(System.IO.Path.Combine(made.Part, DataFile.FileName)).Length,
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
                throw TargetFailure.Of($"The compacted copy of '{source.Path}' could not be made in '{directory}': {e.Message}", e);
            }
        }

        private async Task<long> CopyAsync(string part)
        {
            // What was verified long ago may have decayed since, and its copy would have right checksums.
            using var reading = new ReadTransaction(source._opened.Readers.RentVerifying());
            reading.MakeDurable();
            var target = StorageEnvironment.Open(part, TargetOptions());
            try
            {
                var trees = TreesOf(reading);
                var largeSets = reading.GetSystemTrees().Where(static tree => SystemTree.IsLargeSets(tree.Name));
                _expected = trees.Concat(largeSets).Sum(tree => tree.Header.Pages * source.Options.PageSizeOrDefault);
                foreach (var (name, tree) in trees)
                {
                    if (tree.Kind == TreeKind.Plain)
                        CopyCompression(reading, target, name, tree.TreeId);

                    // That of its root.
                    _pending += source.Options.PageSizeOrDefault;
                    byte[]? from = null;
                    do
                    {
                        var before = _copied;
                        from = tree.Kind switch
                        {
                            TreeKind.Plain => CopySome(reading, target, name, from),
                            TreeKind.FixedSize => CopySomeOfArray(reading, target, Catalog.Decode(name), from),
                            TreeKind.IdSets => CopySomeOfSets(reading, target, name, from),
                            TreeKind.ValueSets => CopySomeOfValueSets(reading, target, Catalog.Decode(name), from),
                            _ => throw new InvalidOperationException(
                                $"The {Catalog.Describe(name)} in '{source.Path}' is {TreeKinds.Of(tree.Kind).Description}, which cannot be copied in the order of its keys."),
                        };
                        await _pace.PauseAsync(_copied - before, stop).ConfigureAwait(false);
                    }
                    while (from != null);
                }

                Commit(target);
                var report = await target.CompactAsync(null, stop).ConfigureAwait(false);
                return report.UsedBytes;
            }
            finally
            {
                _writing?.Dispose();
                target.Dispose();
            }
        }

        // Those of users and those of tables, but no dropped ones, and none of feeds: the ids of the copy's transactions are others. Dictionaries
        // and large sets come with their trees.
        private static List<(byte[] Name, TreeHeader Header)> TreesOf(ReadTransaction reading)
        {
            var trees = new List<(byte[], TreeHeader)>();
            foreach (var name in reading.GetTreeNames())
            {
                _ = reading.GetTreeStatistics(name, out var header);
                trees.Add((System.Text.Encoding.UTF8.GetBytes(name), header));
            }

            trees.AddRange(reading.GetSystemTrees().Where(
                tree => !SystemTree.IsOfFeeds(tree.Name) && !SystemTree.IsDictionaries(tree.Name) && !SystemTree.IsLargeSets(tree.Name)));
            return trees;
        }

        // Returns the key to continue with; null at the end of the tree.
        private byte[]? CopySome(ReadTransaction reading, StorageEnvironment target, byte[] name, byte[]? from)
        {
            var (writing, most) = (WritingTo(target), Left);
            var tree = new WriteTree(writing.CreateSystemTree(name, TreeKind.Plain));
            _ = reading.TryFindTree(name, out Tree original);
            var bytes = 0L;
            byte[]? next = null;
            foreach (var entry in original.Range(from == null ? KeyRange.All : KeyRange.From(from)))
            {
                stop.ThrowIfCancellationRequested();
                if (bytes >= most)
                {
                    next = entry.Key.ToArray();
                    break;
                }

                tree.Put(entry.Key, entry.Value);
                bytes += entry.Key.Length + entry.ValueLength;
            }

            Note(target, bytes);
            return next;
        }

        // The copy begins with the newest dictionary, so that its values are as small.
        private void CopyCompression(ReadTransaction reading, StorageEnvironment target, byte[] name, uint treeId)
        {
            var settings = reading.GetCompression(treeId);
            if (settings.Mode == 0)
                return;

            // A transaction that installs a dictionary does nothing else.
            Commit(target);
            uint copyId;
            using (var writing = target.BeginWrite())
            {
                var tree = writing.CreateSystemTree(name, TreeKind.Plain);
                writing.SetCompression(tree, (ValueCompression)settings.Mode);
                copyId = tree.StateAsIs.TreeId;
                writing.Commit();
            }

            var newest = reading.GetDictionary(treeId, settings.LastDictionary);
            if (newest.IsEmpty)
                return;
            using var installing = target.BeginWrite();
            if (installing.Body.InstallDictionary(copyId, last: 0, DictionaryEntry.Ratio(newest), newest[DictionaryEntry.HeaderBytes..].ToArray()))
                installing.Commit();
        }

        private byte[]? CopySomeOfArray(ReadTransaction reading, StorageEnvironment target, string name, byte[]? from)
        {
            var (writing, most) = (WritingTo(target), Left);
            var tree = reading.OpenFixedTree(name);
            var copy = writing.CreateFixedTree(name, tree.ValueSize);
            using var cursor = tree.OpenCursor();
            var bytes = 0L;
            var found = cursor.Seek(ArrayKey.FromBytes(from));
            for (; found && bytes < most; found = cursor.MoveNext())
            {
                stop.ThrowIfCancellationRequested();
                copy.Put(cursor.Key, cursor.Value);
                bytes += ArrayKey.Size + tree.ValueSize;
            }

            var next = found ? ArrayKey.ToBytes(cursor.Key) : null;
            Note(target, bytes);
            return next;
        }

        // A large set takes several transactions. What comes next is an id and, behind it, the key.
        private byte[]? CopySomeOfSets(ReadTransaction reading, StorageEnvironment target, byte[] name, byte[]? from)
        {
            var (writing, most) = (WritingTo(target), Left);
            var copy = new WriteIdTree(writing.CreateSystemTree(name, TreeKind.IdSets));
            _ = reading.TryFindTree(name, out IdTree original);
            using var keys = original.OpenCursor();
            var bytes = 0L;
            byte[]? next = null;
            var first = from == null ? 0 : ArrayKey.FromBytes(from.AsSpan(0, ArrayKey.Size));
            var found = from == null ? keys.SeekFirst() : keys.Seek(from.AsSpan(ArrayKey.Size));
            for (; found && next == null; found = keys.MoveNext())
            {
                next = CopySome(keys, copy, first, most, ref bytes);
                first = 0;
            }

            Note(target, bytes);
            return next;
        }

        // A large set takes several transactions. What comes next is the length of a key, the key, and a value.
        private byte[]? CopySomeOfValueSets(ReadTransaction reading, StorageEnvironment target, string name, byte[]? from)
        {
            var (writing, most) = (WritingTo(target), Left);
            var copy = writing.CreateValueSetTree(name);
            using var cursor = reading.OpenValueSetTree(name).OpenCursor();
            var bytes = 0L;
            var length = from == null ? 0 : BitConverter.ToInt32(from);
            var found = from == null
                ? cursor.SeekFirst()
                : cursor.Seek(from.AsSpan(sizeof(int), length), from.AsSpan(sizeof(int) + length));
            for (; found && bytes < most; found = cursor.MoveNext())
            {
                stop.ThrowIfCancellationRequested();
                copy.Add(cursor.Key, cursor.Value);
                bytes += cursor.Value.Length;
            }

            byte[]? next = found ? [.. BitConverter.GetBytes(cursor.Key.Length), .. cursor.Key, .. cursor.Value] : null;
            Note(target, bytes);
            return next;
        }

        private byte[]? CopySome(IdKeyCursor keys, WriteIdTree copy, long first, long most, ref long bytes)
        {
            using var set = keys.OpenIds();
            set.Seek(first);
            bytes += keys.Key.Length;
            for (int count; (count = set.Fill(_ids, _payloads)) > 0;)
            {
                stop.ThrowIfCancellationRequested();
                if (bytes >= most)
                    return [.. ArrayKey.ToBytes(_ids[0]), .. keys.Key];
                copy.AddMany(keys.Key, _ids.AsSpan(0, count), _payloads.AsSpan(0, count));
                bytes += IdBlock.PackedBytes(_ids.AsSpan(0, count), _payloads.AsSpan(0, count));
            }

            return null;
        }

        private WriteTransaction WritingTo(StorageEnvironment target) => _writing ??= target.BeginWrite();

        private void Note(StorageEnvironment target, long bytes)
        {
            _copied += bytes;
            _pending += bytes;
            if (Left <= 0 || PlantedFault.CommitEachTree)
                Commit(target);
        }

        private void Commit(StorageEnvironment target)
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
                options.Progress?.Report(new CompactionProgress(_copied, Math.Max(_copied, _expected), target.GetStatistics().DataFileBytes));
            }
            catch (Exception e)
            {
                _ofCaller = e;
                throw;
            }
        }

        // The values of the source decide about nothing here but the layout: what is journaled, and what is written at once.
        private StorageOptions TargetOptions() => new()
        {
            OpenMode = OpenMode.CreateNew,
            PageSize = source.Options.PageSize,
            FileMode = source.Options.FileMode,
            TrackChanges = source.Options.TrackChanges,
            JournalCompression = source.Options.JournalCompression,
            ScrubInterval = Timeout.InfiniteTimeSpan,
            StatusInterval = TimeSpan.Zero,
        };
    }
}
