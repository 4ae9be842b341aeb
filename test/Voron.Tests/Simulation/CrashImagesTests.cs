using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.IO;

namespace Voron.Tests.Simulation;

/// <summary>
/// The rules of durability. Each is checked from both sides: changes that must survive are in every image, changes that may be lost are
/// lost in some, so that a rule that is too lenient or too strict fails a test.
/// </summary>
public sealed class CrashImagesTests : IDisposable
{
    private const int Block = 4096;
    private static readonly int Images = SuiteShare.Rounds(400);

    private readonly SimulatedDisk _disk = new();

    public void Dispose() => _disk.Dispose();

    [Fact]
    public void A_returned_write_through_write_within_a_synced_length_is_in_every_image()
    {
        using var file = NewSyncedFile("a", 4, 0);
        using var buffer = new AlignedBuffer(2 * Block, 7);
        var before = _disk.TraceCount;
        using (var through = _disk.Open("a", DiskOpen.Existing, DiskAccess.WriteThrough))
            through.Write(Block, buffer.Span);

        foreach (var image in All(_disk.TraceCount))
            image.Contents("a")[Block..(3 * Block)].Should().OnlyContain(b => b == 7);
        All(before).Select(image => image.Contents("a")).Should().OnlyContain(bytes => bytes.All(b => b == 0));

        // While the write is in progress, the images lose, keep or tear it, but contain nothing else.
        var inProgress = All(before + 1).Select(image => image.Contents("a")).ToList();
        inProgress.Should().OnlyContain(bytes => bytes.All(b => b == 0 || b == 7));
        inProgress.Should().OnlyContain(bytes => Is(bytes, 0, Block, 0) && Is(bytes, 3 * Block, bytes.Length, 0));
        inProgress.Should().Contain(bytes => bytes.All(b => b == 0));
        inProgress.Should().Contain(bytes => Is(bytes, Block, 3 * Block, 7));
        inProgress.Should().Contain(bytes => Mixed(bytes, Block, Block + 512), "a sector is torn in some images");
        inProgress.Should().Contain(
            bytes => Is(bytes, Block, 2 * Block, 0) && Is(bytes, 2 * Block, 3 * Block, 7),
            "sectors reach the medium in any order");
    }

    [Fact]
    public void An_extending_write_through_write_can_lose_its_length()
    {
        using var file = NewSyncedFile("a", 1, 0);
        using var buffer = new AlignedBuffer(Block, 7);
        using var through = _disk.Open("a", DiskOpen.Existing, DiskAccess.WriteThrough);
        through.Write(Block, buffer.Span);
        All(_disk.TraceCount).Select(image => image.Contents("a").Length).Distinct().Should().BeEquivalentTo(new[] { Block, 2 * Block });
        All(_disk.TraceCount).Select(image => image.Contents("a")).Where(bytes => bytes.Length > Block)
            .Should().OnlyContain(bytes => Is(bytes, Block, bytes.Length, 7), "the bytes themselves are durable");

        through.Sync();
        foreach (var image in All(_disk.TraceCount))
            image.Contents("a").Length.Should().Be(2 * Block);
    }

    [Fact]
    public void A_buffered_write_is_durable_after_a_later_sync_of_its_own_file_only()
    {
        using var file = NewSyncedFile("a", 1, 1);
        using var other = NewSyncedFile("b", 1, 1);
        file.Write(0, Filled(Block, 2));
        other.Sync();
        _disk.SyncDirectory();
        var images = All(_disk.TraceCount).Select(image => image.Contents("a")).ToList();
        images.Should().Contain(bytes => bytes.All(b => b == 1)).And.Contain(bytes => bytes.All(b => b == 2))
            .And.Contain(bytes => Mixed(bytes, 0, Block));

        var beforeSync = _disk.TraceCount;
        file.Sync();
        var afterSync = _disk.TraceCount;
        All(beforeSync + 1).Should().Contain(image => image.Contents("a")[0] == 1, "the sync has not returned");
        foreach (var image in All(afterSync))
            image.Contents("a").Should().OnlyContain(b => b == 2);

        file.Write(0, Filled(Block, 3));
        All(_disk.TraceCount).Should().Contain(image => image.Contents("a")[0] == 2, "the sync came before this write");
        All(_disk.TraceCount).Select(image => image.Contents("a")).Should().OnlyContain(bytes => bytes.All(b => b == 2 || b == 3));
    }

    [Fact]
    public void A_write_that_overlaps_a_sync_is_not_covered_by_it()
    {
        using var file = NewSyncedFile("a", 2, 0);
        using var late = _disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered);
        file.Write(0, Filled(Block, 1));
        _disk.InProgress = entry =>
        {
            if (entry.Kind == TraceKind.Sync)
                late.Write(Block, Filled(Block, 2));
        };
        file.Sync();
        _disk.InProgress = null;
        var images = All(_disk.TraceCount).Select(image => image.Contents("a")).ToList();
        images.Should().OnlyContain(bytes => Is(bytes, 0, Block, 1));
        images.Should().Contain(bytes => Is(bytes, Block, bytes.Length, 0));
    }

    [Fact]
    public void Write_through_writes_that_overlap_become_durable_in_any_order()
    {
        using var file = NewSyncedFile("a", 2, 0);
        using var buffer = new AlignedBuffer(Block, 1);
        using var second = new AlignedBuffer(Block, 2);
        using var through = _disk.Open("a", DiskOpen.Existing, DiskAccess.WriteThrough);
        var secondReturned = 0;
        _disk.InProgress = _ =>
        {
            _disk.InProgress = null;
            through.Write(Block, second.Span);
            secondReturned = _disk.TraceCount;
        };
        through.Write(0, buffer.Span);
        var images = All(secondReturned).Select(image => image.Contents("a")).ToList();
        images.Should().OnlyContain(bytes => Is(bytes, Block, bytes.Length, 2));
        images.Should().Contain(bytes => Is(bytes, 0, Block, 0), "the first one has not returned yet");
        All(_disk.TraceCount).Should().OnlyContain(image => image.Contents("a")[0] == 1);
    }

    [Fact]
    public void Pending_writes_to_one_sector_leave_old_or_any_of_them()
    {
        using var file = NewSyncedFile("a", 1, 1);
        file.Write(0, Filled(Block, 2));
        file.Write(0, Filled(Block, 3));
        var images = All(_disk.TraceCount).Select(image => image.Contents("a")).ToList();
        for (byte value = 1; value <= 3; value++)
            images.Should().Contain(bytes => bytes.All(b => b == value));
        images.Should().OnlyContain(bytes => bytes.All(b => b >= 1 && b <= 3));
    }

    [Fact]
    public void An_older_pending_write_never_comes_back_over_a_durable_one()
    {
        using var file = NewSyncedFile("a", 2, 1);
        using var buffer = new AlignedBuffer(Block, 3);
        using var through = _disk.Open("a", DiskOpen.Existing, DiskAccess.WriteThrough);
        file.Write(Block / 2, Filled(Block, 2));
        through.Write(0, buffer.Span);
        var images = All(_disk.TraceCount).Select(image => image.Contents("a")).ToList();
        images.Should().OnlyContain(bytes => Is(bytes, 0, Block, 3));
        images.Should().Contain(bytes => bytes[Block] == 2).And.Contain(bytes => bytes[Block] == 1);
    }

    [Fact]
    public void Lengths_change_in_order_and_need_a_sync()
    {
        using var file = NewSyncedFile("a", 3, 1);
        file.SetLength(Block);
        file.SetLength(2 * Block);
        var images = All(_disk.TraceCount).Select(image => image.Contents("a")).ToList();
        images.Select(bytes => bytes.Length / Block).Distinct().Should().BeEquivalentTo([1, 2, 3]);
        images.Where(bytes => bytes.Length == 2 * Block).Should().OnlyContain(bytes => Is(bytes, Block, bytes.Length, 0));
        images.Where(bytes => bytes.Length == 3 * Block).Should().OnlyContain(bytes => bytes.All(b => b == 1));
        file.Sync();
        All(_disk.TraceCount).Should().OnlyContain(image => image.Contents("a").Length == 2 * Block);
    }

    [Fact]
    public void Allocation_and_holes_need_a_sync()
    {
        using var file = NewSyncedFile("a", 2, 1);
        file.Allocate(2 * Block, 2 * Block);
        file.TryPunchHole(0, Block).Should().BeTrue();
        var images = All(_disk.TraceCount).Select(image => image.Contents("a")).ToList();
        images.Select(bytes => bytes.Length / Block).Distinct().Should().BeEquivalentTo([2, 4]);
        images.Should().Contain(bytes => bytes[0] == 0).And.Contain(bytes => bytes[0] == 1);
        file.Sync();
        All(_disk.TraceCount).Should().OnlyContain(image => image.Contents("a").Length == 4 * Block && image.Contents("a")[0] == 0);
    }

    [Fact]
    public void Names_need_a_sync_of_the_directory_and_content_a_sync_of_the_file()
    {
        NewSyncedFile("old", 1, 1).Dispose();
        using (var file = _disk.Open("new", DiskOpen.New, DiskAccess.Buffered))
        {
            file.Write(0, Filled(Block, 2));
            file.Sync();
        }
        var images = All(_disk.TraceCount);
        images.Should().Contain(image => Names(image) == "old", "the file was synced, the directory was not");
        images.Where(image => Names(image) == "new,old").Should().NotBeEmpty()
            .And.OnlyContain(image => image.Contents("new").All(b => b == 2));

        _disk.SyncDirectory();
        All(_disk.TraceCount).Should().OnlyContain(image => Names(image) == "new,old");
        _disk.Rename("new", "newer");
        images = All(_disk.TraceCount);
        images.Select(Names).Distinct().Should().BeEquivalentTo("new,old", "newer,old");
        images.Should().OnlyContain(image => image.Contents(Names(image) == "new,old" ? "new" : "newer")[0] == 2);

        _disk.SyncDirectory();
        _disk.Delete("newer");
        _disk.SyncDirectory();
        _disk.Delete("old");
        All(_disk.TraceCount).Select(Names).Distinct().Should().BeEquivalentTo("", "old");
        _disk.SyncDirectory();
        All(_disk.TraceCount).Should().OnlyContain(image => Names(image) == "");
    }

    [Fact]
    public void Names_are_lost_independently()
    {
        for (var i = 0; i < 3; i++)
            _disk.Open($"{i}", DiskOpen.New, DiskAccess.Buffered).Dispose();
        All(_disk.TraceCount).Select(Names).Distinct().Should().HaveCount(8);
    }

    [Fact]
    public void A_kill_shows_everything_and_a_power_cut_after_it_can_still_take_it()
    {
        using var file = NewSyncedFile("a", 1, 1);
        file.Write(0, Filled(2 * Block, 2));
        _disk.Open("b", DiskOpen.New, DiskAccess.Buffered).Dispose();
        var killed = new CrashImages(_disk).BuildKilled(_disk.TraceCount);
        Names(killed).Should().Be("a,b");
        killed.Contents("a").Should().HaveCount(2 * Block).And.OnlyContain(b => b == 2);

        new CrashImages(killed).BuildLost(0).Contents("a").Should().HaveCount(Block).And.OnlyContain(b => b == 1);
        using var reopened = killed.Open("a", DiskOpen.Existing, DiskAccess.Buffered);
        reopened.Sync();
        var lost = new CrashImages(killed).BuildLost(killed.TraceCount);
        Names(lost).Should().Be("a");
        lost.Contents("a").Should().HaveCount(2 * Block).And.OnlyContain(b => b == 2);
        killed.SyncDirectory();
        Names(new CrashImages(killed).BuildLost(killed.TraceCount)).Should().Be("a,b");
    }

    [Fact]
    public void A_kill_can_break_off_the_write_in_progress()
    {
        using var file = NewSyncedFile("a", 4, 0);
        using var buffer = new AlignedBuffer(4 * Block, 7);
        var before = _disk.TraceCount;
        using var through = _disk.Open("a", DiskOpen.Existing, DiskAccess.WriteThrough);
        through.Write(0, buffer.Span);
        var images = new CrashImages(_disk);
        var written = Enumerable.Range(0, 100)
            .Select(seed => images.BuildKilled(before + 1, new Random(seed)).Contents("a").Count(b => b == 7));
        written.Distinct().Should().BeEquivalentTo([0, Block, 2 * Block, 3 * Block, 4 * Block]);
        images.BuildKilled(before + 1).Contents("a").Should().OnlyContain(b => b == 7);
        images.BuildKilled(_disk.TraceCount, new Random(1)).Contents("a").Should().OnlyContain(b => b == 7);
    }

    [Fact]
    public void A_sync_that_drops_written_bytes_hides_them_from_all_readers()
    {
        using var file = NewSyncedFile("a", 2, 1);
        using var map = file.Map(2 * Block);
        file.Write(0, Filled(Block, 2));
        _disk.FailNext(call => call.Kind == DiskCallKind.Sync, DiskError.Failed, dropsDirty: true);
        FluentActions.Invoking(file.Sync).Should().Throw<DiskException>();
        _disk.Contents("a").Should().OnlyContain(b => b == 1);
        FirstByte(map).Should().Be(1);
        file.Write(Block, Filled(Block, 3));
        file.Sync();
        foreach (var image in All(_disk.TraceCount))
            image.Contents("a").Should().Match(bytes => Is(bytes.ToArray(), 0, Block, 1) && Is(bytes.ToArray(), Block, 2 * Block, 3));

        static unsafe byte FirstByte(FileMap map) => *map.Address;
    }

    [Fact]
    public void Every_combination_of_pending_writes_is_another_disk()
    {
        using var file = NewSyncedFile("a", 2, 0);
        var written = Filled(Block, 0);
        written[0] = written[700] = 7;
        file.Write(0, written);
        file.Write(Block, Filled(Block, 0));
        file.SetLength(3 * Block);
        using var other = _disk.Open("b", DiskOpen.New, DiskAccess.Buffered);

        // Two sectors that differ, one length, one name.
        var images = new CrashImages(_disk);
        var parts = images.PartsAt(_disk.TraceCount, 512, 12)!;
        parts.Count.Should().Be(4);
        parts.Combinations.Should().Be(16);
        Enumerable.Range(0, 16).Select(i => Dump(images.BuildCombination(_disk.TraceCount, parts, i))).Distinct().Should().HaveCount(16);
        images.PartsAt(_disk.TraceCount, 4096, 12)!.Combinations.Should().Be(8);
        images.PartsAt(_disk.TraceCount, 512, 3).Should().BeNull();
    }

    [Fact]
    public void Garbage_is_left_where_it_is_asked_for_and_nowhere_else()
    {
        using var file = NewSyncedFile("a", 4, 1);
        using var other = NewSyncedFile("b", 4, 1);
        file.Write(Block, Filled(Block, 2));
        other.Write(Block, Filled(Block, 2));
        var images = new CrashImages(_disk);
        var suspect = _disk.FileOf("a");
        var found = Enumerable.Range(0, Images).Select(seed => images.Build(_disk.TraceCount, new Random(seed), id => id == suspect)).ToList();
        found.Should().OnlyContain(image => Is(image.Contents("a"), 0, Block, 1) && Is(image.Contents("a"), 2 * Block, 4 * Block, 1));
        found.Should().Contain(image => image.Contents("a").Any(b => b > 2));
        found.Should().OnlyContain(image => image.Contents("b").All(b => b == 1 || b == 2));
    }

    [Fact]
    public void A_sync_does_not_save_the_blocks_that_a_failed_one_left()
    {
        using var file = NewSyncedFile("a", 2, 1);
        file.Write(0, Filled(Block, 2));
        _disk.FailNext(call => call.Kind == DiskCallKind.Sync, DiskError.Failed);
        FluentActions.Invoking(file.Sync).Should().Throw<DiskException>();
        file.Write(Block, Filled(Block, 3));
        file.Sync();
        var images = All(_disk.TraceCount).Select(image => image.Contents("a")).ToList();
        images.Should().OnlyContain(bytes => bytes[Block] == 3);
        images.Should().Contain(bytes => bytes[0] == 1).And.Contain(bytes => bytes[0] == 2);

        file.Write(0, Filled(Block, 4));
        file.Sync();
        All(_disk.TraceCount).Should().OnlyContain(image => image.Contents("a")[0] == 4, "it was written again");
    }

    [Fact]
    public void A_failed_write_may_have_left_bytes()
    {
        using var file = NewSyncedFile("a", 1, 1);
        _disk.FailNext(call => call.Kind == DiskCallKind.Write, DiskError.Failed);
        FluentActions.Invoking(() => file.Write(0, Filled(Block, 2))).Should().Throw<DiskException>();
        _disk.Contents("a").Should().OnlyContain(b => b == 1);
        All(_disk.TraceCount).Should().Contain(image => image.Contents("a")[0] == 1).And.Contain(image => image.Contents("a")[0] == 2);
    }

    [Fact]
    public void Images_are_the_same_for_the_same_seed_and_cuts_go_back_as_well_as_forward()
    {
        using var file = NewSyncedFile("a", 4, 0);
        for (byte i = 1; i < 50; i++)
        {
            file.Write(i * 300, Filled(700, i));
            _disk.Mark(i);
            if (i % 7 == 0)
                file.Sync();
        }
        var forward = new CrashImages(_disk);
        var contents = Enumerable.Range(0, _disk.TraceCount + 1).Select(cut => Dump(forward.Build(cut, new Random(cut)))).ToList();
        for (var cut = _disk.TraceCount; cut >= 0; cut -= 5)
            Dump(forward.Build(cut, new Random(cut))).Should().Be(contents[cut]);
        _disk.Count(TraceKind.Mark).Should().Be(49);
        _disk.Trace(_disk.TraceCount - 1).Kind.Should().Be(TraceKind.SyncEnd);
    }

    /// <summary>
    /// Random histories. Each byte identifies the write that it comes from, so that each byte of each image can be checked against the
    /// bytes written there and those that must have replaced them; and a kill at the cut shows exactly the contents that the process saw.
    /// </summary>
    [Fact]
    public void Random_histories_keep_synced_bytes_and_invent_nothing()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        for (var round = 0; round < 20; round++)
            CheckRandomHistory(random, seed);
    }

    private static void CheckRandomHistory(Random random, int seed)
    {
        const int length = 3 * Block;
        var disk = new SimulatedDisk();
        using var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.SetLength(length);
        file.Sync();
        disk.SyncDirectory();

        // For each byte, the values that a power cut at this point may leave, the durable one first.
        var allowed = Enumerable.Range(0, length).Select(_ => new List<byte> { 0 }).ToArray();
        var images = new CrashImages(disk);
        for (byte i = 1; i < 60; i++)
        {
            var offset = random.Next(length);
            var count = random.Next(1, length - offset + 1);
            if (random.Next(4) == 0)
            {
                file.Sync();
                foreach (var values in allowed)
                    values.RemoveRange(0, values.Count - 1);
            }
            file.Write(offset, Filled(count, i));
            for (var at = offset; at < offset + count; at++)
                allowed[at].Add(i);

            var bytes = images.Build(disk.TraceCount, random).Contents("a");
            var wrong = Enumerable.Range(0, length).FirstOrDefault(at => !allowed[at].Contains(bytes[at]), -1);
            wrong.Should().Be(-1, "no byte of an image may be invented, after write {0} with seed {1}", i, seed);
            var lost = allowed.Select(values => values[0]).ToArray();
            images.BuildLost(disk.TraceCount).Contents("a").AsSpan().SequenceEqual(lost).Should().BeTrue("seed {0}", seed);
            var seen = disk.Contents("a");
            images.BuildKilled(disk.TraceCount).Contents("a").AsSpan().SequenceEqual(seen).Should().BeTrue("seed {0}", seed);
            images.BuildKept(disk.TraceCount).Contents("a").AsSpan().SequenceEqual(seen).Should().BeTrue("seed {0}", seed);
        }
    }

    private DiskFile NewSyncedFile(string name, int blocks, byte fill)
    {
        var file = _disk.Open(name, DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, Filled(blocks * Block, fill));
        file.Sync();
        _disk.SyncDirectory();
        return file;
    }

    private List<SimulatedDisk> All(int cut)
    {
        var images = new CrashImages(_disk);
        return Enumerable.Range(0, Images).Select(seed => images.Build(cut, new Random(seed))).ToList();
    }

    private static string Names(SimulatedDisk disk) =>
        string.Join(",", disk.List().Select(entry => entry.Name).Order(StringComparer.Ordinal));

    private static string Dump(SimulatedDisk disk) =>
        string.Join(",", disk.List().Select(entry => entry.Name + Convert.ToHexString(disk.Contents(entry.Name))));

    private static byte[] Filled(int length, byte value)
    {
        var bytes = new byte[length];
        bytes.AsSpan().Fill(value);
        return bytes;
    }

    private static bool Is(byte[] bytes, int start, int end, byte value) => !bytes.AsSpan(start, end - start).ContainsAnyExcept(value);

    private static bool Mixed(byte[] bytes, int start, int end) => bytes.AsSpan(start, end - start).ContainsAnyExcept(bytes[start]);
}
