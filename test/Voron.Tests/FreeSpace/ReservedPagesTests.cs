using Voron.FreeSpace;

namespace Voron.Tests.FreeSpace;

/// <summary>Reserved pages are free in the maps, and no search of the allocator returns them.</summary>
public sealed class ReservedPagesTests : IDisposable
{
    private readonly FakeSpace _space = new(4096);

    public void Dispose() => _space.Dispose();

    [Fact]
    public void No_search_finds_reserved_pages_before_the_reservation_has_ended()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(100, untouched: false);
        var behind = allocator.AllocatePage(first);
        allocator.Free(first, 100);
        var reserved = allocator.TryReserve(60, everywhere: false)!;
        reserved.First.Should().Be(first);
        allocator.Map.IsUsed(first).Should().BeFalse();
        allocator.IsUntouched(first).Should().BeFalse("it must not be cut off");
        allocator.AllocateExtent(40, untouched: true).Should().Be(first + 60);
        allocator.AllocateExtent(40, untouched: false).Should().BeGreaterThan(behind);
        allocator.Reserved.Pages.Should().Be(60);

        allocator.Reserved.End(reserved).Should().BeTrue();
        allocator.Reserved.End(reserved).Should().BeFalse();
        allocator.Reserved.Pages.Should().Be(0);
        allocator.AllocateExtent(60, untouched: true).Should().BeGreaterThan(behind, "the set does not change within a transaction");
        allocator.BeginTransaction();
        allocator.AllocateExtent(60, untouched: true).Should().Be(first);
        allocator.Reserved.SectionCount.Should().Be(0);
    }

    [Fact]
    public void Single_pages_are_taken_around_reserved_ones_even_in_a_full_section()
    {
        var allocator = NewAllocator();
        var reserved = allocator.ReserveAtEnd(null, 100);
        var taken = new HashSet<long>();
        for (var i = 0; i < 3 * _space.Layout.PagesPerSection; i++)
            taken.Add(allocator.AllocatePage(reserved.First)).Should().BeTrue();
        taken.Should().NotContain(page => page >= reserved.First && page < reserved.End);
        allocator.Reserved.End(reserved);
        allocator.BeginTransaction();
        allocator.TakeNearby(reserved.First, 100).Should().BeEquivalentTo(Enumerable.Range((int)reserved.First, 100).Select(page => (long)page));
    }

    [Fact]
    public void A_reservation_grows_where_it_is_or_at_the_end_of_the_file()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(3L * _space.Layout.PagesPerSection, untouched: false);
        var last = allocator.AllocatePage(first);
        allocator.Free(first, 2000);
        var reserved = allocator.TryReserve(500, everywhere: false)!;
        allocator.TryGrow(reserved, 2000).Should().BeTrue();
        reserved.First.Should().Be(first);
        allocator.TryGrow(reserved, 2001).Should().BeFalse("the next page is in use");
        reserved.Pages.Should().Be(2000);

        var other = allocator.ReserveAtEnd(reserved, 4000);
        other.Should().NotBeSameAs(reserved);
        other.First.Should().BeGreaterThan(last);
        allocator.ReserveAtEnd(other, 6000).Should().BeSameAs(other);
        other.Pages.Should().Be(6000);
        _space.PageCount.Should().Be(other.End);
        allocator.Reserved.Pages.Should().Be(8000);
        allocator.Reserved.Shorten(other, 10);
        allocator.Reserved.Pages.Should().Be(2010);
        allocator.BeginTransaction();
        allocator.TryReserve(5990, everywhere: false)!.First.Should().Be(other.First + 10);
    }

    [Fact]
    public void Pages_with_a_version_and_sections_that_are_withheld_are_not_reserved()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(2L * _space.Layout.PagesPerSection, untouched: false);
        allocator.Free(first, 900);
        _space.Touched.Add(first + 300);
        allocator.TryReserve(600, everywhere: true).Should().BeNull();
        var reserved = allocator.TryReserve(200, everywhere: true)!;
        reserved.First.Should().Be(first);
        allocator.TryGrow(reserved, 301).Should().BeFalse();
        allocator.TryGrow(reserved, 300).Should().BeTrue();
        _space.Touched.Clear();
        allocator.Withhold(0);
        allocator.TryReserve(500, everywhere: true).Should().BeNull();
        allocator.TryGrow(reserved, 400).Should().BeFalse();
        allocator.Offer(0);
        allocator.TryGrow(reserved, 400).Should().BeTrue();
    }

    [Fact]
    public void Reserved_pages_are_not_returned_to_the_file_system()
    {
        var allocator = NewAllocator();
        var first = allocator.AllocateExtent(1000, untouched: false);
        allocator.AllocatePage(first);
        allocator.Free(first, 1000);
        var reserved = allocator.TryReserve(400, everywhere: true)!;
        var holes = new PossibleHoles(_space.Layout, allocator.Map, 0, isNew: false, (_, _) => { });
        var ranges = new List<PageRange>();
        allocator.FindUntouched(0, holes, ranges);
        ranges.Should().Equal(new PageRange(reserved.End, 600, 600));
    }

    [Fact]
    public void Pages_that_a_transaction_takes_stay_reserved_if_it_is_rolled_back()
    {
        var allocator = NewAllocator();
        var reserved = allocator.ReserveAtEnd(null, 100);
        _space.Save();
        allocator.BeginTransaction();
        allocator.TakeReserved(reserved.First, 100);
        allocator.Map.IsUsed(reserved.First).Should().BeTrue();
        _space.RollBack();
        allocator.Forget();
        allocator.BeginTransaction();
        allocator.AllocateExtent(100, untouched: false).Should().NotBe(reserved.First);
        allocator.TakeReserved(reserved.First, 100);
        allocator.Reserved.End(reserved);
        allocator.BeginTransaction();
        allocator.Reserved.SectionCount.Should().Be(0);
        allocator.Map.IsUsed(reserved.First).Should().BeTrue();
    }

    [Fact]
    public void Reservations_may_end_on_any_thread()
    {
        var allocator = NewAllocator();
        var all = Enumerable.Range(0, 4000).Select(_ => allocator.ReserveAtEnd(null, 3)).ToArray();
        allocator.Reserved.Pages.Should().Be(12_000);
        Parallel.ForEach(all, reservation =>
        {
            allocator.Reserved.Shorten(reservation, 1);
            allocator.Reserved.End(reservation);
        });
        allocator.Reserved.Pages.Should().Be(0);
        allocator.BeginTransaction();
        allocator.Reserved.SectionCount.Should().Be(0);
        allocator.Reserved.HasEnded.Should().BeFalse();
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(16384)]
    [InlineData(65536)]
    public void No_page_is_used_and_reserved_by_two_owners(int pageSize)
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        using var space = new FakeSpace(pageSize);
        var allocator = new SpaceAllocator(space.Layout, space, random.NextDouble() * 0.9 + 0.05);
        var owned = new Dictionary<long, long>();
        var reserved = new List<PageReservation>();
        for (var i = 0; i < 6000; i++)
        {
            switch (random.Next(10))
            {
                case < 4:
                    owned.Add(allocator.AllocatePage(random.NextInt64(space.PageCount)), 1);
                    break;
                case 4:
                    var pages = random.Next(1, 200);
                    owned.Add(allocator.AllocateExtent(pages, untouched: random.Next(2) == 0), pages);
                    break;
                case 5 or 6 when owned.Count > 0:
                    var (first, count) = owned.ElementAt(random.Next(owned.Count));
                    owned.Remove(first);
                    allocator.Free(first, count);
                    break;
                case 7:
                    var wanted = random.Next(1, 3 * space.Layout.PagesPerSection / 2);
                    reserved.Add(allocator.TryReserve(wanted, everywhere: random.Next(2) == 0) ?? allocator.ReserveAtEnd(null, wanted));
                    break;
                case 8 when reserved.Count > 0:
                    var growing = random.Next(reserved.Count);
                    if (!allocator.TryGrow(reserved[growing], reserved[growing].Pages + random.Next(100)))
                    {
                        var other = allocator.ReserveAtEnd(reserved[growing], reserved[growing].Pages + random.Next(1, 100));
                        if (other != reserved[growing])
                            reserved.Add(other);
                    }

                    break;
                case 9 when reserved.Count > 0:
                    var ending = random.Next(reserved.Count);
                    if (random.Next(3) == 0)
                        allocator.Reserved.Shorten(reserved[ending], random.NextInt64(1, reserved[ending].Pages + 1));
                    else
                        EndOrTake(allocator, reserved, owned, ending, random.Next(2) == 0);
                    allocator.BeginTransaction();
                    break;
            }

            if (i % 200 == 0)
                CheckOwners(space, allocator, owned, reserved);
        }

        foreach (var reservation in reserved)
            allocator.Reserved.End(reservation);
        allocator.BeginTransaction();
        allocator.Reserved.SectionCount.Should().Be(0);
    }

    private static void EndOrTake(
        SpaceAllocator allocator, List<PageReservation> reserved, Dictionary<long, long> owned, int index, bool takes)
    {
        var ending = reserved[index];
        reserved.RemoveAt(index);
        if (takes)
        {
            allocator.TakeReserved(ending.First, ending.Pages);
            owned.Add(ending.First, ending.Pages);
        }

        allocator.Reserved.End(ending);
    }

    private static void CheckOwners(FakeSpace space, SpaceAllocator allocator, Dictionary<long, long> owned, List<PageReservation> reserved)
    {
        var owners = new HashSet<long>(space.MapPages);
        var all = owned.Select(pair => (First: pair.Key, Pages: pair.Value)).Concat(reserved.Select(one => (one.First, one.Pages)));
        foreach (var (first, pages) in all)
        {
            for (var page = first; page < first + pages; page++)
            {
                if (!owners.Add(page))
                    Assert.Fail($"page {page} has two owners");
                if (page >= space.PageCount)
                    Assert.Fail($"page {page} does not exist");
            }
        }

        foreach (var one in reserved)
        {
            for (var page = one.First; page < one.End; page++)
            {
                if (allocator.Map.IsUsed(page) || !allocator.Reserved.Contains(page))
                    Assert.Fail($"page {page} should be free and reserved");
            }
        }

        allocator.Reserved.Pages.Should().Be(reserved.Sum(one => one.Pages));
    }

    private SpaceAllocator NewAllocator() => new(_space.Layout, _space, 0.25);
}

/// <summary>Takes the pages that are left in a section.</summary>
internal static class NearbyPages
{
    public static IReadOnlyList<long> TakeNearby(this SpaceAllocator allocator, long near, int count)
    {
        var taken = new List<long>();
        while (taken.Count < count)
            taken.Add(allocator.AllocateExtent(1, untouched: false));
        return taken.TakeWhile(page => page >= near).ToList();
    }
}
