using System.Text;
using System.Text.Json.Serialization;
using Voron;
using Voron.Feeds;
using Voron.Tables;

// Uses each part of the engine once, as a user of the package: what trimming removes too much of fails here.
var directory = Directory.CreateTempSubdirectory("voron-consumer-").FullName;
try
{
    var large = new byte[1 << 20];
    Random.Shared.NextBytes(large);
    using (var environment = StorageEnvironment.Open(directory))
    {
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("tree");
            for (var i = 0; i < 10_000; i++)
                tree.Put(Encoding.UTF8.GetBytes($"key {i:000000}"), Encoding.UTF8.GetBytes($"value {i}"));
            await tree.PutAsync("large"u8.ToArray(), new MemoryStream(large));
            tree.Delete("key 000007"u8);
            writing.Commit();
        }

        await Task.WhenAll(Enumerable.Range(0, 16).Select(i => environment.WriteAsync(
            writing => writing.CreateTree("merged").Put(Encoding.UTF8.GetBytes($"{i}"), "x"u8)).AsTask()));
        Require(environment.Flush() is not null, "flushed");
        Require(environment.Verify() is { IsSound: true, Trees: 2 }, "sound");
    }

    using (var environment = StorageEnvironment.Open(directory, new StorageOptions { ReadOnly = true }))
    using (var reading = environment.BeginRead())
    {
        var tree = reading.OpenTree("tree");
        Require(tree.Count == 10_000, "counted");
        Require(tree.TryGet("large"u8, out var value) && value.SequenceEqual(large), "large value read");
        Require(reading.OpenTree("merged").Count == 16, "operations merged");
        Require(environment.GetStatistics().PageSize == 4096, "statistics read");
    }

    using (var memory = StorageEnvironment.OpenInMemory())
    {
        memory.Write(writing => writing.CreateTree("tree").Put("a"u8, "b"u8));
        Require(memory.Write(writing => writing.OpenTree("tree").Contains("a"u8)), "written in memory");
    }

    await UseStructures();

    // On the engine's own threads and finalizers nothing may be missing either.
    Console.WriteLine("The package works.");
}
finally
{
    Directory.Delete(directory, recursive: true);
}

// One of each kind of structure, with rows that a source generator reads and writes, and keys of two types.
static async Task UseStructures()
{
    var clock = new StoppedClock();
    var notes = TableDefinition
        .Create("notes", version: 1, RowCodec.Json(ConsumerContext.Default.Note), KeyCodec.Utf8, static (Note note) => note.Title)
        .Index("tags", 1, static (in Note note, ref IndexKeys keys) => { foreach (var tag in note.Tags) keys.Add(tag); })
        .UniqueIndex("number", 1, static (in Note note, ref IndexKeys keys) => keys.Add(note.Number))
        .Expire(static note => note.Until);
    using var environment = StorageEnvironment.OpenInMemory(new InMemoryOptions { TimeProvider = clock });
    await environment.EvolveAsync(notes);
    environment.Write(writing =>
    {
        writing.CreateIdTree("ids").Add("key"u8, 7, payload: 3);
        writing.CreateFixedTree<(long, int)>("fixed").Put(-5, (1, 2));
        writing.CreateValueSetTree("sets").Add("key"u8, "value"u8);
        writing.CreateFeed("feed");
        writing.RecordTable("feed", "notes");
        writing.OpenTable(notes).InsertMany([new Note("a", 1, ["x", "y"], null), new Note("b", 2, ["y"], clock.Now.AddMinutes(1))]);
        writing.CreateTree("compressed");
        writing.CompressValues("compressed", ValueCompression.Fast);
        writing.OpenTree("compressed").Put("key"u8, new byte[500]);
    });

    using (var reading = environment.BeginRead())
    {
        Require(reading.OpenIdTree("ids").CountOf("key"u8) == 1, "an id found");
        Require(reading.OpenFixedTree<(long, int)>("fixed").Get(-5) == (1, 2), "a typed value read");
        Require(reading.OpenValueSetTree("sets").Contains("key"u8, "value"u8), "a value of a set found");
        Require(reading.OpenTree("compressed").Get("key"u8)!.Length == 500, "a compressed value read");
        var table = reading.OpenTable(notes);
        Require(table.TryGet("a", out var note) && note.Tags.Length == 2, "a row read");
        using (var tagged = table.From("tags"))
            Require(tagged.Count() == 3, "rows found by an index");
        var batch = new ChangeBatch();
        Require(reading.ReadChanges("feed", ChangePosition.Start, batch) && batch.Count == 3, "changes read");
        Require(ChangedRows.GetRow(batch[2], notes) is { Title: "b" }, "a changed row read");
    }

    clock.Now = clock.Now.AddMinutes(1);
    Require(await environment.DeleteExpiredAsync(notes) == 1, "a row expired");
    Require(environment.VerifyTable(notes).Problems.Count == 0, "a table sound");
}

static void Require(bool isTrue, string what)
{
    if (!isTrue)
        throw new InvalidOperationException($"Not {what}.");
}

internal sealed record Note(string Title, int Number, string[] Tags, DateTimeOffset? Until);

[JsonSerializable(typeof(Note))]
internal sealed partial class ConsumerContext : JsonSerializerContext;

internal sealed class StoppedClock : TimeProvider
{
    public DateTimeOffset Now { get; set; } = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override DateTimeOffset GetUtcNow() => Now;
}
