using System.Diagnostics;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Trees;
using Voron.Trees.Arrays;
using Voron.Trees.IdSets;

namespace Voron;

/// <content>The copy in the order of the keys.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>Writes the trees of a snapshot to a new environment, in the order of their keys.</summary>
    /// <remarks>A failure, or a cancellation, deletes what was made.</remarks>
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
            catch (Exception e) when (e is DiskException or IOException or UnauthorizedAccessException)
            {
                throw TargetFailure.Of($"The compacted copy of '{source.Path}' could not be made in '{directory}': {e.Message}", e);
            }
        }

        private async Task<long> CopyAsync(string part)
        {
            // What was verified long ago may have decayed since, and its copy would have right checksums.
            using var reading = new ReadTransaction(source._readers.RentVerifying());
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
                    byte[]? from = null;
                    do
                    {
                        var before = _copied;
                        from = tree.Kind switch
                        {
                            TreeKind.Plain => CopySome(reading, target, name, from),
                            TreeKind.Array => CopySomeOfArray(reading, target, Catalog.Decode(name), from),
                            TreeKind.IdSets => CopySomeOfSets(reading, target, name, from),
                            TreeKind.ValueSets => CopySomeOfValueSets(reading, target, Catalog.Decode(name), from),
                            _ => throw new InvalidOperationException(
                                $"The {Catalog.Describe(name)} in '{source.Path}' is {TreeKinds.Describe(tree.Kind)}, which cannot be copied in the order of its keys."),
                        };
                        await _pace.PauseAsync(_copied - before, stop).ConfigureAwait(false);
                    }
                    while (from != null);
                }

                var report = await target.CompactAsync(null, stop).ConfigureAwait(false);
                return report.UsedBytes;
            }
            finally
            {
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

        // Returns the key to go on with; null at the end of the tree.
        private byte[]? CopySome(ReadTransaction reading, StorageEnvironment target, byte[] name, byte[]? from)
        {
            using var writing = target.BeginWrite();
            var tree = new WriteTree(writing.CreateSystemTree(name, TreeKind.Plain));
            _ = reading.TryFindTree(name, out Tree original);
            var bytes = 0L;
            byte[]? next = null;
            foreach (var entry in original.Range(from == null ? KeyRange.All : KeyRange.From(from)))
            {
                stop.ThrowIfCancellationRequested();
                if (bytes >= BytesAtOnce)
                {
                    next = entry.Key.ToArray();
                    break;
                }

                tree.Put(entry.Key, entry.Value);
                bytes += entry.Key.Length + entry.ValueLength;
            }

            Commit(writing, target, bytes);
            return next;
        }

        // The copy begins with the newest dictionary, so that its values are as small.
        private static void CopyCompression(ReadTransaction reading, StorageEnvironment target, byte[] name, uint treeId)
        {
            var settings = reading.GetCompression(treeId);
            if (settings.Mode == 0)
                return;
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
            using var writing = target.BeginWrite();
            var tree = reading.OpenFixedTree(name);
            var copy = writing.CreateFixedTree(name, tree.ValueSize);
            using var cursor = tree.OpenCursor();
            var bytes = 0L;
            var found = cursor.Seek(ArrayKey.FromBytes(from));
            for (; found && bytes < BytesAtOnce; found = cursor.MoveNext())
            {
                stop.ThrowIfCancellationRequested();
                copy.Put(cursor.Key, cursor.Value);
                bytes += ArrayKey.Size + tree.ValueSize;
            }

            var next = found ? ArrayKey.ToBytes(cursor.Key) : null;
            Commit(writing, target, bytes);
            return next;
        }

        // A large set takes several transactions. What comes next is an id and, behind it, the key.
        private byte[]? CopySomeOfSets(ReadTransaction reading, StorageEnvironment target, byte[] name, byte[]? from)
        {
            using var writing = target.BeginWrite();
            var copy = new WriteIdTree(writing.CreateSystemTree(name, TreeKind.IdSets));
            _ = reading.TryFindTree(name, out IdTree original);
            using var keys = original.OpenCursor();
            var bytes = 0L;
            byte[]? next = null;
            var first = from == null ? 0 : ArrayKey.FromBytes(from.AsSpan(0, ArrayKey.Size));
            var found = from == null ? keys.SeekFirst() : keys.Seek(from.AsSpan(ArrayKey.Size));
            for (; found && next == null; found = keys.MoveNext())
            {
                next = CopySome(keys, copy, first, ref bytes);
                first = 0;
            }

            Commit(writing, target, bytes);
            return next;
        }

        // A large set takes several transactions. What comes next is the length of a key, the key, and a value.
        private byte[]? CopySomeOfValueSets(ReadTransaction reading, StorageEnvironment target, string name, byte[]? from)
        {
            using var writing = target.BeginWrite();
            var copy = writing.CreateValueSetTree(name);
            using var cursor = reading.OpenValueSetTree(name).OpenCursor();
            var bytes = 0L;
            var length = from == null ? 0 : BitConverter.ToInt32(from);
            var found = from == null
                ? cursor.SeekFirst()
                : cursor.Seek(from.AsSpan(sizeof(int), length), from.AsSpan(sizeof(int) + length));
            for (; found && bytes < BytesAtOnce; found = cursor.MoveNext())
            {
                stop.ThrowIfCancellationRequested();
                copy.Add(cursor.Key, cursor.Value);
                bytes += cursor.Value.Length;
            }

            byte[]? next = found ? [.. BitConverter.GetBytes(cursor.Key.Length), .. cursor.Key, .. cursor.Value] : null;
            Commit(writing, target, bytes);
            return next;
        }

        private byte[]? CopySome(IdKeyCursor keys, WriteIdTree copy, long first, ref long bytes)
        {
            using var set = keys.OpenIds();
            set.Seek(first);
            bytes += keys.Key.Length;
            for (int count; (count = set.Fill(_ids, _payloads)) > 0;)
            {
                stop.ThrowIfCancellationRequested();
                if (bytes >= BytesAtOnce)
                    return [.. ArrayKey.ToBytes(_ids[0]), .. keys.Key];
                copy.AddMany(keys.Key, _ids.AsSpan(0, count), _payloads.AsSpan(0, count));
                bytes += IdBlock.PackedBytes(_ids.AsSpan(0, count), _payloads.AsSpan(0, count));
            }

            return null;
        }

        private void Commit(WriteTransaction writing, StorageEnvironment target, long bytes)
        {
            writing.Commit();
            _copied += bytes;
            options.Progress?.Report(new CompactionProgress(_copied, Math.Max(_copied, _expected), target.GetStatistics().DataFileBytes));
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
