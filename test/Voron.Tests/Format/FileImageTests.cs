using System.Runtime.InteropServices;
using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Recovery;

namespace Voron.Tests.Format;

/// <summary>Files and records as the engine writes them, byte for byte, from fixed ids. A change here is a change of the format.</summary>
[Quick]
public sealed unsafe class FileImageTests
{
    private const string Meaning = "the format on disk has changed, so existing files cannot be read.";

    private static readonly RandomId EnvironmentId = new(0x0F0E0D0C0B0A0908, 0x0706050403020100);
    private static readonly RandomId Incarnation = new(0x1F1E1D1C1B1A1918, 0x1716151413121110);

    [Theory]
    [InlineData(JournalFormat.Version1)]
    [InlineData(JournalFormat.Version)]
    public void The_header_file_of_a_new_environment(uint version)
    {
        using var disk = new MemoryDisk();
        var header = SomeCheckpoint(version);
        HeaderFile.Create(disk, HeaderFile.FileName, header);
        using (var read = HeaderFile.Open(disk))
            (read.Current with { Magic = 0, Checksum = 0 }).Should().Be(header);
        var bytes = ReadAll(disk, HeaderFile.FileName);
        bytes.Length.Should().Be(2 * JournalFormat.Block);
        bytes.AsSpan(0, JournalFormat.Block).SequenceEqual(bytes.AsSpan(JournalFormat.Block)).Should().BeTrue("both slots are alike");
        bytes.AsSpan(CheckpointHeader.Size, JournalFormat.Block - CheckpointHeader.Size).ContainsAnyExcept((byte)0).Should().BeFalse();
        AcceptedText.Check($"test/Voron.Tests/Format/Images/header-file{Suffix(version)}.txt", HexImage.Of(bytes), Meaning);
    }

    [Theory]
    [InlineData(JournalFormat.Version1)]
    [InlineData(JournalFormat.Version)]
    public void The_header_of_a_journal_file(uint version)
    {
        using var disk = new MemoryDisk();
        using (var file = disk.Open("journal-00000001.voron", DiskOpen.New, DiskAccess.WriteThrough))
        {
            file.Allocate(0, SomeJournalHeader(version).FileLength);
            JournalSeal[] seals =
            [
                new() { Incarnation = Next(-2), Epoch = 5, LastSequence = 70, EndOffset = 16384 },
                new() { Incarnation = Next(-1), Epoch = 6, LastSequence = 0, EndOffset = 8192 },
            ];
            JournalFileHeaders.Write(file, SomeJournalHeader(version), seals, isNew: true);
            var info = JournalFileHeaderReader.Read(file, "journal-00000001.voron", EnvironmentId, out var abandoned);
            abandoned.Should().BeNull();
            info!.Seals.Should().Equal(seals);
        }

        var bytes = ReadAll(disk, "journal-00000001.voron")[..(int)JournalFormat.FirstRecordOffset];
        bytes.AsSpan(0, JournalFormat.Block).SequenceEqual(bytes.AsSpan(JournalFormat.Block)).Should().BeTrue("both copies are alike");
        bytes.AsSpan(JournalFileHeader.Size + 2 * JournalSeal.Size, JournalFormat.Block - JournalFileHeader.Size - 2 * JournalSeal.Size)
            .ContainsAnyExcept((byte)0).Should().BeFalse();
        AcceptedText.Check($"test/Voron.Tests/Format/Images/journal-header{Suffix(version)}.txt", HexImage.Of(bytes), Meaning);
    }

    [Theory]
    [InlineData(JournalFormat.Version1)]
    [InlineData(JournalFormat.Version)]
    public void A_transaction_record_with_an_entry_of_each_kind(uint version)
    {
        using var entry = new RecordBuffer(64 << 10);
        new Span<byte>(entry.Buffer, 64 << 10).Fill(0xEE);
        var record = new RecordBuilder(entry, RecordKind.Transaction, version);
        var page = (byte*)NativeMemory.AlignedAlloc(8192, 4096);
        var previous = (byte*)NativeMemory.AlignedAlloc(4096, 4096);
        NativeMemory.Clear(page, 8192);
        NativeMemory.Clear(previous, 4096);
        page[100] = 0xA1;
        page[101] = 0xA2;
        previous[200] = 0xB1;
        record.AddPage(3, page, previous, 4096, ulong.MaxValue);
        record.AddPage(4, page, null, 4096, ulong.MaxValue);
        page[5000] = 0xA3;
        record.AddExtent(5, page, 2, 4096);
        record.AddFree(9, 4);
        record.AddDirect(20, 16, new DirectExtent { Length = 65000, Checksums = 7 });
        NativeMemory.AlignedFree(page);
        NativeMemory.AlignedFree(previous);
        Check(record.Finish(SomeState(version), null), $"record-transaction{Suffix(version)}.txt");
    }

    [Theory]
    [InlineData(JournalFormat.Version1)]
    [InlineData(JournalFormat.Version)]
    public void A_transaction_record_with_pages_that_are_in_the_data_file(uint version)
    {
        using var entry = new RecordBuffer(64 << 10);
        new Span<byte>(entry.Buffer, 64 << 10).Fill(0xEE);
        var record = new RecordBuilder(entry, RecordKind.Transaction, version);
        var checksums = record.AddDirectPages(20, 2);
        checksums[0] = 0x1122334455667788;
        checksums[1] = 0x99AABBCCDDEEFF00;
        var finished = record.Finish(SomeState(version), null);
        finished.Header->Flags |= RecordFlags.ExtentsUnsynced;
        Check(finished, $"record-direct-pages{Suffix(version)}.txt");
    }

    [Fact]
    public void A_flush_list_and_a_durability_marker()
    {
        using var entry = new RecordBuffer(64 << 10);
        var list = new RecordBuilder(entry, RecordKind.FlushList, JournalFormat.Version1);
        list.AddListed(3, 0x1122334455667788, 1);
        list.AddListed(5, 0x99AABBCCDDEEFF00, 2);
        Check(list.Finish(SomeState(JournalFormat.Version1), null), "record-flush-list.txt");
        Check(new RecordBuilder(entry, RecordKind.DurabilityMarker, JournalFormat.Version1).Finish(default, null), "record-vouching.txt");
    }

    [Fact]
    public void A_record_with_images_of_a_flush()
    {
        using var entry = new RecordBuffer(64 << 10);
        new Span<byte>(entry.Buffer, 64 << 10).Fill(0xEE);
        var images = new RecordBuilder(entry, RecordKind.FlushImages, JournalFormat.Version1);
        var page = (byte*)NativeMemory.AlignedAlloc(4096, 4096);
        NativeMemory.Clear(page, 4096);
        page[0] = 0xC1;
        page[100] = 0xA1;
        images.AddPage(3, page, null, 4096, ulong.MaxValue);
        page[4095] = 0xA2;
        images.AddPage(7, page, null, 4096, ulong.MaxValue);
        NativeMemory.AlignedFree(page);
        Check(images.Finish(SomeState(JournalFormat.Version1), null), "record-flush-images.txt");
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(65536)]
    public void The_pages_of_a_new_environment(int pageSize)
    {
        using var pages = new InitialPages(new SectionMapLayout(pageSize));
        pages.PageCount.Should().Be(3);
        AcceptedText.Check($"test/Voron.Tests/Format/Images/initial-pages-{pageSize}.txt", HexImage.Of(pages.Bytes), Meaning);
    }

    [Fact]
    public void The_files_of_an_environment_have_their_names()
    {
        var disk = new MemoryDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false });
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("t").Put("k"u8, "v"u8);
            writing.Commit();
        }

        var names = disk.List().Select(file => file.Name).Order(StringComparer.Ordinal).ToArray();
        names.Should().BeSubsetOf(["journal-00000001.voron", "voron.data", "voron.header", "voron.lock"])
            .And.Contain(["journal-00000001.voron", "voron.data", "voron.header"]);
        JournalSnapshotFile.NameOf(12).Should().Be("rewrite-00000012.voron");
        JournalFile.NameOf(123_456_789).Should().Be("journal-123456789.voron");
    }

    [Theory]
    [InlineData(4096, 1024, 128, 31, 504, 4032)]
    [InlineData(8192, 512, 64, 123, 1016, 7936)]
    [InlineData(65536, 64, 8, 6547, 8184, 52440)]
    public void Section_maps_are_laid_out_as_the_file_format_says(
        int pageSize, int pagesPerSection, int bitmapBytes, int sections, int numbers, int countsOffset)
    {
        var layout = new SectionMapLayout(pageSize);
        layout.PagesPerSection.Should().Be(pagesPerSection);
        layout.BitmapBytes.Should().Be(bitmapBytes);
        layout.SectionsPerGroup.Should().Be(sections);
        layout.NumbersPerPage.Should().Be(numbers);
        layout.CountsOffset.Should().Be(countsOffset);
        layout.MaxPageCount.Should().Be(uint.MaxValue);
        (countsOffset + sections * sizeof(ushort)).Should().BeLessThanOrEqualTo(pageSize);
    }

    /// <summary>Completes the record as the writer does, and compares it with its image.</summary>
    private static void Check(RecordBuffer entry, string name)
    {
        var header = entry.Header;
        header->Incarnation = Incarnation;
        header->Offset = 8192;
        header->Sequence = 71;
        header->DurableSequence = 69;
        header->PreviousChecksum = 0x0102030405060708;
        header->Checksum = RecordChecksum.Compute(EnvironmentId, entry.Buffer);
        var bytes = new ReadOnlySpan<byte>(entry.Buffer, (int)entry.Length);
        bytes[(int)(header->HeaderSize + header->StoredLength)..].ContainsAnyExcept((byte)0).Should().BeFalse("a record is padded with zeros");
        bytes.Slice(66, 2).ContainsAnyExcept((byte)0).Should().BeFalse();
        bytes.Slice(160, 16).ContainsAnyExcept((byte)0).Should().BeFalse();
        AcceptedText.Check("test/Voron.Tests/Format/Images/" + name, HexImage.Of(bytes), Meaning);
    }

    private static byte[] ReadAll(MemoryDisk disk, string name)
    {
        using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.Buffered);
        var bytes = new byte[file.Length];
        file.Read(0, bytes);
        return bytes;
    }

    private static string Suffix(uint version) => version == JournalFormat.Version1 ? "" : $"-{version}";

    private static EnvironmentState SomeState(uint version) => new()
    {
        TransactionId = 66,
        CommitTime = version == JournalFormat.Version1 ? 0 : 0x08DE_2B4F_1A2B_3C4D,
        PageCount = 1000,
        NextTreeId = 3,
        Catalog = new TreeHeader { RootPage = 12, EntryCount = 2, LeafPages = 1, Depth = 1 },
    };

    private static CheckpointHeader SomeCheckpoint(uint version) => new()
    {
        Version = version,
        Lineage = SomeLineage(version),
        PageSize = 4096,
        EnvironmentId = EnvironmentId,
        CheckpointNumber = 9,
        State = SomeState(version),
        ReplayStart = new JournalPosition { Incarnation = Incarnation, Epoch = 7, Offset = 12288, Sequence = 71, Checksum = 0x0102030405060708 },
        JournalSnapshotNumber = 10,
        JournalSnapshotTransactionId = 70,
        JournalSnapshotLength = 40960,
        JournalSnapshotIncarnation = Next(1),
    };

    private static Lineage SomeLineage(uint version) => version == JournalFormat.Version1
        ? default
        : new Lineage { Id = new RandomId(0x2F2E2D2C2B2A2928, 0x2726252423222120), Parent = EnvironmentId, ForkTransactionId = 33 };

    private static RandomId Next(int by) => new(Incarnation.Upper, Incarnation.Lower + (ulong)by);

    private static JournalFileHeader SomeJournalHeader(uint version) => new()
    {
        Magic = JournalFormat.FileMagic,
        Version = version,
        Lineage = SomeLineage(version),
        PageSize = 4096,
        EnvironmentId = EnvironmentId,
        Incarnation = Incarnation,
        Epoch = 7,
        FileLength = 65536,
    };
}
