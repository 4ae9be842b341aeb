using Voron.Format;
using Voron.Journal;
using Voron.Recovery;
using Voron.Scratch;

namespace Voron.Tests.Journal;

/// <summary>Records with full-page images are written, compressed, read back, and refused when they are not valid.</summary>
[Quick]
public sealed unsafe class FlushImageRecordsTests(ITestOutputHelper output)
{
    private const int PageSize = 4096;
    private const long FlushId = 66;

    [Theory]
    [InlineData(4096, false)]
    [InlineData(4096, true)]
    [InlineData(65536, true)]
    public void Images_come_back_as_they_were(int pageSize, bool compressed)
    {
        using var frames = new FrameAllocator(pageSize, 64 << 20, null);
        using var entry = new RecordBuffer(64 << 10);
        using var other = new RecordBuffer(64 << 10);
        var pages = Enumerable.Range(0, FlushImageRecords.PagesPerRecord(pageSize)).ToDictionary(i => (long)i * 3, i => RandomPage(pageSize, i));
        var record = Build(entry, pages, pageSize, compressed ? other : null);
        (record == other).Should().Be(compressed, "these pages consist mostly of zeros and repetition");

        var lists = Collect([record], frames, pageSize);
        lists.ImageCount.Should().Be(pages.Count);
        lists.HasImageFrom(3, FlushId).Should().BeTrue();
        lists.HasImageFrom(3, FlushId + 1).Should().BeFalse();
        lists.HasImageFrom(4, 1).Should().BeFalse();
        lists.TakeImages(FlushId - 1).Should().BeEmpty();
        foreach (var (page, image) in Taken(lists, FlushId, pageSize))
        {
            // The first bytes belong to the copy on disk.
            image.AsSpan(0, PageHeader.UnjournaledBytes).ContainsAnyExcept((byte)0).Should().BeFalse();
            image.AsSpan(PageHeader.UnjournaledBytes).SequenceEqual(pages[page].AsSpan(PageHeader.UnjournaledBytes)).Should().BeTrue();
            pages.Remove(page);
        }

        pages.Should().BeEmpty();
        lists.ImageCount.Should().Be(0);
    }

    [Fact]
    public void Of_several_images_of_a_page_the_newest_that_is_reached_counts()
    {
        using var frames = new FrameAllocator(PageSize, 16 << 20, null);
        using var first = new RecordBuffer(64 << 10);
        using var second = new RecordBuffer(64 << 10);
        using var finished = new RecordBuffer(64 << 10);
        Build(finished, new() { [9] = RandomPage(PageSize, 1) }, PageSize, null, id: 5);
        Build(first, new() { [3] = RandomPage(PageSize, 2), [4] = RandomPage(PageSize, 3) }, PageSize, null, id: FlushId - 1);
        Build(second, new() { [3] = RandomPage(PageSize, 4) }, PageSize, null);
        foreach (var order in new[] { new[] { finished, first, second }, [second, finished, first] })
        {
            var lists = Collect(order, frames, PageSize, baseId: 5);
            lists.ImageCount.Should().Be(2, "the images of a finished flush do not count");
            Taken(lists, FlushId - 1).Select(taken => taken.Page).Should().Equal(4);
            var (page, image) = Taken(lists, FlushId).Single();
            page.Should().Be(3);
            image.AsSpan(100).SequenceEqual(RandomPage(PageSize, 4).AsSpan(100)).Should().BeTrue();
        }

        // The state shown by an image that is newer than the journal's end cannot be known.
        var unreached = Collect([second], frames, PageSize, lastId: FlushId - 1);
        unreached.ImageCount.Should().Be(0);
        unreached.HasImageFrom(3, 1).Should().BeFalse();
    }

    [Fact]
    public void A_valid_record_that_holds_something_else_is_refused()
    {
        using var frames = new FrameAllocator(PageSize, 16 << 20, null);
        using var entry = new RecordBuffer(64 << 10);
        void Refuse(Action<RecordBuffer> damage, string message)
        {
            Build(entry, new() { [3] = RandomPage(PageSize, 1), [4] = RandomPage(PageSize, 2) }, PageSize, null);
            damage(entry);
            var collect = () => Collect([entry], frames, PageSize);
            collect.Should().Throw<CorruptionException>().WithMessage($"*journal*{message}*");
        }

        Refuse(record => record.Header->EntryCount = 3, "entry 2 of 3");
        Refuse(record => record.Header->EntryCount = 1, "after its 1 images");
        Refuse(record => record.Header->State = record.Header->State with { PageCount = 4 }, "entry 1 of 2");
        Refuse(record => *(CompactPageEntry*)record.Payload = new CompactPageEntry(3, PageEntryKind.Diff, 100), "entry 0 of 2");
        Refuse(record => *(CompactPageEntry*)record.Payload = new CompactPageEntry(3, PageEntryKind.Zeros, ushort.MaxValue), "entry 0 of 2");
        Refuse(record => *(PageEntry*)record.Payload = Entry(pages: 2, length: 0), "entry 0 of 2");
        Refuse(record => *(PageEntry*)record.Payload = Entry(pages: 1, length: uint.MaxValue), "entry 0 of 2");
        Refuse(record => record.Header->PayloadLength = --record.Header->StoredLength, "entry 1 of 2");
        Refuse(record => record.Header->Flags = RecordFlags.Compressed, "does not decompress");
    }

    /// <summary>The head of such a page's chain was read from before the table, which ends the process.</summary>
    [Fact]
    public void A_flush_list_with_a_page_below_0_is_refused()
    {
        using var frames = new FrameAllocator(PageSize, 16 << 20, null);
        using var entry = new RecordBuffer(64 << 10);
        foreach (var page in new[] { -1, long.MinValue })
        {
            var record = new RecordBuilder(entry, RecordKind.FlushList, JournalFormat.Version1);
            record.AddListed(3, 1, 1);
            record.AddListed(page, 1, 1);
            record.Finish(new EnvironmentState { TransactionId = FlushId, PageCount = 1000 }, null);
            var collect = () => Collect([entry], frames, PageSize);
            collect.Should().Throw<CorruptionException>().WithMessage($"*journal*a flush list with page {page}*");
        }
    }

    private static PageEntry Entry(uint pages, uint length) =>
        new() { PageAndKind = PageEntry.Pack(3, PageEntryKind.Zeros), Pages = pages, Length = length };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Whatever_the_bytes_nothing_is_touched_outside(int seed)
    {
        var random = new Random(seed);
        using var entry = new RecordBuffer(64 << 10);
        Build(entry, Enumerable.Range(0, 4).ToDictionary(i => (long)i, i => RandomPage(PageSize, i)), PageSize, null);
        var payload = new ReadOnlySpan<byte>(entry.Payload, (int)entry.Header->PayloadLength).ToArray();
        using var target = new GuardedBuffer(PageSize);
        int read = 0, refused = 0;
        for (var round = 0; round < SuiteShare.Rounds(4000); round++)
        {
            using var damaged = new GuardedBuffer(payload.AsSpan(0, round % 2 == 0 ? payload.Length : random.Next(payload.Length + 1)));
            for (var flips = random.Next(4); flips > 0 && damaged.Length > 0; flips--)
            {
                // Mostly where the lengths are: at the start of an entry and of its byte runs.
                var at = random.Next(2) == 0 ? random.Next(Math.Min(24, damaged.Length)) : random.Next(damaged.Length);
                damaged.Span[at] = (byte)random.Next(256);
            }

            var reader = new FlushImageReader(damaged.Span, 1000, PageSize);
            while (!reader.IsAtEnd && reader.TryRead(target.Pointer, out var page))
            {
                page.Should().BeInRange(0, 999);
                read++;
            }

            refused += reader.IsAtEnd ? 0 : 1;
            target.IsIntact.Should().BeTrue();
            damaged.IsIntact.Should().BeTrue();
        }

        output.WriteLine($"seed {seed}: {read} images read, {refused} payloads refused");
        read.Should().BeGreaterThan(SuiteShare.Rounds(1000));
        refused.Should().BeGreaterThan(SuiteShare.Rounds(1000));
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(65536)]
    public void No_records_take_more_than_is_reserved_for_them(int pageSize)
    {
        using var entry = new RecordBuffer(64 << 10);
        var perRecord = FlushImageRecords.PagesPerRecord(pageSize);
        var full = Build(entry, Pages(perRecord), pageSize, null).Length;
        var one = Build(entry, Pages(1), pageSize, null).Length;
        full.Should().BeGreaterThan(200 << 10);
        FlushImageRecords.MaxBytes(0, pageSize).Should().Be(0);
        FlushImageRecords.MaxBytes(1, pageSize).Should().BeInRange(one, one + JournalFormat.Block);
        FlushImageRecords.MaxBytes(2 * perRecord + 1, pageSize).Should().BeInRange(2 * full + one, 2 * full + one + full / 10);

        Dictionary<long, byte[]> Pages(int count)
        {
            var random = new Random(7);
            return Enumerable.Range(0, count).ToDictionary(i => (long)i, _ =>
            {
                var page = new byte[pageSize];
                random.NextBytes(page);
                return page;
            });
        }
    }

    private static RecordBuffer Build(
        RecordBuffer entry, Dictionary<long, byte[]> pages, int pageSize, RecordBuffer? compressed, long id = FlushId)
    {
        var record = new RecordBuilder(entry, RecordKind.FlushImages, JournalFormat.Version1);
        using var buffer = new GuardedBuffer(pageSize);
        foreach (var (page, bytes) in pages)
        {
            bytes.CopyTo(buffer.Span);
            record.AddPage(page, buffer.Pointer, null, pageSize, ulong.MaxValue);
        }

        return record.Finish(new EnvironmentState { TransactionId = id, PageCount = 1000 }, compressed);
    }

    private static FlushListCollector Collect(
        IEnumerable<RecordBuffer> records, FrameAllocator frames, int pageSize, long baseId = 0, long lastId = FlushId)
    {
        var lists = new FlushListCollector(baseId, baseId, frames, pageSize);
        foreach (var record in records)
            lists.Visit(record.Header, "journal");
        using var last = new RecordBuffer(4096);
        new RecordBuilder(last, RecordKind.Transaction, JournalFormat.Version).Finish(new EnvironmentState { TransactionId = lastId }, null);
        lists.Visit(last.Header, "journal");
        lists.Finish();
        return lists;
    }

    private static List<(long Page, byte[] Image)> Taken(FlushListCollector lists, long id, int pageSize = PageSize) =>
        lists.TakeImages(id).Select(taken => (taken.Page, new ReadOnlySpan<byte>(taken.Image.Frame, pageSize).ToArray())).ToList();

    private static byte[] RandomPage(int pageSize, int seed)
    {
        var random = new Random(seed);
        var page = new byte[pageSize];
        random.NextBytes(page.AsSpan(0, 300));
        for (var at = pageSize / 2; at < pageSize - 300; at += 300)
            page.AsSpan(0, 300).CopyTo(page.AsSpan(at));
        for (var i = 0; i < 50; i++)
            page[random.Next(pageSize)] = (byte)random.Next(256);
        return page;
    }
}
