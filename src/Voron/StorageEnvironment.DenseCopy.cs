using System.Diagnostics;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.Backup;
using Voron.IO;
using Voron.Paging;

namespace Voron;

/// <content>The copy in the order of the keys.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>Writes the trees of a snapshot to a new environment, in the order of their keys.</summary>
    /// <remarks>
    /// <code>
    ///   empty ─▶ marker durable ─▶ environment made in a directory below ─▶ closed ─▶ files moved up, the header last ─▶ marker deleted
    /// </code>
    /// While the marker is there and the header is not, every opening refuses the directory. A failure, or a cancellation, deletes what was made.
    /// </remarks>
    private sealed class DenseCopy(StorageEnvironment source, string directory, CompactionOptions options, CancellationToken stop)
    {
        /// <summary>The number of bytes in one transaction of the copy.</summary>
        private const int BytesAtOnce = 16 << 20;

        private const string PartName = "voron.compacted.partial";

        private readonly long _began = Stopwatch.GetTimestamp();
        private readonly Primitives.BytePace _pace = new(options.MaxBytesPerSecond);

        // The files that this call has made in the directory, the marker first.
        private readonly List<string> _made = [];
        private long _copied;
        private long _expected;

        private string Marker => PathIn(directory, CheckpointFile.UnfinishedCopyName);

        private string Part => PathIn(directory, PartName);

        public async Task<CompactionReport> RunAsync()
        {
            using var disk = EmptyDirectory.Open(directory, source.Options.FileMode, NullLogger.Instance);
            try
            {
                Begin(disk);
                var used = await CopyAsync().ConfigureAwait(false);
                var report = new CompactionReport
                {
                    BytesBefore = source.GetStatistics().DataFileBytes,
                    BytesAfter = new FileInfo(PathIn(Part, DataFile.FileName)).Length,
                    UsedBytes = used,
                    BytesMoved = _copied,
                    Passes = 1,
                    IsComplete = true,
                    Duration = Stopwatch.GetElapsedTime(_began),
                };
                MoveUp(disk);
                return report;
            }
            catch (Exception e)
            {
                CleanUp();
                if (e is DiskException or IOException or UnauthorizedAccessException)
                    throw new StorageAccessException($"The compacted copy of '{source.Path}' could not be made in '{directory}': {e.Message}", e);
                throw;
            }
        }

        private static string PathIn(string place, string name) => System.IO.Path.Combine(place, name);

        // An environment that another thread or process begins in the same directory at this moment sees the marker, or is seen here.
        private void Begin(IDisk disk)
        {
            using (new FileStream(Marker, FileMode.CreateNew))
                _made.Add(Marker);
            if (Directory.EnumerateFileSystemEntries(directory).FirstOrDefault(entry => entry != Marker) is { } other)
                throw EnvironmentCopy.NotEmpty(directory, System.IO.Path.GetFileName(other));
            disk.SyncDirectory();
        }

        private async Task<long> CopyAsync()
        {
            using var reading = source.BeginRead();
            var target = StorageEnvironment.Open(Part, TargetOptions());
            try
            {
                foreach (var name in reading.GetTreeNames())
                    _expected += BytesOf(reading.OpenTree(name));
                foreach (var name in reading.GetTreeNames())
                {
                    byte[]? from = null;
                    do
                    {
                        var before = _copied;
                        from = CopySome(reading, target, name, from);
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

        // Returns the key to go on with; null at the end of the tree.
        private byte[]? CopySome(ReadTransaction reading, StorageEnvironment target, string name, byte[]? from)
        {
            using var writing = target.BeginWrite();
            var tree = writing.CreateTree(name);
            var bytes = 0L;
            byte[]? next = null;
            foreach (var entry in reading.OpenTree(name).Range(from == null ? KeyRange.All : KeyRange.From(from)))
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

            writing.Commit();
            _copied += bytes;
            options.Progress?.Report(new CompactionProgress(_copied, Math.Max(_copied, _expected), target.GetStatistics().DataFileBytes));
            return next;
        }

        private long BytesOf(Tree tree)
        {
            var statistics = tree.GetStatistics();
            return (statistics.LeafPages + statistics.BranchPages + statistics.OverflowPages) * source.Options.PageSizeOrDefault;
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
        };

        // The header last: before it has its name there, the directory has no environment. From then on, the files may be another caller's.
        private void MoveUp(IDisk disk)
        {
            foreach (var file in Directory.GetFiles(Part))
            {
                var name = System.IO.Path.GetFileName(file);
                if (name == CheckpointFile.FileName)
                    continue;
                File.Move(file, PathIn(directory, name));
                _made.Add(PathIn(directory, name));
            }

            disk.SyncDirectory();
            File.Move(PathIn(Part, CheckpointFile.FileName), PathIn(directory, CheckpointFile.FileName));
            _made.Clear();
            disk.SyncDirectory();
            Directory.Delete(Part);
            File.Delete(Marker);
            disk.SyncDirectory();
        }

        // Deletes what this call has made, and nothing else.
        private void CleanUp()
        {
            if (_made.Count == 0)
                return;
            try
            {
                if (Directory.Exists(Part))
                    Directory.Delete(Part, recursive: true);
                _made.Reverse();
                foreach (var file in _made)
                    File.Delete(file);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // The marker stays: the next opening says what to do.
            }
        }
    }
}
