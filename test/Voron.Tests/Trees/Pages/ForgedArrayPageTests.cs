using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO.Posix;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.Pages;

/// <summary>
/// Impossible array pages. On Linux the page lies between two ranges of memory that cannot be accessed: a read outside of it would end the process.
/// </summary>
public sealed unsafe class ForgedArrayPageTests : IDisposable
{
    private const int PageSize = 4096;
    private const long Number = 7;

    private readonly byte* _range;
    private readonly byte* _page;
    private readonly ulong* _dirtyLines = (ulong*)NativeMemory.AllocZeroed(sizeof(ulong));

    public ForgedArrayPageTests()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Memory that cannot be accessed is made with calls of Linux.");
        Assert.SkipUnless(Environment.SystemPageSize == PageSize, "The page must be as large as one of the system.");
        _range = PosixMemory.TryReserve(3 * PageSize);
        _page = _range + PageSize;
        PosixMemory.TryCommit(_page, PageSize).Should().BeTrue();
    }

    private delegate void Change(PageHeader* header, byte* page);

    private static readonly Dictionary<string, Change> Changes = new(StringComparer.Ordinal)
    {
        ["another page's number"] = (header, _) => header->PageNumber++,
        ["an unknown flag"] = (header, _) => header->Flags |= 4,
        ["no entries"] = (header, _) => header->EntryCount = 0,
        ["more entries than cells in use"] = (header, _) => header->EntryCount = (ushort)(header->ArrayCells + 1),
        ["more cells than there are"] = (header, _) => header->ArrayCells = 238,
        ["as many cells as can be said"] = (header, _) => header->ArrayCells = ushort.MaxValue,
        ["free cells in a page in order"] = (header, _) => header->Flags |= ArrayLayout.InOrderFlag,
        ["values above an eighth of the page"] = (header, _) => header->ValueSize = (PageSize / 8) + 1,
        ["values larger than the page"] = (header, _) => header->ValueSize = ushort.MaxValue,
        ["a branch with values of 8 bytes"] = (header, _) => header->Flags |= ArrayLayout.BranchFlag,
        ["a cell that is not in use"] = (header, page) => page[64] = (byte)header->ArrayCells,
        ["a free cell that is not in use"] = (header, page) => page[64 + header->EntryCount] = byte.MaxValue,
        ["a cell twice"] = (_, page) => page[64] = page[65],
        ["a cell that is free as well"] = (header, page) => page[64 + header->EntryCount] = page[64],
        ["keys that fall"] = (_, page) => (page[64], page[65]) = (page[65], page[64]),
        ["equal keys"] = (_, page) => Key(page, page[65]) = Key(page, page[64]),
    };

    public static TheoryData<string> Names => [.. Changes.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public void A_page_that_cannot_be_is_found(string name)
    {
        Make(new TestArrayPage(PageSize, 8));
        PageStructure.FindFault(_page, 1, Number, PageSize).Should().BeNull("it has not been changed yet");
        Changes[name]((PageHeader*)_page, _page);
        PageStructure.FindFault(_page, 1, Number, PageSize).Should().NotBeNullOrEmpty();
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(uint.MaxValue)]
    public void A_child_that_is_no_page_is_found(uint child)
    {
        using var page = new TestArrayPage(PageSize, 4, isBranch: true);
        for (var i = 0; i < 5; i++)
            ArrayPage.InsertChild(page.Page, page.Layout, i, i == 0 ? ArrayLayout.FirstKey : i, new Voron.Primitives.PageNumber(10 + i));
        page.FindFault().Should().BeNull();
        *(uint*)ArrayPage.Value(page.Bytes, page.Layout, 3) = child;
        page.FindFault().Should().Contain("child 3");
    }

    /// <summary>Each byte is set to several values: either the check refuses the page, or all uses of it stay inside.</summary>
    [Theory]
    [InlineData(0, false)]
    [InlineData(4, true)]
    [InlineData(4, false)]
    [InlineData(8, false)]
    [InlineData(512, false)]
    public void No_byte_leads_a_user_of_the_page_outside_of_it(int valueSize, bool isBranch)
    {
        Make(new TestArrayPage(PageSize, valueSize, isBranch));
        var good = new ReadOnlySpan<byte>(_page, PageSize).ToArray();
        var refused = 0;
        for (var at = 40; at < PageSize; at += SuiteShare.Step(3))
        {
            foreach (var value in (byte[])[0, 1, 2, 3, 5, 127, 128, 254, 255, (byte)(good[at] + 1), (byte)(good[at] ^ 64)])
            {
                good.CopyTo(new Span<byte>(_page, PageSize));
                _page[at] = value;
                if (PageStructure.FindFault(_page, 1, Number, PageSize) != null)
                    refused++;
                else if (((PageHeader*)_page)->Kind == PageKind.Array)
                    UseAll();
            }
        }

        refused.Should().BeGreaterThan(100);
    }

    [Fact]
    public void Random_bytes_behind_the_kind_lead_nowhere_either()
    {
        var random = new Random(TestSeed.Choose());
        Make(new TestArrayPage(PageSize, 8));
        var good = new ReadOnlySpan<byte>(_page, PageSize).ToArray();
        for (var i = 0; i < 20_000; i++)
        {
            good.CopyTo(new Span<byte>(_page, PageSize));
            for (var bytes = random.Next(1, 5); bytes > 0; bytes--)
                _page[random.Next(3) == 0 ? random.Next(41, 56) : random.Next(41, PageSize)] = (byte)random.Next(256);
            if (PageStructure.FindFault(_page, 1, Number, PageSize) == null)
                UseAll();
        }
    }

    public void Dispose()
    {
        if (_range != null)
            PosixMemory.Unmap(_range, 3 * PageSize);
        NativeMemory.Free(_dirtyLines);
    }

    private static ref long Key(byte* page, int cell) => ref ((long*)(page + new ArrayLayout(PageSize, 8).KeysStart))[cell];

    /// <summary>Copies a page with some free cells, out of order.</summary>
    private void Make(TestArrayPage page)
    {
        using (page)
        {
            var random = new Random(3);
            var cells = Math.Min(40, page.Layout.Capacity);
            for (var i = 0; i < cells; i++)
            {
                var isFirstOfBranch = i == 0 && ArrayPage.IsBranch(page.Bytes);
                page.Put(isFirstOfBranch ? ArrayLayout.FirstKey : random.Next(-1_000, 1_000_000), random.Next() | 0x01010101);
            }

            while (page.Count > cells - 3)
                page.RemoveRange(page.Count / 2, page.Count / 2 + 1);
            page.Check();
            page.Span.CopyTo(new Span<byte>(_page, PageSize));
        }
    }

    private void UseAll()
    {
        var layout = new ArrayLayout(PageSize, ArrayPage.ValueSize(_page));
        var page = new WritablePage(_page, _dirtyLines, 6);
        var count = ArrayPage.Count(_page);
        long sum = 0;
        for (var i = 0; i < count; i++)
        {
            sum += ArrayPage.Key(_page, layout, i);
            foreach (var value in new ReadOnlySpan<byte>(ArrayPage.Value(_page, layout, i), layout.ValueSize))
                sum += value;
        }

        foreach (var key in (long[])[long.MinValue, -1, 0, 500_000, long.MaxValue, sum])
        {
            ArrayPage.Search(_page, layout, key);
            ArrayPage.FindChild(_page, layout, key);
        }

        if (count > 2)
            ArrayPage.RemoveRange(page, layout, 1, 2);
        while (!ArrayPage.IsFull(_page, layout))
        {
            var at = ArrayPage.Count(_page) / 2;
            new Span<byte>(ArrayPage.Insert(page, layout, at, sum), layout.ValueSize).Fill(1);
        }

        ArrayPage.RemoveRange(page, layout, 0, ArrayPage.Count(_page));
    }
}
