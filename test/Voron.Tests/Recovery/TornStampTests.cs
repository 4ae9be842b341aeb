using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Recovery;

/// <summary>
/// An opening writes the stamp of the data file again, into page 0, and the power fails during that write, which must cost no data.
/// </summary>
public sealed class TornStampTests(ITestOutputHelper output)
{
    private static readonly int Images = SuiteShare.Rounds(300);

    [Theory]
    [InlineData(TornPageProtection.Checksums)]
    [InlineData(TornPageProtection.FullPageImages)]
    public void A_page_0_that_an_opening_tears_costs_nothing(TornPageProtection form)
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, TornPageProtection = form, InitialJournalFileBytes = 1 << 20 };
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            Update(environment, 0);
            environment.Flush();
            Update(environment, 1);

            // A flush that breaks off after its stamp, before or after page 0.
            disk.FailNext(call => call.Name == "voron.data" && call.Kind == DiskCallKind.Write && call.Length > 8, DiskError.Failed);
            environment.Invoking(open => open.Flush()).Should().Throw<EnvironmentPoisonedException>();
        }

        var begin = disk.TraceCount;
        using (var environment = StorageEnvironment.Open(disk, options))
            ShouldHave(environment);
        var data = disk.FileOf("voron.data");
        var write = Enumerable.Range(begin, disk.TraceCount - begin).First(
            i => disk.Trace(i) is { Kind: TraceKind.Write, Offset: 8, Length: 8 } entry && entry.File == data);
        var images = new CrashImages(disk);
        images.HasPendingBytes(write + 1, data).Should().BeTrue("the stamp is not durable yet");
        int garbage = 0, seed = TestSeed.Choose();
        for (var i = 0; i < Images; i++)
        {
            var image = images.Build(
                write + 1, new Random(seed + i), form == TornPageProtection.FullPageImages ? file => file == data : null);
            garbage += images.GarbageSectors;
            using (var environment = StorageEnvironment.Open(image, options))
                ShouldHave(environment);
            using var again = StorageEnvironment.Open(image, options);
            ShouldHave(again);
        }

        output.WriteLine($"{garbage} sectors of garbage in {Images} images");
        if (form == TornPageProtection.FullPageImages)
            garbage.Should().BeGreaterThan(Images / 10);
    }

    private static void Update(StorageEnvironment environment, int seed)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var i = 0; i < 300; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(seed + i, 300));
        writing.Commit();
    }

    private static void ShouldHave(StorageEnvironment environment)
    {
        for (var i = 0; i < 300; i += 7)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(1 + i, 300));
        environment.Verify().Problems.Should().BeEmpty();
    }
}
