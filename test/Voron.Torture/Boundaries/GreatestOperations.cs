using System.Buffers.Binary;
using static Voron.Torture.Boundaries.BoundaryPlace;

namespace Voron.Torture.Boundaries;

/// <summary>Backups, compactions and salvages of the greatest value, and of what one transaction of a gibibyte has written.</summary>
/// <remarks>Each case takes some GiB in the directory for temporary files, and up to half a minute.</remarks>
internal static class GreatestOperations
{
    private const int Parts = 128;
    private const int PartBytes = 8 << 20;
    private const int SmallValues = 20_000;
    private const string TreeName = "gibibyte";

    private static readonly StorageOptions Options = new() { BackgroundFlush = false, ScrubInterval = Timeout.InfiniteTimeSpan };

    private static readonly Content[] Contents =
    [
        new(
            $"a value of {int.MaxValue} bytes", int.MaxValue, environment => GreatestValues.Put(environment, int.MaxValue, isSeekable: true),
            environment => GreatestValues.Check(environment, int.MaxValue)),
        new("a transaction of a gibibyte", (long)Parts * PartBytes, PutParts, CheckParts),
    ];

    private static readonly (string Name, Action<Place, Content> Run)[] Operations =
    [
        ("a full backup", Full), ("an incremental backup", Incremental), ("a compaction", Compact), ("a compaction to a directory", CompactTo),
        ("a salvage", Salvaged),
    ];

    public static IEnumerable<(string Name, Action Run)> All =>
        from content in Contents from operation in Operations select ($"{operation.Name} of {content.Name}", Of(operation.Run, content));

    private static Action Of(Action<Place, Content> operation, Content content) => () =>
    {
        using var place = new Place();
        operation(place, content);
    };

    private static void Full(Place place, Content content)
    {
        using (var environment = place.Open())
        {
            content.Put(environment);
            Wait(environment.BackupAsync(place.Of("full"), new BackupOptions { VerifyValues = true }));
        }

        Restore(place, content, "full");
    }

    private static void Incremental(Place place, Content content)
    {
        using (var environment = place.Open())
        {
            environment.Write(writing => writing.CreateTree("before").Put([1], [1]));
            var full = Wait(environment.BackupAsync(place.Of("full")));
            content.Put(environment);
            Wait(environment.BackupAsync(place.Of("changes"), new BackupOptions { Since = full.BackupId }));
        }

        Restore(place, content, "full", "changes");
    }

    private static void Restore(Place place, Content content, params string[] files)
    {
        Directory.Delete(place.Source, recursive: true);
        foreach (var file in files)
            Wait(BackupFile.VerifyAsync(place.Of(file)));
        Wait(BackupFile.RestoreAsync([.. files.Select(place.Of)], place.Target));
        place.CheckTarget(content);
    }

    // As much as the content takes is free before it.
    private static void Compact(Place place, Content content)
    {
        using (var environment = place.Open())
        {
            using (var writing = environment.BeginWrite())
            {
                Wait(writing.CreateTree("filler").PutAsync(new byte[] { 1 }, new Pattern(content.Bytes, isSeekable: true)));
                writing.Commit();
            }

            content.Put(environment);
            environment.Write(writing => writing.DeleteTree("filler"));
            environment.Flush();
            var report = Wait(environment.CompactAsync());
            Require(report.BytesAfter < report.BytesBefore * 3 / 4, $"the compaction has moved too little: {report}");
            Require(environment.Verify().IsSound, "the compacted environment is damaged");
            content.Check(environment);
        }

        using var again = place.Open();
        content.Check(again);
    }

    private static void CompactTo(Place place, Content content)
    {
        using (var environment = place.Open())
        {
            content.Put(environment);
            Wait(environment.CompactToAsync(place.Target));
        }

        place.CheckTarget(content);
    }

    private static void Salvaged(Place place, Content content)
    {
        using (var environment = place.Open())
            content.Put(environment);
        var report = Wait(Salvage.RunAsync(place.Source, place.Target));
        Require(report is { IsProven: true, HasLosses: false, DamageCount: 0 }, $"the salvage of a sound environment says {report}");
        place.CheckTarget(content);
    }

    private static void PutParts(StorageEnvironment environment)
    {
        var buffer = new byte[PartBytes];
        var key = new byte[sizeof(int)];
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(TreeName);
        for (var i = 0; i < Parts + SmallValues; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, i);
            tree.Put(key, Part(i, buffer));
        }

        writing.Commit();
    }

    private static void CheckParts(StorageEnvironment environment)
    {
        var buffer = new byte[PartBytes];
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(TreeName);
        Require(tree.Count == Parts + SmallValues, $"there are {tree.Count} values");
        var number = 0;
        foreach (var entry in tree.GetEntries())
        {
            var isRight = BinaryPrimitives.ReadInt32BigEndian(entry.Key) == number && entry.Value.SequenceEqual(Part(number, buffer));
            Require(isRight, $"value {number} is wrong");
            number++;
        }
    }

    // The large values come first.
    private static Span<byte> Part(int number, byte[] buffer)
    {
        var part = buffer.AsSpan(0, number < Parts ? PartBytes : 100 + number % 200);
        Pattern.Fill((long)number * 1_009, part);
        return part;
    }

    private static T Wait<T>(ValueTask<T> task) => task.AsTask().GetAwaiter().GetResult();

    /// <summary>The content of an environment.</summary>
    private sealed record Content(string Name, long Bytes, Action<StorageEnvironment> Put, Action<StorageEnvironment> Check);

    /// <summary>A directory for the environments and backups of a case.</summary>
    private sealed class Place : IDisposable
    {
        private readonly string _directory = Directory.CreateTempSubdirectory("voron-greatest-").FullName;

        public string Source => Of("source");

        public string Target => Of("target");

        public string Of(string name) => Path.Combine(_directory, name);

        public StorageEnvironment Open() => StorageEnvironment.Open(Source, Options);

        public void CheckTarget(Content content)
        {
            using var target = StorageEnvironment.Open(Target, new StorageOptions(Options) { OpenMode = OpenMode.OpenExisting });
            var report = target.Verify();
            Require(report.IsSound, $"Verify finds {string.Join("; ", report.Problems.Take(5))}");
            content.Check(target);
        }

        public void Dispose() => Directory.Delete(_directory, recursive: true);
    }
}
