namespace Voron.Tests.Compaction;

/// <summary>Compaction in place: the length of the file, the content, and what is left alone.</summary>
public sealed class CompactionTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_file_of_which_two_thirds_were_deleted_gets_about_as_short_as_its_content()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using (var environment = StorageEnvironment.Open(directory, CompactionKit.Options))
        {
            kit.Put(environment, "a", 200_000, _ => 100);
            kit.Put(environment, "b", 200_000, random => random.Next(300));
            kit.Delete(environment, "a", 0.67);
            kit.Delete(environment, "b", 0.67);
            var report = await environment.CompactAsync(null, Token);
            Output(report);
            report.IsComplete.Should().BeTrue();
            report.BlockedBy.Should().BeNull();
            report.BytesAfter.Should().BeLessThan((long)(report.UsedBytes * 1.05)).And.BeLessThan(report.BytesBefore / 2);
            report.BytesAfter.Should().Be(new FileInfo(Path.Combine(directory, "voron.data")).Length);
            report.BytesMoved.Should().BePositive().And.BeLessThan(report.UsedBytes);
            kit.Check(environment);
        }

        using var again = StorageEnvironment.Open(directory);
        kit.Check(again);
    }

    [Fact]
    public async Task Values_with_pages_of_their_own_move()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using (var environment = StorageEnvironment.Open(directory, CompactionKit.Options))
        {
            kit.Put(environment, "overflow", 2_000, random => random.Next(3_000, 60_000));
            kit.Put(environment, "large", 60, random => random.Next(200_000, 3_000_000));
            kit.Put(environment, "small", 20_000, _ => 100);
            foreach (var tree in kit.Trees.Keys)
                kit.Delete(environment, tree, 0.7);
            var report = await environment.CompactAsync(null, Token);
            Output(report);

            // Values of 3 MB are longer than most of the free places, and one that fits nowhere holds the end of the file. It is counted.
            report.BytesAfter.Should().BeLessThan(report.BytesBefore * 3 / 4);
            (report.ValuesLeft > 0 || report.BytesAfter < report.UsedBytes * 11 / 10).Should().BeTrue();
            report.IsComplete.Should().Be(report.ValuesLeft == 0);
            kit.Check(environment);
        }

        using var again = StorageEnvironment.Open(directory);
        kit.Check(again);
    }

    [Fact]
    public async Task A_file_without_free_pages_is_left_alone()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        kit.Put(environment, "a", 50_000, _ => 100);
        var report = await environment.CompactAsync(null, Token);
        (report.Passes, report.BytesMoved, report.IsComplete).Should().Be((0, 0, true));
        kit.Check(environment);
    }

    [Fact]
    public async Task Groups_of_sections_that_are_cut_off_are_created_again_when_the_file_grows()
    {
        var kit = new CompactionKit(TestSeed.Choose());
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        for (var round = 0; round < (SuiteShare.IsFull ? 3 : 2); round++)
        {
            kit.Put(environment, "large", 150, _ => 2_000_000);
            kit.Put(environment, "small", 1_000, _ => 100);
            kit.Delete(environment, "large", 1);
            var report = await environment.CompactAsync(null, Token);
            Output(report);
            report.BytesAfter.Should().BeLessThan(5 << 20);
            kit.Check(environment);
        }
    }

    [Fact]
    public async Task Pages_of_many_trees_move_in_few_transactions()
    {
        const int trees = 3_000;
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, CompactionKit.Options);
        environment.Write(static writing =>
        {
            var filler = writing.CreateTree("filler");
            for (var i = 0; i < trees; i++)
                filler.Put(BitConverter.GetBytes(i), new byte[3_000]);
        });
        environment.Write(static writing =>
        {
            for (var i = 0; i < trees; i++)
                writing.CreateTree($"tree {i}").Put("key"u8, BitConverter.GetBytes(i));
        });
        environment.Write(static writing => writing.DeleteTree("filler"));
        var before = environment.GetStatistics().CommittedTransactions;
        var report = await environment.CompactAsync(null, Token);
        Output(report);
        report.BytesMoved.Should().BeGreaterThan(trees / 2 * 4096L);
        (environment.GetStatistics().CommittedTransactions - before).Should().BeLessThan(trees / 10);
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        for (var i = 0; i < trees; i++)
            reading.OpenTree($"tree {i}").Get("key"u8).Should().Equal(BitConverter.GetBytes(i));
    }

    private static void Output(CompactionReport report) => TestContext.Current.TestOutputHelper?.WriteLine($"{report}");
}
