using System.Text;
using Voron;

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

    // On the engine's own threads and finalizers nothing may be missing either.
    Console.WriteLine("The package works.");
}
finally
{
    Directory.Delete(directory, recursive: true);
}

static void Require(bool isTrue, string what)
{
    if (!isTrue)
        throw new InvalidOperationException($"Not {what}.");
}
