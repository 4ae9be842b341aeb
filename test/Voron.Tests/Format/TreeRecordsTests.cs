using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;

namespace Voron.Tests.Format;

[Quick]
public sealed class TreeRecordsTests
{
    [Fact]
    public void Records_have_the_sizes_and_offsets_of_the_file_format()
    {
        Unsafe.SizeOf<LeafRecordHeader>().Should().Be(LeafRecordHeader.Size).And.Be(4);
        Unsafe.SizeOf<BranchRecordHeader>().Should().Be(BranchRecordHeader.Size).And.Be(10);
        Unsafe.SizeOf<OverflowReference>().Should().Be(OverflowReference.Size).And.Be(16);
        Unsafe.SizeOf<LargeExtentReference>().Should().Be(LargeExtentReference.Size).And.Be(24);
        Unsafe.SizeOf<TreeHeader>().Should().Be(TreeHeader.Size).And.Be(64);
        OffsetOf<LeafRecordHeader>(nameof(LeafRecordHeader.InlineLength)).Should().Be(2);
        OffsetOf<BranchRecordHeader>(nameof(BranchRecordHeader.Child)).Should().Be(2);
        OffsetOf<OverflowReference>(nameof(OverflowReference.Length)).Should().Be(8);
        OffsetOf<LargeExtentReference>(nameof(LargeExtentReference.Checksums)).Should().Be(16);
    }

    private static int OffsetOf<T>(string field) => (int)Marshal.OffsetOf<T>(field);
}
