using System.Numerics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.Pages;

/// <summary>An array page in memory with guards, and a sorted model of its entries. Values are bytes that follow from a number.</summary>
internal sealed unsafe class TestArrayPage : IDisposable
{
    private const long Number = 7;

    private readonly GuardedBuffer _page;
    private readonly ulong* _dirtyLines = (ulong*)NativeMemory.AllocZeroed(sizeof(ulong));

    public TestArrayPage(int pageSize, int valueSize, bool isBranch = false)
    {
        Layout = new ArrayLayout(pageSize, valueSize);
        _page = new GuardedBuffer(pageSize);
        ((PageHeader*)Bytes)->PageNumber = Number;
        ((PageHeader*)Bytes)->Kind = PageKind.Array;
        ArrayPage.Initialize(Page, Layout, isBranch, treeMark: 3);
    }

    public readonly ArrayLayout Layout;

    public byte* Bytes => _page.Pointer;

    public Span<byte> Span => _page.Span;

    public int PageSize => _page.Length;

    public SortedDictionary<long, int> Model { get; } = [];

    public WritablePage Page => new(Bytes, _dirtyLines, BitOperations.Log2((uint)PageSize) - 6);

    public int Count => ArrayPage.Count(Bytes);

    public void Put(long key, int value)
    {
        var index = ArrayPage.Search(Bytes, Layout, key);
        (index >= 0).Should().Be(Model.ContainsKey(key));
        Write(index >= 0 ? ArrayPage.ModifyValue(Page, Layout, index) : ArrayPage.Insert(Page, Layout, ~index, key), value);
        Model[key] = value;
    }

    public void RemoveRange(int from, int to)
    {
        ArrayPage.RemoveRange(Page, Layout, from, to);
        foreach (var key in Model.Keys.Skip(from).Take(to - from).ToList())
            Model.Remove(key);
    }

    /// <summary>Returns the bytes that the journal would have of a change, and checks that all changed bytes were marked.</summary>
    public int Journaled(Action change)
    {
        using var before = new GuardedBuffer(_page.Span);
        *_dirtyLines = 0;
        change();
        PageDiff.FindUnmarked(Bytes, before.Pointer, PageSize, *_dirtyLines).Should().Be(-1, "all changes are marked");
        var target = new byte[PageDiff.MaxLength(PageSize)];
        fixed (byte* start = target)
            return (int)(PageDiff.Write(start, Bytes, before.Pointer, PageSize, *_dirtyLines) - start);
    }

    public string? FindFault() => PageStructure.FindFault(Bytes, 1, Number, PageSize);

    /// <summary>Checks that the page is sound and has the entries of the model.</summary>
    public void Check()
    {
        _page.IsIntact.Should().BeTrue();
        Count.Should().Be(Model.Count);
        if (Count > 0)
            FindFault().Should().BeNull();
        var expected = new byte[Layout.ValueSize];
        var index = 0;
        foreach (var (key, value) in Model)
        {
            fixed (byte* bytes = expected)
                Write(bytes, value);
            if (ArrayPage.Key(Bytes, Layout, index) != key
                || !new ReadOnlySpan<byte>(ArrayPage.Value(Bytes, Layout, index), Layout.ValueSize).SequenceEqual(expected))
                throw new InvalidOperationException($"entry {index} is not that of key {key}");
            index++;
        }
    }

    public void Dispose()
    {
        _page.Dispose();
        NativeMemory.Free(_dirtyLines);
    }

    private void Write(byte* target, int value)
    {
        for (var i = 0; i < Layout.ValueSize; i++)
            target[i] = (byte)(value >> i % 4 * 8);
    }
}
