using Voron.Flushing;
using Voron.Simulation.Disks;

namespace Voron.Tests.Flushing;

// Blocks that are given back.
public sealed partial class WrittenBlocksTests
{
    [Fact]
    public void The_need_halves_every_minute_and_blocks_not_needed_are_given_back()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        _clock.Pass(TimeSpan.FromMinutes(1));
        blocks.Observe();
        Fill(blocks, file);
        file.WrittenAheadBytes.Should().BeInRange(2 * MiB, 3 * MiB + MiB / 2);
        var length = file.CapacityPages * file.PageSize;
        file.File.Length.Should().BeGreaterThan(length);
        _clock.Pass(TimeSpan.FromMinutes(1));
        blocks.Observe();
        blocks.WriteWhenQuiet().Should().BeFalse();
        blocks.AreKept.Should().BeTrue("half of them are still needed");
        _clock.Pass(TimeSpan.FromMinutes(2));
        blocks.Observe();
        blocks.WriteWhenQuiet().Should().BeFalse();
        blocks.AreKept.Should().BeFalse();
        file.File.Length.Should().Be(length);
    }

    [Fact]
    public void A_busy_environment_gives_back_blocks_too()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        Fill(blocks, file);
        using var writing = environment.BeginWrite();
        _clock.Pass(TimeSpan.FromMinutes(4));
        blocks.Observe();
        blocks.WriteWhenQuiet().Should().BeFalse();
        file.File.Length.Should().Be(file.CapacityPages * file.PageSize);
    }

    [Fact]
    public void A_volume_with_little_space_gets_no_blocks_and_takes_back_those_it_has()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        _disk.SpaceLimit = _disk.UsedBytes + WrittenBlocks.MinAvailableBytes + MiB;
        TestWait.Until(() => !blocks.WriteWhenQuiet() && !blocks.AreDue, "the next growth asks again");
        file.WrittenAheadBytes.Should().Be(0);

        Put(environment, 24, count: 24);
        blocks.Observe();
        _clock.Pass(Quiet);
        _disk.SpaceLimit = _disk.UsedBytes + WrittenBlocks.MinAvailableBytes + 16 * MiB;
        Fill(blocks, file);
        _disk.SpaceLimit = _disk.UsedBytes + WrittenBlocks.MinAvailableBytes - 1;
        blocks.WriteWhenQuiet().Should().BeFalse();
        blocks.AreKept.Should().BeFalse();
        file.File.Length.Should().Be(file.CapacityPages * file.PageSize);
    }

    [Fact]
    public void A_commit_without_space_for_its_record_takes_the_blocks()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        Fill(blocks, file);
        _disk.SpaceLimit = _disk.UsedBytes;
        for (var i = 0; file.WrittenAheadBytes > 0; i++)
        {
            i.Should().BeLessThan(1_000, "the journal has to find space somewhere");
            using var writing = environment.BeginWrite();
            writing.CreateTree("small").Put(BitConverter.GetBytes(i), new byte[3_000]);
            writing.Commit();
        }

        _disk.Count(TraceKind.Punch).Should().Be(0, "the file is dense");
        blocks.Observe();
        blocks.AreDue.Should().BeFalse();
        Check(environment);
    }

    [Fact]
    public void Space_reclaimed_includes_the_blocks()
    {
        using var environment = Open();
        var file = FileOf(environment);
        var blocks = Grow(environment, 24);
        Fill(blocks, file);
        var bytes = file.WrittenAheadBytes;
        environment.ReclaimSpace().Should().BeGreaterThanOrEqualTo(bytes);
        file.WrittenAheadBytes.Should().Be(0);
        file.File.Length.Should().Be(file.CapacityPages * file.PageSize);
        blocks.Observe();
        blocks.AreDue.Should().BeFalse();
    }
}
