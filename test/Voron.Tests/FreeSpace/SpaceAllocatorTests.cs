using Voron.FreeSpace;

namespace Voron.Tests.FreeSpace;

[Quick]
public sealed class SpaceAllocatorTests : IDisposable
{
    private readonly FakeSpace _space = new(4096);

    public void Dispose() => _space.Dispose();

    [Fact]
    public void A_new_environment_has_root_directory_and_map()
    {
        var map = new SectionMap(_space.Layout, _space);
        _space.PageCount.Should().Be(3);
        map.DirectoryPage(0).Should().Be(1);
        map.MapPage(0).Should().Be(2);
        map.UsedPages(0).Should().Be(3);
        map.IsUsed(2).Should().BeTrue();
        map.IsUsed(3).Should().BeFalse();
    }

    [Fact]
    public void Single_pages_follow_one_another_and_freed_ones_come_back()
    {
        var allocator = NewAllocator();
        for (var page = 3; page < 3000; page++)
            allocator.AllocatePage(3).Should().Be(page);
        allocator.Free(100, 1);
        allocator.Free(2500, 1);
        var taken = new[] { Take(allocator), Take(allocator) };
        allocator.Map.IsUsed(100).Should().Be(taken.Contains(100));
        _space.Capacity.Should().BeGreaterThanOrEqualTo(_space.PageCount);
    }

    [Fact]
    public void A_file_that_grows_within_a_section_that_is_withheld_takes_none_of_its_free_pages()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(500, untouched: false);
        allocator.Free(first, 400);
        allocator.Withhold(0);
        for (var page = first + 500; page < _space.Layout.PagesPerSection + 100; page++)
            Take(allocator).Should().Be(page, "the free pages of the section are being returned to the file system");
    }

    [Fact]
    public void An_extent_may_span_sections_and_whole_groups()
    {
        var allocator = NewAllocator();
        var length = 2 * _space.Layout.PagesPerGroup + 5;
        var first = allocator.AllocateExtent(length, untouched: false);
        first.Should().Be(3);

        // The maps of the groups that the extent begins follow it.
        _space.PageCount.Should().Be(3 + length + 2);
        allocator.Map.MapPage(1).Should().Be(3 + length);
        allocator.Map.MapPage(2).Should().Be(4 + length);
        for (var section = 0L; section < allocator.Map.SectionCount - 1; section++)
            allocator.Map.UsedPages(section).Should().Be(_space.Layout.PagesPerSection);

        allocator.Free(first, length);
        CheckOwners(allocator, []);
        allocator.AllocateExtent(length, untouched: false).Should().Be(first, "the extent is free again");
        CheckOwners(allocator, new() { [first] = length });
    }

    [Fact]
    public void The_map_of_a_group_may_begin_the_next_group()
    {
        // The extent ends with its group: the first page behind it begins a new group, whose map is the page after that.
        var allocator = NewAllocator();
        var length = _space.Layout.PagesPerGroup - 3;
        allocator.AllocateExtent(length, untouched: false).Should().Be(3);
        _space.PageCount.Should().Be(_space.Layout.PagesPerGroup);
        var page = allocator.AllocateExtent(1, untouched: false);
        page.Should().Be(_space.Layout.PagesPerGroup);
        allocator.Map.MapPage(1).Should().Be(page + 1);
        CheckOwners(allocator, new() { [3] = length, [page] = 1 });
    }

    [Fact]
    public void Single_pages_cross_into_a_new_group()
    {
        var allocator = NewAllocator();
        var length = _space.Layout.PagesPerGroup - 5;
        var owned = new SortedDictionary<long, long> { [allocator.AllocateExtent(length, untouched: false)] = length };
        for (var i = 0; i < 2000; i++)
            owned.Add(allocator.AllocatePage(3), 1);
        CheckOwners(allocator, owned);
    }

    [Fact]
    public void Only_pages_without_a_version_are_untouched()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(100, untouched: false);
        var behind = allocator.AllocateExtent(1, untouched: false);
        allocator.Free(first, 100);
        _space.Touched.Add(first + 40);
        allocator.AllocateExtent(60, untouched: true).Should().BeGreaterThan(behind);
        allocator.AllocateExtent(59, untouched: true).Should().Be(first + 41);
        allocator.AllocateExtent(41, untouched: false).Should().Be(first);
    }

    [Fact]
    public void A_failed_search_for_an_extent_is_not_repeated_before_a_change()
    {
        var allocator = NewAllocator();
        var sections = 64;
        var first = allocator.AllocateExtent((long)sections * _space.Layout.PagesPerSection, untouched: false);
        for (var page = first; page < first + (sections - 2) * _space.Layout.PagesPerSection; page += 4)
            allocator.Free(page, 3);
        allocator.BeginTransaction();
        allocator.AllocateExtent(4, untouched: true);
        var looks = allocator.SectionsExamined;
        for (var i = 0; i < 100; i++)
        {
            allocator.BeginTransaction();
            allocator.AllocateExtent(4 + i, untouched: true).Should().BeGreaterThan(first);
        }

        (allocator.SectionsExamined - looks).Should().BeLessThan(12, "only the pages by which the file has grown are new");
        allocator.AllocateExtent(3, untouched: true).Should().Be(first, "shorter extents are free");

        // A page that has had a version and lost it joins its neighbours.
        for (var page = first + 4; page < first + 8; page++)
            _space.Touched.Add(page);
        allocator.Free(first + 7, 1);
        allocator.BeginTransaction();
        allocator.AllocateExtent(7, untouched: true).Should().NotBe(first + 4);
        _space.Touched.Clear();
        allocator.NoteDetached([first + 4, first + 5, first + 6, first + 7]);
        allocator.AllocateExtent(7, untouched: true).Should().Be(first + 4);
    }

    [Fact]
    public void An_extent_over_the_end_of_a_section_is_found_when_its_second_half_is_freed()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(4L * _space.Layout.PagesPerSection, untouched: false);
        var border = 2L * _space.Layout.PagesPerSection;
        allocator.Free(border - 10, 10);
        allocator.AllocateExtent(20, untouched: false).Should().BeGreaterThan(first + 3L * _space.Layout.PagesPerSection);
        allocator.Free(border, 10);
        allocator.AllocateExtent(20, untouched: false).Should().Be(border - 10);
    }

    [Fact]
    public void A_rolled_back_extent_is_found_again()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(2L * _space.Layout.PagesPerSection, untouched: false);
        allocator.Free(first + 100, 50);
        _space.Save();
        allocator.BeginTransaction();
        allocator.AllocateExtent(50, untouched: true).Should().Be(first + 100);
        allocator.AllocateExtent(50, untouched: true).Should().BeGreaterThan(first + 1000);
        _space.RollBack();
        allocator.Forget();
        allocator.BeginTransaction();
        allocator.AllocateExtent(50, untouched: true).Should().Be(first + 100);
    }

    [Fact]
    public void Of_a_file_of_eight_tebibytes_only_some_sections_are_looked_at_for_a_page()
    {
        const long sections = 2L << 20;
        var free = new Dictionary<long, int> { [5000] = 40, [9000] = 900, [sections - 1] = 1000 };
        var queue = new SectionQueue();
        var looks = 0;
        int FreePages(long section)
        {
            looks++;
            return free.GetValueOrDefault(section);
        }

        var found = new List<long>();
        for (var i = 0; i < sections / 1024; i++)
        {
            looks = 0;
            if (queue.Take(sections, 32, FreePages) is >= 0 and var section)
            {
                found.Add(section);
                free.Remove(section);
            }

            looks.Should().BeLessThan(1100);
        }

        found.Should().Equal(5000, 9000, sections - 1);
        queue.BeginTransaction();
        free[777] = 500;
        free[778] = 600;
        queue.Add(777, 500);
        queue.Add(778, 600);
        looks = 0;
        queue.Take(sections, 32, FreePages).Should().Be(778);
        queue.Take(sections, 32, FreePages).Should().Be(777);
        queue.Take(sections, 32, FreePages).Should().Be(-1);
        looks.Should().BeLessThan(10);
        queue.Forget();
        queue.Take(sections, 32, FreePages).Should().Be(778, "a rollback returns the sections that were taken");
    }

    [Fact]
    public void Free_pages_cannot_be_freed()
    {
        var allocator = NewAllocator();
        var page = allocator.AllocatePage(0);
        allocator.Free(page, 1);
        allocator.Invoking(space => space.Free(page, 1)).Should().Throw<CorruptionException>().WithMessage($"*{page}*already free*");
        allocator.Invoking(space => space.Free(0, 1)).Should().Throw<CorruptionException>();
        allocator.Invoking(space => space.Free(_space.PageCount, 1)).Should().Throw<CorruptionException>();
        allocator.Invoking(space => space.Map.SetUsed(1, 1)).Should().Throw<CorruptionException>().WithMessage("*already in use*");
    }

    [Fact]
    public void Growing_beyond_the_layout_is_refused()
    {
        var allocator = NewAllocator();
        allocator.Invoking(space => space.AllocateExtent(_space.Layout.MaxPageCount, untouched: false)).Should().Throw<StorageFullException>();
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(16384)]
    [InlineData(65536)]
    public void Every_page_is_owned_once(int pageSize)
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        using var space = new FakeSpace(pageSize);
        var allocator = new SpaceAllocator(space.Layout, space, random.NextDouble() * 0.9 + 0.05);
        var owned = new SortedDictionary<long, long>();
        var saved = new SortedDictionary<long, long>();
        space.Save();
        for (var i = 0; i < 20_000; i++)
        {
            switch (random.Next(100))
            {
                case < 55:
                    owned.Add(allocator.AllocatePage(random.NextInt64(space.PageCount)), 1);
                    break;
                case < 60:
                    var pages = random.Next(8) == 0 ? random.Next(1, 3 * space.Layout.PagesPerSection) : random.Next(1, 20);
                    owned.Add(allocator.AllocateExtent(pages, untouched: random.Next(2) == 0), pages);
                    break;
                case < 99:
                    if (owned.Count > 0)
                        FreeOne(allocator, owned, owned.Keys.ElementAt(random.Next(Math.Min(owned.Count, 200))), random);
                    break;
                case 99 when random.Next(2) == 0:
                    saved = new(owned);
                    space.Save();
                    break;
                default:
                    owned = new(saved);
                    space.RollBack();
                    allocator.Forget();
                    break;
            }

            if (i % 2000 == 1999)
                CheckOwners(space, allocator, owned);
        }
    }

    private static void FreeOne(SpaceAllocator allocator, SortedDictionary<long, long> owned, long first, Random random)
    {
        var pages = owned[first];
        owned.Remove(first);

        // Sometimes frees only the tail, as a value does that became shorter.
        var kept = pages > 1 && random.Next(3) == 0 ? random.NextInt64(1, pages) : 0;
        allocator.Free(first + kept, pages - kept);
        if (kept > 0)
            owned.Add(first, kept);
    }

    private void CheckOwners(SpaceAllocator allocator, SortedDictionary<long, long> owned) => CheckOwners(_space, allocator, owned);

    private static void CheckOwners(FakeSpace space, SpaceAllocator allocator, SortedDictionary<long, long> owned)
    {
        var used = new HashSet<long>(space.MapPages);
        foreach (var (first, pages) in owned)
        {
            for (var page = first; page < first + pages; page++)
                used.Add(page).Should().BeTrue($"page {page} has one owner");
        }

        for (var section = 0L; section < allocator.Map.SectionCount; section++)
        {
            var count = 0;
            for (var bit = 0; bit < space.Layout.PagesPerSection; bit++)
            {
                var page = section * space.Layout.PagesPerSection + bit;
                var isUsed = allocator.Map.IsUsed(page);
                count += isUsed ? 1 : 0;
                if (isUsed != used.Contains(page) || (isUsed && page >= space.PageCount))
                    Assert.Fail($"page {page} is {(isUsed ? "used" : "free")} in the map");
            }

            allocator.Map.UsedPages(section).Should().Be(count);
        }
    }

    private SpaceAllocator NewAllocator() => new(_space.Layout, _space, 0.25);

    private static long Take(SpaceAllocator allocator) => allocator.AllocatePage(3);
}
