using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Maintenance;
using Voron.Paging;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Tests.Format;

/// <summary>
/// Numbers that are valid on their own, under valid checksums, but wrong in combination with others: none is followed unchecked.
/// </summary>
[Quick]
public sealed class ForgedNumberTests
{
    /// <summary>The extent was bounded by the length of the file: after a truncation, the rest of it had no address.</summary>
    [Theory]
    [InlineData(9, false)]
    [InlineData(10, true)]
    public unsafe void An_extent_that_ends_behind_the_last_page_is_refused(long pageCount, bool isInside)
    {
        var value = new OneExtent(pages: 3, length: 9_000, pageCount);
        var readsValue = () => _ = (nint)TreePages.ReadExtent(value, OneExtent.First, 9_000);
        const int Chunks = 1_200;
        var sums = new OneExtent(pages: 3, length: Chunks * sizeof(ulong), pageCount);
        var reference = new LargeExtentReference
        {
            FirstPage = 1,
            Checksums = (ulong)OneExtent.First.Value,
            Length = (long)Chunks * LargeExtentReference.ChunkBytes,
        };
        var readsSums = () => _ = LargeValueReader.Checksums(sums, reference).Length;
        foreach (var reads in (Action[])[() => readsValue(), () => readsSums()])
        {
            if (isInside)
                reads.Should().NotThrow();
            else
                reads.Should().Throw<CorruptionException>().WithMessage($"'memory' is damaged: the overflow extent at page 7 has 3 pages, but there are {pageCount} *");
        }
    }

    /// <summary>The background verification failed at every interval, and reported nothing.</summary>
    [Fact]
    public void A_name_in_the_catalog_that_is_too_long_is_reported()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        using (var writing = environment.BeginWrite())
        {
            var header = new TreeState(writing.Body.Catalog.ToHeader()).ToHeader();
            var bytes = MemoryMarshal.AsBytes(new ReadOnlySpan<TreeHeader>(in header));
            TreeWriter.Put(writing.Body.WritePages, writing.Body.Catalog, new byte[300], bytes);
            writing.Commit();
        }

        environment.Flush();
        var pass = new ScrubPass(environment.Internals.Engine, ScrubPace.Unlimited(TestContext.Current.CancellationToken));
        using var reading = new EngineSnapshot(environment.Internals.Engine);
        while (!pass.RunSlice(reading.Snapshot))
        {
        }

        pass.Report.Problems.Should().Contain(problem => problem.Contains("a name of 300 bytes", StringComparison.Ordinal));
    }

    /// <summary>
    /// Such pages still counted as verified because of an earlier read: if a section map is wrong, a page of a tree may be among them.
    /// </summary>
    [Fact]
    public async Task Pages_that_a_failed_upload_has_written_to_are_checked_before_they_are_used_again()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < 1_000; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 3_000));
        environment.Flush();
        for (var i = 0; i < 1_000; i++)
            FaultTestKit.Get(environment, i).Should().NotBeNull();
        using (var deleting = environment.BeginWrite())
        {
            deleting.DeleteTree(FaultTestKit.TreeName);
            deleting.Commit();
        }

        environment.Flush();
        var data = environment.Internals.Engine.DataFile;
        var before = disk.Contents("voron.data");
        var verified = Enumerable.Range(0, (int)environment.GetStatistics().PageCount).Where(page => data.IsVerified(page)).ToList();
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("uploads");
            using var upload = new BrokenStream(3 << 20);
            var put = async () => await tree.PutAsync(FaultTestKit.Key(1), upload, TestContext.Current.CancellationToken);
            await put.Should().ThrowAsync<IOException>();
        }

        var after = disk.Contents("voron.data");
        var written = verified.Where(page => !before.AsSpan(page * 4096, 4096).SequenceEqual(after.AsSpan(page * 4096, 4096))).ToList();
        written.Should().NotBeEmpty("the upload takes pages that the tree has left");
        written.Should().OnlyContain(page => !data.IsVerified(page));
    }

    /// <summary>Provides the first page of an extent and the number of pages.</summary>
    private sealed unsafe class OneExtent : PageReader
    {
        public static readonly PageNumber First = new(7);

        private readonly byte[] _page = GC.AllocateArray<byte>(4096, pinned: true);

        public OneExtent(uint pages, long length, long pageCount)
        {
            PageCount = pageCount;
            var header = (PageHeader*)Read(First);
            header->Kind = PageKind.Overflow;
            header->PageNumber = First.Value;
            header->ExtentPages = pages;
            header->ExtentBytes = length;
        }

        public override int PageSize => 4096;

        public override string FilePath => "memory";

        public override long PageCount { get; }

        public override byte* Read(PageNumber page) => (byte*)Unsafe.AsPointer(ref _page[0]);

        public override byte* Peek(PageNumber page) => null;

        public override ReadOnlySpan<byte> ReadLarge(scoped in LargeExtentReference reference, long offset, int count) =>
            throw new NotSupportedException();
    }

    /// <summary>A stream that fails where its end would be.</summary>
    private sealed class BrokenStream(int length) : MemoryStream(Enumerable.Repeat((byte)1, length).ToArray())
    {
        public override int Read(Span<byte> buffer) => Position == Length ? throw new IOException("the connection was lost") : base.Read(buffer);

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            Position == Length ? throw new IOException("the connection was lost") : base.ReadAsync(buffer, cancellationToken);
    }
}
