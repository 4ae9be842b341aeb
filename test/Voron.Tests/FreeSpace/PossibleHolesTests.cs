using Voron.FreeSpace;

namespace Voron.Tests.FreeSpace;

[Quick]
public sealed class PossibleHolesTests
{
    [Theory]
    [InlineData(4096)]
    [InlineData(16384)]
    [InlineData(65536)]
    public void Every_page_in_use_has_blocks_over_punches_and_reopenings(int pageSize)
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        using var space = new FakeSpace(pageSize);
        var allocator = Open(space);
        var blocks = new Blocks();
        var owned = new SortedDictionary<long, long>();
        long filled = 0, punched = 0;
        blocks.Reopen(space, allocator);
        for (var i = 0; i < 6_000; i++)
        {
            switch (random.Next(100))
            {
                case < 35:
                    owned.Add(allocator.AllocatePage(random.NextInt64(space.PageCount)), 1);
                    break;
                case < 50:
                    var pages = random.Next(1, 60);
                    owned.Add(allocator.AllocateExtent(pages, untouched: random.Next(2) == 0), pages);
                    break;
                case < 94:
                    if (owned.Count > 0)
                    {
                        var first = owned.Keys.ElementAt(random.Next(owned.Count));
                        allocator.Free(first, owned[first]);
                        owned.Remove(first);
                    }

                    break;
                case < 98:
                    punched += blocks.Punch(space, allocator, random);
                    break;
                default:
                    filled += blocks.Filled;
                    allocator = Open(space);
                    blocks.Reopen(space, allocator);
                    break;
            }

            if (i % 100 == 99)
                blocks.RequireAll(owned);
        }

        punched.Should().BeGreaterThan(0);
        filled.Should().BeGreaterThan(0);
    }

    [Fact]
    public void Released_pages_are_allocated_last_and_a_few_at_a_time()
    {
        using var space = new FakeSpace(4096);
        var allocator = Open(space);
        var blocks = new Blocks();
        blocks.Reopen(space, allocator);
        var first = allocator.AllocateExtent(1000, untouched: false);
        allocator.Free(first + 100, 600);
        allocator.Free(first + 800, 2);
        space.PossibleHoles!.NotePunched(first + 100, 600);
        blocks.Clear(first + 100, 600);
        allocator.AllocatePage(first).Should().Be(first + 800);
        allocator.AllocatePage(first).Should().Be(first + 801);
        blocks.Filled = 0;
        allocator.AllocatePage(first).Should().Be(first + 100);
        blocks.Filled.Should().Be(256, "blocks are allocated one mebibyte at a time");
    }

    private static SpaceAllocator Open(FakeSpace space) => new(space.Layout, space, 0.25);

    /// <summary>Tracks the pages of the file that have blocks: all but those that were punched and not filled.</summary>
    private sealed class Blocks
    {
        private readonly HashSet<long> _without = [];

        public long Filled { get; set; }

        public void Reopen(FakeSpace space, SpaceAllocator allocator) =>
            space.PossibleHoles = new PossibleHoles(space.Layout, allocator.Map, space.Capacity, isNew: false, Fill);

        public void Clear(long first, long pages)
        {
            for (var page = first; page < first + pages; page++)
                _without.Add(page);
        }

        public long Punch(FakeSpace space, SpaceAllocator allocator, Random random)
        {
            var ranges = new List<PageRange>();
            for (var section = 0L; section < allocator.Map.SectionCount; section++)
                allocator.FindUntouched(section, space.PossibleHoles!, ranges);
            var punched = 0L;
            foreach (var range in ranges.Where(_ => random.Next(3) != 0))
            {
                Clear(range.First, range.Pages);
                space.PossibleHoles!.NotePunched(range.First, range.Pages);
                punched += range.NewPages;
            }

            return punched;
        }

        public void RequireAll(SortedDictionary<long, long> owned)
        {
            foreach (var (first, pages) in owned)
            {
                for (var page = first; page < first + pages; page++)
                    _without.Contains(page).Should().BeFalse($"page {page} is in use");
            }
        }

        private void Fill(long first, long pages)
        {
            for (var page = first; page < first + pages; page++)
                _without.Remove(page);
            Filled += pages;
        }
    }
}
