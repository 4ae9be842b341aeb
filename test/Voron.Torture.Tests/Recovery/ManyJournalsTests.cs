using Voron.Simulation.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Tests.Recovery;

public sealed class ManyJournalsTests
{
    [Fact]
    public void More_journal_files_than_a_header_can_seal_are_recovered_and_written_on()
    {
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            LargeValueBytes = 64 << 10,
            JournalCompression = JournalCompression.Never,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
        };
        using var place = new ModelPlace(inMemory: true);
        using var environment = place.Open(options);
        for (var i = 0; i < 120; i++)
            Put(environment, i);
        environment.GetStatistics().TotalJournalBytes.Should().BeGreaterThan(100 * (64 << 10));

        // Copies the files twice, as a killed process leaves them: the second recovery reads the files that the first has sealed.
        using var killed = place.Copy();
        using var first = killed.Open(options);
        Check(first, 120);
        Put(first, 120);
        using var killedAgain = killed.Copy();
        using var second = killedAgain.Open(options);
        Check(second, 121);
        Put(second, 121);
        second.Flush().Should().NotBeNull();
        Check(second, 122);
    }

    private static void Put(StorageEnvironment environment, int key)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree("values").Put([(byte)key], Value(key));
        writing.Commit();
    }

    private static void Check(StorageEnvironment environment, int count)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("values");
        tree.Count.Should().Be(count);
        for (var key = 0; key < count; key++)
        {
            tree.TryGet([(byte)key], out var value).Should().BeTrue();
            value.SequenceEqual(Value(key)).Should().BeTrue();
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    private static byte[] Value(int key) => SeededBytes.Make(key, 40_000);
}
