using Voron.Format;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.Pages;

[Quick]
public sealed unsafe class ArrayPageTests
{
    public static TheoryData<int, int> Sizes
    {
        get
        {
            var sizes = new TheoryData<int, int>();
            foreach (var pageSize in (int[])[4096, 8192, 16384, 32768, 65536])
            {
                foreach (var valueSize in (int[])[0, 1, 4, 6, 8, 12, 100, pageSize / 8])
                    sizes.Add(pageSize, valueSize);
            }

            return sizes;
        }
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public void The_areas_fit_into_the_page_and_one_more_cell_would_not(int pageSize, int valueSize)
    {
        var layout = new ArrayLayout(pageSize, valueSize);
        (layout.ValuesStart + layout.Capacity * valueSize).Should().BeLessThanOrEqualTo(pageSize);
        (layout.ValuesStart - layout.KeysStart).Should().Be(layout.Capacity * 8);
        var order = layout.Capacity * (layout.IsWide ? 2 : 1);
        (layout.KeysStart - 64).Should().Be((order + 7) / 8 * 8);
        layout.Capacity.Should().BeGreaterThanOrEqualTo(7);
        if (layout.Capacity != 256)
            (order + (layout.Capacity + 1) * (8 + valueSize)).Should().BeGreaterThan(pageSize - 64 - 8);
    }

    [Theory]
    [InlineData(4096, 8, 237)]
    [InlineData(4096, 4, 288)]
    [InlineData(4096, 0, 403)]
    [InlineData(4096, 6, 256)]
    [InlineData(65536, 4, 4676)]
    public void A_page_has_the_cells_of_the_file_format(int pageSize, int valueSize, int cells) =>
        new ArrayLayout(pageSize, valueSize).Capacity.Should().Be(cells);

    [Theory]
    [MemberData(nameof(Sizes))]
    public void Any_changes_leave_the_entries_of_a_sorted_dictionary(int pageSize, int valueSize)
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < SuiteShare.Rounds(4); round++)
        {
            using var page = new TestArrayPage(pageSize, valueSize);
            var keys = random.Next(2) == 0 ? 2L * page.Layout.Capacity : long.MaxValue;
            for (var i = 0; i < 300; i++)
            {
                page.Journaled(() => ChangeAtRandom(page, random, keys));
                page.Check();
                CheckSearches(page, random, keys);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public void A_full_page_in_any_order_has_all_its_keys(int pageSize, int valueSize)
    {
        var random = new Random(TestSeed.Choose());
        using var page = new TestArrayPage(pageSize, valueSize);
        while (!ArrayPage.IsFull(page.Bytes, page.Layout))
            page.Put(random.NextInt64(long.MinValue, long.MaxValue), random.Next());
        page.Check();
        foreach (var key in page.Model.Keys)
            ArrayPage.Search(page.Bytes, page.Layout, key).Should().BeGreaterThanOrEqualTo(0);
        page.Count.Should().Be(page.Layout.Capacity);
    }

    [Fact]
    public void Rising_keys_never_write_the_order()
    {
        using var page = new TestArrayPage(4096, 8);
        for (var i = 0; i < 237; i++)
        {
            // The key, the value, and the counts; each with the header of a byte run.
            page.Journaled(() => page.Put(i * 1_000L - 100_000, i + 1)).Should().BeLessThanOrEqualTo(8 + 8 + 4 + 9);
            ArrayPage.IsInOrder(page.Bytes).Should().BeTrue();
        }

        page.Check();
        page.Span[64..page.Layout.KeysStart].ContainsAnyExcept((byte)0).Should().BeFalse();
    }

    [Fact]
    public void Dropping_the_last_entries_changes_the_counts_only()
    {
        using var page = new TestArrayPage(4096, 8);
        var random = new Random(1);
        for (var i = 0; i < 237; i++)
            page.Put(random.NextInt64(), i);
        page.Journaled(() => page.RemoveRange(118, 237)).Should().BeLessThanOrEqualTo(5);
        page.Check();
        page.Put(random.NextInt64(), 1);
        page.Check();
    }

    /// <summary>A page between two splits: from half full, just after one, to full. Most inserts do not have to write the order first.</summary>
    [Fact]
    public void A_random_insert_keeps_its_budget_of_journaled_bytes()
    {
        var random = new Random(TestSeed.Choose());
        long bytes = 0;
        long inserts = 0;
        for (var round = 0; round < 20; round++)
        {
            using var page = new TestArrayPage(4096, 8);
            foreach (var key in Enumerable.Range(0, 119).Select(_ => random.NextInt64()).Order())
                page.Put(key, 1);
            while (!ArrayPage.IsFull(page.Bytes, page.Layout))
            {
                bytes += page.Journaled(() => page.Put(random.NextInt64(), random.Next()));
                inserts++;
            }

            page.Check();
        }

        TestContext.Current.TestOutputHelper?.WriteLine($"{(double)bytes / inserts:f1} bytes an insert");
        (bytes / inserts).Should().BeLessThanOrEqualTo(130);
    }

    [Fact]
    public void Entries_are_copied_in_order_to_the_end_of_another_page()
    {
        using var source = new TestArrayPage(4096, 8);
        using var target = new TestArrayPage(4096, 8);
        var random = new Random(2);
        for (var i = 0; i < 200; i++)
            source.Put(random.Next(), i);
        foreach (var (key, value) in source.Model.Skip(50))
            target.Model[key] = value;
        ArrayPage.Append(source.Bytes, source.Layout, 50, 200, target.Page);
        target.Check();
        ArrayPage.IsInOrder(target.Bytes).Should().BeTrue();
    }

    [Fact]
    public void The_child_for_a_key_is_the_last_one_that_is_not_above_it()
    {
        using var page = new TestArrayPage(4096, 4, isBranch: true);
        foreach (var key in (long[])[50, ArrayLayout.FirstKey, 90, 10])
        {
            var at = ~ArrayPage.Search(page.Bytes, page.Layout, key);
            ArrayPage.InsertChild(page.Page, page.Layout, at, key, new Voron.Primitives.PageNumber(key < 0 ? 980 : 1_000 + key));
        }

        page.FindFault().Should().BeNull();
        (long Key, long Child)[] expected =
            [(long.MinValue, 980), (-21, 980), (-20, 980), (9, 980), (10, 1_010), (89, 1_050), (90, 1_090), (long.MaxValue, 1_090)];
        foreach (var (key, child) in expected)
            ArrayPage.Child(page.Bytes, page.Layout, ArrayPage.FindChild(page.Bytes, page.Layout, key)).Value.Should().Be(child);
        ArrayPage.SetChild(page.Page, page.Layout, 1, new Voron.Primitives.PageNumber(77));
        ArrayPage.SetKey(page.Page, page.Layout, 1, 20);
        ArrayPage.Child(page.Bytes, page.Layout, ArrayPage.FindChild(page.Bytes, page.Layout, 19)).Value.Should().Be(980);
        ArrayPage.Child(page.Bytes, page.Layout, ArrayPage.FindChild(page.Bytes, page.Layout, 20)).Value.Should().Be(77);
    }

    private static void ChangeAtRandom(TestArrayPage page, Random random, long keys)
    {
        var count = page.Count;
        switch (random.Next(20))
        {
            case 0 when count > 1:
                var from = random.Next(count);
                page.RemoveRange(from, from + random.Next(1, Math.Min(count - from, 30) + 1));
                break;
            case 1 when count > 1:
                page.RemoveRange(count - random.Next(1, Math.Min(count, 10)), count);
                break;
            case < 6 when count > 1:
                var at = random.Next(count);
                page.RemoveRange(at, at + 1);
                break;
            case < 10 when !ArrayPage.IsFull(page.Bytes, page.Layout) && (count == 0 || page.Model.Keys.Last() < long.MaxValue):
                page.Put(count == 0 ? random.NextInt64(keys) : page.Model.Keys.Last() + 1, random.Next());
                break;
            default:
                if (!ArrayPage.IsFull(page.Bytes, page.Layout))
                    page.Put(random.NextInt64(-keys, keys), random.Next());
                else
                    page.RemoveRange(0, random.Next(1, count));
                break;
        }
    }

    private static void CheckSearches(TestArrayPage page, Random random, long keys)
    {
        var sorted = page.Model.Keys.ToArray();
        for (var i = 0; i < 5; i++)
        {
            var key = random.Next(2) == 0 && sorted.Length > 0 ? sorted[random.Next(sorted.Length)] : random.NextInt64(-keys, keys);
            ArrayPage.Search(page.Bytes, page.Layout, key).Should().Be(Array.BinarySearch(sorted, key));
        }
    }
}
