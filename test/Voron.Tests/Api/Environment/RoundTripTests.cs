using System.Globalization;
using System.Text;

namespace Voron.Tests.Api;

public sealed class RoundTripTests
{
    [Fact]
    public void Committed_values_are_read_back_and_survive_reopening()
    {
        var directory = Directory.CreateTempSubdirectory("voron-").FullName;
        try
        {
            using (var environment = StorageEnvironment.Open(directory))
            {
                for (var batch = 0; batch < 50; batch++)
                {
                    using var writing = environment.BeginWrite();
                    var tree = writing.CreateTree("users");
                    for (var i = 0; i < 100; i++)
                        tree.Put(Key(batch * 100 + i), Value(batch * 100 + i));
                    writing.Commit();
                }

                environment.Verify().Problems.Should().BeEmpty();
                CheckAll(environment, 5000);
                environment.Flush();
                environment.Verify().Problems.Should().BeEmpty();
                CheckAll(environment, 5000);
                using (var writing = environment.BeginWrite())
                {
                    writing.OpenTree("users").Put(Key(5000), Value(5000));
                    writing.Commit();
                }
            }

            using (var environment = StorageEnvironment.Open(directory, new StorageOptions { ReadOnly = true }))
            {
                CheckAll(environment, 5001);
                environment.Verify().Problems.Should().BeEmpty();
            }

            using (var environment = StorageEnvironment.Open(directory))
            {
                CheckAll(environment, 5001);
                environment.Verify().Problems.Should().BeEmpty();
            }
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public async Task Group_commits_and_pipelined_commits_are_all_found()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        var tasks = Enumerable.Range(0, 200)
            .Select(i => environment.WriteAsync(writing => writing.CreateTree("users").Put(Key(i), Value(i))).AsTask());
        await Task.WhenAll(tasks);
        ValueTask last = default;
        for (var i = 200; i < 400; i++)
        {
            using var writing = environment.BeginWrite();
            writing.OpenTree("users").Put(Key(i), Value(i));
            last = writing.CommitAsync(TestContext.Current.CancellationToken);
        }

        await last;
        CheckAll(environment, 400);
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static void CheckAll(StorageEnvironment environment, int count)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("users");
        tree.Count.Should().Be(count);
        for (var i = 0; i < count; i++)
        {
            tree.TryGet(Key(i), out var value).Should().BeTrue();
            value.SequenceEqual(Value(i)).Should().BeTrue();
        }

        var seen = 0;
        foreach (var entry in tree.GetEntries())
            entry.Key.SequenceEqual(Key(seen++)).Should().BeTrue();
        seen.Should().Be(count);
    }

    private static byte[] Key(int i) => Encoding.ASCII.GetBytes(i.ToString("D8", CultureInfo.InvariantCulture));

    private static byte[] Value(int i) => Encoding.ASCII.GetBytes($"value {i} {new string('x', i % 90)}");
}
