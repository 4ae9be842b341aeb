using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using Voron.Feeds;
using Voron.Format;
using Voron.Recording;

namespace Voron.Tests.Format;

/// <summary>Size, offsets, byte order and spare bytes of all structures on disk, whose change would make existing files unreadable.</summary>
[Quick]
public sealed class StructureTests
{
    /// <summary>The structures with their sizes and the ranges (from, length) that belong to no field and are always zero.</summary>
    public static TheoryData<string, int, string> Structures => new()
    {
        { nameof(RandomId), 16, "" },
        { nameof(JournalPosition), 48, "" },
        { nameof(CheckpointHeader), 384, "28+4 76+4 168+16 260+4 336+48" },
        { nameof(EnvironmentState), 128, "20+4 112+16" },
        { nameof(Lineage), 40, "" },
        { nameof(TreeHeader), 64, "" },
        { nameof(RecordHeader), 216, "108+4 200+16" },
        { nameof(PageEntry), 16, "" },
        { nameof(CompactPageEntry), 8, "" },
        { nameof(DirectExtent), 16, "" },
        { nameof(DirectPages), 8, "" },
        { nameof(FlushListEntry), 24, "20+4" },
        { nameof(JournalFileHeader), 128, "28+4 120+8" },
        { nameof(JournalSeal), 48, "40+8" },
        { nameof(PageHeader), 64, "16+8 42+2 54+2" },
        { nameof(ChangeLogEntry), 112, "20+4" },
        { nameof(BackupPoint), 24, "" },
        { nameof(StatusBlock), 480, "432+48" },
        { nameof(BackupHeader), 152, "" },
        { nameof(BackupFrame), 64, "" },
        { nameof(BackupExtent), 16, "12+4" },
        { nameof(BackupIndexEntry), 24, "12+4" },
        { nameof(BackupTrailer), 88, "84+4" },
        { nameof(LeafRecordHeader), 4, "" },
        { nameof(BranchRecordHeader), 10, "" },
        { nameof(OverflowReference), 16, "" },
        { nameof(LargeExtentReference), 24, "" },
        { nameof(FewIdsHeader), 12, "" },
        { nameof(IdSetReference), 24, "2+2" },
        { nameof(FewValuesHeader), 8, "1+1" },
        { nameof(LargeSetReference), 32, "1+7" },
        { nameof(IdBlockEntry), 16, "" },
        { nameof(FeedRecord), 80, "1+1 36+4 64+16" },
        { nameof(SourceRecord), 16, "2+2" },
        { nameof(TreeRecording), 16, "12+4" },
        { nameof(PackedValue), 7, "" },
        { nameof(CompressionSettings), 16, "2+2 8+8" },
    };

    [Theory]
    [MemberData(nameof(Structures))]
    public void A_structure_has_the_size_and_the_spare_bytes_of_the_file_format(string name, int size, string spare)
    {
        var type = TypeOf(name);
        SizeOf(type).Should().Be(size);
        type.GetField("Size", BindingFlags.Public | BindingFlags.Static)!.GetRawConstantValue().Should().Be(size);
        type.StructLayoutAttribute!.Value.Should().Be(LayoutKind.Explicit);

        var owner = new string?[size];
        foreach (var (field, offset, length) in HexImage.Fields(type))
        {
            for (var i = offset; i < offset + length; i++)
            {
                owner[i].Should().BeNull($"{field} and another field both have byte {i}");
                owner[i] = field;
            }
        }

        var filled = FilledBytes(type);
        for (var i = 0; i < size; i++)
        {
            var isSpare = IsSpare(spare, i);
            (owner[i] == null).Should().Be(isSpare, $"byte {i} belongs to {owner[i] ?? "no field"}");
            if (isSpare)
                filled[i].Should().Be(0, $"byte {i} is spare");
        }
    }

    [Theory]
    [MemberData(nameof(Structures))]
    public void A_structure_has_its_golden_image(string name, int size, string spare)
    {
        var type = TypeOf(name);
        var fields = HexImage.Fields(type).Select(field => $"{field.Offset,4} {field.Length,3} {field.Field}");
        var text = $"{name}, {size} bytes, zero: {(spare.Length == 0 ? "none" : spare)}\n{string.Join('\n', fields)}\n{HexImage.Of(FilledBytes(type))}";
        AcceptedText.Check($"test/Voron.Tests/Format/Images/{name}.txt", text, "the format on disk has changed, so existing files cannot be read.");
    }

    [Fact]
    public void Every_structure_of_the_format_is_here()
    {
        // A layout is computed from what is on disk, and is not there itself.
        var declared = typeof(PageHeader).Assembly.GetTypes()
            .Where(type => type is { IsValueType: true, IsEnum: false, IsNested: false })
            .Where(type => type.Namespace == "Voron.Format" || (type.Namespace is "Voron.Recording" or "Voron.Feeds" && type.IsExplicitLayout))
            .Select(type => type.Name)
            .Except([nameof(ArrayLayout), nameof(IdBlockShape)]);
        Structures.Select(row => row.Data.Item1).Should().BeEquivalentTo(declared);
    }

    [Fact]
    public void Marks_and_numbers_are_those_of_the_file_format()
    {
        Text(CheckpointHeader.FileMagic).Should().Be("VoronHdr");
        Text(ChangeLogEntry.MarkerValue).Should().Be("VoronChg");
        Text(BackupHeader.MagicValue).Should().Be("VoronBak");
        Text(BackupFrame.MarkerValue).Should().Be("VoronFrm");
        Text(StatusBlock.FileMagic).Should().Be("VoronSta");
        StatusBlock.LayoutVersion.Should().Be(1);
        Numbers<StatusFlags>().Should().Be("None=0 IsPoisoned=1 IsBackPressureActive=2");
        Text(JournalFormat.FileMagic).Should().Be("VoronJnl");
        Text(JournalFormat.RecordMarker).Should().Be("VoronRec");
        JournalFormat.Version1.Should().Be(1);
        JournalFormat.Version.Should().Be(2);
        RecordHeader.SizeInVersion1.Should().Be(192);
        EnvironmentState.SizeInVersion1.Should().Be(104);
        JournalFormat.Block.Should().Be(4096);
        JournalFormat.FirstRecordOffset.Should().Be(8192);
        JournalFileHeader.MaxSeals.Should().Be(82);
        RecordHeader.ChecksummedFrom.Should().Be(16);
        PageHeader.UnjournaledBytes.Should().Be(32);
        Numbers<PageKind>().Should().Be("None=0 Leaf=1 Branch=2 Overflow=3 SectionMap=4 Array=5 Ids=6");
        Numbers<BackupFrameKind>().Should().Be("Pages=1 State=2 UsedPages=3 Index=4 Note=5 Padding=6 Trailer=7");
        Numbers<RecordKind>().Should().Be("Transaction=1 FlushList=2 FlushImages=3 DurabilityMarker=4 JournalSnapshot=5");
        Numbers<RecordFlags>().Should().Be("None=0 Compressed=1 ExtentsUnsynced=2 WholeState=4");
        Numbers<FormatFeatures>().Should().Be(
            "None=0 IdSets=1 FixedSizeTrees=2 Tables=4 ChangeFeeds=8 CompressedValues=16 ChangeLog=32 FeedHistory=64 ValueSets=128");
        Numbers<PageEntryKind>().Should().Be("Diff=1 Zeros=2 Extent=3 Free=4 Direct=5");
        Numbers<ValueKind>().Should().Be("Inline=0 Overflow=1 LargeExtent=2 Extended=3");
        Numbers<ValueSetForm>().Should().Be("One=1 Few=2 Large=3");
        Numbers<ExtendedForm>().Should().Be("OneId=1 FewIds=2 IdSet=3 Packed=6 PackedOutside=7");
    }

    [Fact]
    public void A_page_entry_packs_number_and_kind()
    {
        const long largest = uint.MaxValue;
        var entry = new PageEntry { PageAndKind = PageEntry.Pack(largest, PageEntryKind.Direct), Pages = 7, Length = 16 };
        entry.Page.Should().Be(largest);
        entry.Kind.Should().Be(PageEntryKind.Direct);
        HexImage.Of(MemoryMarshal.AsBytes(new ReadOnlySpan<PageEntry>(ref entry))).Should().Be("0000: 05ffffffff0000000700000010000000");
    }

    [Fact]
    public unsafe void A_page_entry_of_either_form_reads_the_same()
    {
        const long largest = (1L << 40) - 1;
        CompactPageEntry.Fits(largest, ushort.MaxValue).Should().BeTrue();
        CompactPageEntry.Fits(largest + 1, 0).Should().BeFalse();
        CompactPageEntry.Fits(0, ushort.MaxValue + 1).Should().BeFalse();
        var compact = new CompactPageEntry(largest, PageEntryKind.Zeros, ushort.MaxValue);
        HexImage.Of(MemoryMarshal.AsBytes(new ReadOnlySpan<CompactPageEntry>(ref compact))).Should().Be("0000: 82ffffffffffffff");
        var full = new PageEntry { PageAndKind = PageEntry.Pack(largest, PageEntryKind.Zeros), Pages = 1, Length = ushort.MaxValue };

        PageEntry.TryRead((byte*)&compact, CompactPageEntry.Size + ushort.MaxValue, out var read, out var size).Should().BeTrue();
        read.Should().Be(full);
        size.Should().Be(CompactPageEntry.Size);
        PageEntry.TryRead((byte*)&full, PageEntry.Size + ushort.MaxValue, out read, out size).Should().BeTrue();
        read.Should().Be(full);
        size.Should().Be(PageEntry.Size);

        // Neither the entry nor its content may end behind the available bytes.
        PageEntry.TryRead((byte*)&compact, CompactPageEntry.Size + ushort.MaxValue - 1, out _, out _).Should().BeFalse();
        PageEntry.TryRead((byte*)&full, PageEntry.Size + ushort.MaxValue - 1, out _, out _).Should().BeFalse();
        PageEntry.TryRead((byte*)&compact, CompactPageEntry.Size - 1, out _, out _).Should().BeFalse();
        PageEntry.TryRead((byte*)&full, PageEntry.Size - 1, out _, out _).Should().BeFalse();
        PageEntry.TryRead((byte*)&full, 0, out _, out _).Should().BeFalse();
    }

    [Theory]
    [InlineData(0, 4096, 0)]
    [InlineData(4096 - 192, 4096, 0)]
    [InlineData(4096 - 191, 8192, 0)]
    [InlineData(1 << 20, (1 << 20) + 4096, 0)]
    [InlineData(4096 - 216, 4096, (int)RecordFlags.WholeState)]
    [InlineData(4096 - 215, 8192, (int)RecordFlags.WholeState)]
    public void A_record_takes_whole_blocks(long stored, long length, int flags) =>
        new RecordHeader { StoredLength = stored, Flags = (RecordFlags)flags }.AlignedLength.Should().Be(length);

    [Fact]
    public void The_state_of_a_record_of_version_1_takes_nothing_of_the_payload()
    {
        var bytes = new byte[RecordHeader.Size];
        bytes.AsSpan(RecordHeader.SizeInVersion1).Fill(0xEE);
        ref var header = ref MemoryMarshal.AsRef<RecordHeader>(bytes.AsSpan());
        header.State = new EnvironmentState { TransactionId = 7, CommitTime = 5 };
        bytes.AsSpan(RecordHeader.SizeInVersion1).ContainsAnyExcept((byte)0xEE).Should().BeFalse("the payload begins there");
        header.State.Should().Be(new EnvironmentState { TransactionId = 7 });
        header.Flags = RecordFlags.WholeState;
        header.State = new EnvironmentState { TransactionId = 8, CommitTime = 6 };
        header.State.Should().Be(new EnvironmentState { TransactionId = 8, CommitTime = 6 });
    }

    private static Type TypeOf(string name) =>
        typeof(PageHeader).Assembly.GetTypes()
            .Single(type => type.Name == name && type.Namespace is "Voron.Format" or "Voron.Recording" or "Voron.Feeds");

    private static int SizeOf(Type type) =>
        (int)typeof(Unsafe).GetMethod(nameof(Unsafe.SizeOf))!.MakeGenericMethod(type).Invoke(null, null)!;

    private static byte[] FilledBytes(Type type) =>
        (byte[])typeof(HexImage).GetMethod(nameof(HexImage.Filled))!.MakeGenericMethod(type).Invoke(null, null)!;

    private static bool IsSpare(string ranges, int at) => ranges.Split(' ', StringSplitOptions.RemoveEmptyEntries)
        .Select(range => range.Split('+').Select(int.Parse).ToArray())
        .Any(range => at >= range[0] && at < range[0] + range[1]);

    private static string Text(ulong magic) => Encoding.ASCII.GetString(BitConverter.GetBytes(magic));

    private static string Numbers<T>()
        where T : struct, Enum => string.Join(' ', Enum.GetValues<T>().Select(value => $"{value}={Convert.ToInt64(value)}"));
}
