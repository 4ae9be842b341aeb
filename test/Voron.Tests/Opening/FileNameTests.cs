using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>Foreign files whose names look like the engine's must not be touched, and renamed journal files must keep their records.</summary>
public sealed class FileNameTests
{
    private static readonly string[] Foreign =
    [
        "journal-00000001.voron.bak", "journal-notes", "journal-", "journal--0000001.voron", "journal-+0000007.voron", "journal- 0000007.voron",
        "journal-7.voron", "journal-000000000007.voron", "journal-00000000.voron", "journal-99999999999999999999999.voron",
        "journal-٠٠٠٠٠٠٠٧.voron", "journal-0000000x.voron", "journal-00000001.VORON", "journal-00000001.voron.new.bak", "journal-1.voron.new",
        "rewrite-notes.txt", "rewrite-00000001.voron.bak", "rewrite-1.voron", "rewrite-00000000.voron", "rewrite-", "rewrite--0000001.voron",
        "rewrite-00000005.voron", "scratch.tmp", "voron.lock", "voron.header.bak", "voron.data.old", "voron.scratch", "voron.data.creating",
    ];

    [Fact]
    public void Files_that_are_not_the_engines_are_left_alone()
    {
        using var directory = Place.Killed(20);

        // Where names that differ only in case lead to one file, such a name belongs to the engine.
        var foreign = Foreign.Where(name => !File.Exists(Path.Combine(directory.Path, name))).ToList();
        foreach (var name in foreign)
            File.WriteAllText(Path.Combine(directory.Path, name), "mine: " + name);
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            ScratchMemoryBytes = 4 << 20,
            ScratchLimitBytes = 64 << 20,
        };
        for (var round = 0; round < 2; round++)
        {
            using var environment = StorageEnvironment.Open(directory.Path, options);
            using (environment.BeginRead())
            {
                for (var i = 1; i <= 60; i++)
                    FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 15_000));
                using (var writing = environment.BeginWrite())
                {
                    for (var i = 1; i <= 600; i++)
                        writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 15_000));
                    writing.Commit();
                }
                environment.Internals.WriteJournalSnapshot().Should().BeTrue();
            }
            environment.Flush();
        }

        foreach (var name in foreign)
            File.ReadAllText(Path.Combine(directory.Path, name)).Should().Be("mine: " + name);
    }

    [Theory]
    [InlineData("journal-9223372036854775807.voron")]
    [InlineData("journal-9223372036854775800.voron")]
    [InlineData("journal-1000000000000.voron")]
    [InlineData("journal-00000001.voron.new")]
    [InlineData("journal-00000300.voron.new")]
    public void A_journal_file_that_was_renamed_keeps_its_records(string name)
    {
        var directory = Place.Killed(150);
        var journals = Place.Journals(directory.Path).ToList();
        var newest = journals.MaxBy(file => Epoch(file))!;
        File.Move(newest, Path.Combine(directory.Path, name));
        for (var round = 0; round < 3; round++)
        {
            using (var reading = StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = true }))
                ShouldHaveAll(reading, round);
            var killed = new TemporaryDirectory();
            using (var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options()))
            {
                ShouldHaveAll(environment, round);
                for (var i = 0; i < 40; i++)
                    FaultTestKit.Put(environment, 1000 + round * 40 + i, FaultTestKit.Value(i, 9000));
                Place.CopyFiles(directory.Path, killed.Path);
            }

            directory.Dispose();
            directory = killed;
        }

        Directory.GetFiles(directory.Path).Should().NotContain(file => file.EndsWith(".new", StringComparison.Ordinal));
        directory.Dispose();
    }

    private static void ShouldHaveAll(StorageEnvironment environment, int rounds)
    {
        for (var i = 1; i <= 150; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, 300));
        for (var i = 0; i < rounds * 40; i++)
            FaultTestKit.Get(environment, 1000 + i).Should().Equal(FaultTestKit.Value(i % 40, 9000));
    }

    private static long Epoch(string file) => BitConverter.ToInt64(Place.Read(file), 64);
}
