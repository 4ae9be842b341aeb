using Voron.Format;
using Voron.Journal;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Recovery;

/// <summary>
/// A new epoch of a journal file overwrites the first copy of its header, and then the second. A file with only the first copy, because a
/// power cut had hit the second, was used again. A power cut while the first copy was written then left it without any, and the environment
/// was refused as damaged.
/// </summary>
public sealed class JournalHeadersTests
{
    private const int Keys = 2_000;
    private static readonly int Images = SuiteShare.Rounds(8);

    private static StorageOptions Options => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 64 << 10,
        JournalCompression = JournalCompression.Never,
    };

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_second_copy_that_is_damaged_is_not_alone_when_the_first_is_written_again(bool wasClosed)
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options);
        Work(environment);
        if (wasClosed)
            environment.Dispose();
        else
            disk = Kill(environment, disk);
        foreach (var name in FaultTestKit.Bytes(disk).Keys.Where(name => JournalFile.IndexOf(name) >= 0))
        {
            var files = FaultTestKit.Bytes(disk);
            new Random(1).NextBytes(files[name].AsSpan(JournalFormat.Block, JournalFormat.Block));
            var spoilt = FaultTestKit.DiskOf(files);
            var from = spoilt.TraceCount;
            List<int> cuts;
            using (var opened = StorageEnvironment.Open(spoilt, Options))
            {
                Work(opened);

                // Closing deletes most of the files, and with them their names.
                cuts = CutsInHeaders(spoilt, from);
            }

            ShouldOpenAfter(cuts, spoilt);
        }
    }

    // Each flush releases some journal files, which are used again.
    private static void Work(StorageEnvironment environment)
    {
        for (var i = 0; i < 4 * Keys; i += 100)
        {
            Put(environment, i % Keys, 100, seed: (int)environment.GetStatistics().PublishedTransactionId);
            if (i % Keys == 0)
                environment.Flush();
        }
    }

    private static List<int> CutsInHeaders(SimulatedDisk disk, int from)
    {
        var cuts = new List<int>();
        for (var i = from; i < disk.TraceCount; i++)
        {
            if (disk.Trace(i) is { Kind: TraceKind.Write, Offset: 0, Length: JournalFormat.Block, WriteThrough: true } entry
                && JournalFile.IndexOf(disk.NameOf(entry)) >= 0)
                cuts.Add(i + 1);
        }

        return cuts;
    }

    private static void ShouldOpenAfter(List<int> cuts, SimulatedDisk disk)
    {
        var images = new CrashImages(disk);
        cuts.Should().HaveCountGreaterThan(3);
        foreach (var cut in cuts)
        {
            for (var seed = 0; seed < Images; seed++)
            {
                using var opened = StorageEnvironment.Open(images.Build(cut, new Random(seed)), Options);
                Count(opened).Should().Be(Keys, $"cut {cut}, seed {seed}");
            }
        }
    }
}
