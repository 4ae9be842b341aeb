using System.Text.RegularExpressions;
using Voron.Simulation.Disks;

namespace Voron.Tests.Faults;

/// <summary>
/// Reports of damage that was found, and damage in two places at once. The suite "bit-rot" checks that every single flipped bit is either
/// reported or harmless.
/// </summary>
[Quick]
public sealed partial class BitFlipTests
{
    private const int Keys = 120;

    private static readonly int[] LargeKeys = [200, 201];

    private static StorageOptions Options() => new() { BackgroundFlush = false, InitialJournalFileBytes = 512 << 10 };

    [Fact]
    public void Damage_to_both_copies_of_the_header_is_reported()
    {
        var files = MakeFiles(cleanlyClosed: true);
        for (var offset = 0; offset < 256; offset++)
        {
            var flipped = new SortedDictionary<string, byte[]>(files) { ["voron.header"] = (byte[])files["voron.header"].Clone() };
            flipped["voron.header"][offset] ^= 4;
            flipped["voron.header"][4096 + offset] ^= 4;
            Examine(flipped, "voron.header", offset).Should().BeTrue("both copies are damaged at {0}", offset);
        }
    }

    [Fact]
    public void A_damaged_header_is_reported_when_its_older_copy_needs_a_deleted_journal()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var round = 0; round < 40; round++)
        {
            FaultTestKit.Put(environment, round, FaultTestKit.Value(round, 9_000));
            FaultTestKit.Put(environment, round, FaultTestKit.Value(round, 9_001));
            environment.Flush();
            var files = FaultTestKit.Bytes(disk);
            var opened = 0;
            foreach (var slot in new[] { 0, 4096 })
            {
                var flipped = new SortedDictionary<string, byte[]>(files) { ["voron.header"] = (byte[])files["voron.header"].Clone() };
                flipped["voron.header"][slot + 100] ^= 1;
                var damaged = FaultTestKit.DiskOf(flipped);
                try
                {
                    using var reopened = StorageEnvironment.Open(damaged, FaultTestKit.Options());
                    FaultTestKit.Get(reopened, round).Should().Equal(FaultTestKit.Value(round, 9_001), "an older header must not give an older state");
                    opened++;
                }
                catch (CorruptionException e)
                {
                    e.Message.Should().Contain("journal");
                    FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(damaged), flipped);
                }
            }

            opened.Should().BeGreaterThan(0, "the newest copy alone is enough");
        }
    }

    [Fact]
    public void A_damaged_page_is_named_with_both_checksums()
    {
        var files = MakeFiles(cleanlyClosed: true);
        var page = PageWith(files["voron.data"], FaultTestKit.Value(7, 90));
        files["voron.data"][page * 4096 + 2000] ^= 1;
        using var environment = StorageEnvironment.Open(FaultTestKit.DiskOf(files), Options());
        var damage = Enumerable.Range(0, Keys).Select(i => Record.Exception(() => FaultTestKit.Get(environment, i))).First(e => e != null);
        var message = damage.Should().BeOfType<CorruptionException>().Subject.Message;
        message.Should().Contain($"Page {page} of 'simulated/voron.data'");
        Checksums().Matches(message).Select(match => match.Value).Distinct().Should().HaveCount(2, "expected and actual are named: {0}", message);
        environment.Verify().Problems.Should().Contain(problem => problem.Contains($"Page {page} ", StringComparison.Ordinal));
        FaultTestKit.Put(environment, 900, [9]);
        FaultTestKit.Get(environment, 900).Should().Equal(9);
    }

    [Fact]
    public void A_damaged_large_value_is_named_and_the_others_are_read()
    {
        var files = MakeFiles(cleanlyClosed: true);
        var value = FaultTestKit.Value(200, 90_000);
        var at = files["voron.data"].AsSpan().IndexOf(value);
        files["voron.data"][at + 70_000] ^= 16;
        using var environment = StorageEnvironment.Open(FaultTestKit.DiskOf(files), Options());
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        tree.TryOpenStream(FaultTestKit.Key(200), out var stream).Should().BeTrue();
        var chunk = new byte[65536];
        stream!.ReadExactly(chunk);
        chunk.AsSpan().SequenceEqual(value.AsSpan(0, chunk.Length)).Should().BeTrue("the first chunk is intact");
        var failing = () => stream.ReadExactly(chunk.AsSpan(0, 10));
        failing.Should().Throw<CorruptionException>().WithMessage($"Chunk 1 of the value at page {at / 4096} of 'simulated/voron.data'*");
        tree.TryGet(FaultTestKit.Key(201), out var other).Should().BeTrue();
        other.SequenceEqual(FaultTestKit.Value(201, 90_001)).Should().BeTrue();
    }

    /// <summary>Returns whether the damage was reported. Fails the test if a wrong value was read.</summary>
    private static bool Examine(SortedDictionary<string, byte[]> files, string name, int offset)
    {
        var disk = FaultTestKit.DiskOf(files);
        var isReported = false;
        try
        {
            using var environment = StorageEnvironment.Open(disk, Options());
            isReported = !environment.Verify().IsSound;
            for (var i = 0; i < Keys; i++)
                isReported |= ReadOne(environment, i, FaultTestKit.Value(i, 90), name, offset);
            foreach (var i in LargeKeys)
                isReported |= ReadOne(environment, i, FaultTestKit.Value(i, 90_000 + i - 200), name, offset);
        }
        catch (VoronException e) when (e is CorruptionException or UnsupportedFormatException)
        {
            e.Message.Should().MatchRegex("'simulated(/[a-z0-9.-]+)?'", "the message names the file");
            FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
            return true;
        }

        return isReported;
    }

    private static bool ReadOne(StorageEnvironment environment, int key, byte[] expected, string name, int offset)
    {
        try
        {
            var value = FaultTestKit.Get(environment, key);
            if (value == null || !value.AsSpan().SequenceEqual(expected))
                Assert.Fail($"A bit at {offset} of '{name}' changed what key {key} holds.");
            return false;
        }
        catch (CorruptionException e)
        {
            e.Message.Should().MatchRegex("[Pp]age [0-9]+");
            return true;
        }
    }

    /// <summary>Returns the files of an environment with everything in the data file, or with everything in the journal as well.</summary>
    private static SortedDictionary<string, byte[]> MakeFiles(bool cleanlyClosed)
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options());
        for (var batch = 0; batch < 6; batch++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = batch * Keys / 6; i < (batch + 1) * Keys / 6; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 90));
            if (batch < LargeKeys.Length)
                tree.Put(FaultTestKit.Key(LargeKeys[batch]), FaultTestKit.Value(LargeKeys[batch], 90_000 + batch));
            writing.Commit();
            if (batch == 2)
                environment.Flush();
        }

        if (cleanlyClosed)
        {
            environment.Dispose();
            return FaultTestKit.Bytes(disk);
        }

        // Without this, damage in the last record would pass for a torn write, which is rightly dropped.
        environment.Internals.ConfirmDurability();
        var files = FaultTestKit.Bytes(disk);
        environment.Dispose();
        return files;
    }

    private static int PageWith(byte[] data, byte[] value)
    {
        var at = data.AsSpan().IndexOf(value);
        at.Should().BeGreaterThan(0);
        return at / 4096;
    }

    [GeneratedRegex("[0-9A-F]{16}")]
    private static partial Regex Checksums();
}
