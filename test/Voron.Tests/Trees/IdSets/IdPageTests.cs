using Voron.Format;
using Voron.Trees.IdSets.Pages;

namespace Voron.Tests.Trees.IdSets;

[Quick]
public sealed unsafe class IdPageTests
{
    private const int PageSize = 4096;

    private delegate void Change(PageHeader* header, IdBlockEntry* entries);

    private static readonly Dictionary<string, Change> Changes = new(StringComparer.Ordinal)
    {
        ["no blocks"] = (header, _) => header->EntryCount = 0,
        ["more blocks than there is room for"] = (header, _) => header->EntryCount = ushort.MaxValue,
        ["a directory that reaches the heap"] = (header, _) => header->EntryCount = 200,
        ["a heap above its lowest block"] = (header, _) => header->HeapStart += 16,
        ["a heap below its lowest block"] = (header, _) => header->HeapStart -= 16,
        ["a heap behind the page"] = (header, _) => header->HeapStart = PageSize + 16,
        ["too many holes"] = (header, _) => header->HoleBytes++,
        ["a block in the header"] = (_, entries) => entries[1].Place = 16,
        ["a block at an odd place"] = (_, entries) => entries[1].Place += 8,
        ["a block that leaves the page"] = (_, entries) => entries[0].CapacityUnits = 255,
        ["a block behind the page"] = (_, entries) => entries[1].Place = 65_520,
        ["two blocks in one place"] = (_, entries) => entries[1].Place = entries[0].Place,
        ["gaps too wide for the room"] = (_, entries) => entries[1].GapWidth = 63,
        ["gaps too wide for any block"] = (_, entries) => entries[1].GapWidth = 64,
        ["payloads too wide for the room"] = (_, entries) => entries[1].PayloadWidth = 8,
        ["payloads too wide for any block"] = (_, entries) => entries[1].PayloadWidth = 9,
        ["more ids than a block has"] = (_, entries) => entries[1].LastIndex = 128,
        ["ids that fall"] = (_, entries) => entries[1].First = entries[0].First,
        ["ids that fall after another"] = (_, entries) => entries[2].First = entries[1].First + 1,
        ["an id below 0"] = (_, entries) => entries[0].First = -1,
        ["ids above the largest"] = (header, entries) => entries[header->EntryCount - 1].First = long.MaxValue - 1,
        ["a tail in the middle"] = (_, entries) => entries[1].Flags = IdBlockEntry.TailFlag,
        ["a tail of odd width"] = (header, entries) => entries[header->EntryCount - 1].GapWidth = 17,
        ["a tail of odd payloads"] = (header, entries) => entries[header->EntryCount - 1].PayloadWidth = 7,
        ["a tail without room"] = (header, entries) => entries[header->EntryCount - 1].CapacityUnits--,
        ["an unknown flag"] = (_, entries) => entries[1].Flags = 2,
    };

    public static TheoryData<string> Names => [.. Changes.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public void An_id_page_that_cannot_be_is_found(string name)
    {
        using var set = MakeSet();
        using var page = new GuardedBuffer(new ReadOnlySpan<byte>(set.PageOf(0), PageSize));
        var number = ((PageHeader*)page.Pointer)->PageNumber;
        PageStructure.FindFault(page.Pointer, 1, number, PageSize).Should().BeNull("it has not been changed yet");
        Changes[name]((PageHeader*)page.Pointer, IdPage.Entries(page.Pointer));
        PageStructure.FindFault(page.Pointer, 1, number, PageSize).Should().NotBeNullOrEmpty();
        page.IsIntact.Should().BeTrue();
    }

    [Fact]
    public void Any_bytes_that_pass_the_check_can_be_unpacked()
    {
        var random = new Random(TestSeed.Choose());
        using var set = MakeSet();
        using var page = new GuardedBuffer(new ReadOnlySpan<byte>(set.PageOf(0), PageSize));
        var sound = page.Span.ToArray();
        var number = ((PageHeader*)page.Pointer)->PageNumber;
        var ids = stackalloc long[IdBlock.MaxIds];
        var passed = 0;
        for (var i = 0; i < 20_000; i++)
        {
            sound.CopyTo(page.Span);
            var count = IdPage.Count(page.Pointer);
            for (var changes = random.Next(1, 4); changes > 0; changes--)
            {
                var end = random.Next(4) == 0 ? PageSize : PageHeader.Size + count * IdBlockEntry.Size;
                page.Span[random.Next(48, end)] = (byte)random.Next(256);
            }

            if (PageStructure.FindFault(page.Pointer, 1, number, PageSize) != null)
                continue;
            passed++;
            for (var block = 0; block < IdPage.Count(page.Pointer); block++)
            {
                try
                {
                    IdPage.Unpack(set.Pages, page.Pointer, block, ids);
                    IdPage.UnpackPayloads(set.Pages, page.Pointer, block, (byte*)ids);
                }
                catch (CorruptionException)
                {
                    // The ids of the block reach the next one.
                }
            }
        }

        passed.Should().BeGreaterThan(100);
    }

    [Fact]
    public void An_append_changes_few_bytes()
    {
        using var set = MakeSet();
        set.Pages.EndTransaction();
        var most = 0;
        var sum = 0;
        for (var i = 0; i < 2_000; i++)
        {
            set.Apply(new IdChange(set.Last() + 1 + i % 50, (short)(i % 3)));
            set.Pages.EndTransaction();
            most = Math.Max(most, set.Pages.ChangedBytes);
            sum += set.Pages.ChangedBytes;
        }

        // Now and then a full tail is packed, and a page is full.
        (sum / 2_000.0).Should().BeLessThan(10);
        most.Should().BeLessThan(700);
    }

    [Fact]
    public void A_change_in_the_tail_leaves_it_the_tail()
    {
        using var set = MakeSet();
        var last = set.Last();
        for (var i = 1; i <= 20; i++)
            set.Apply(new IdChange(last + i * 40, 1));
        foreach (var change in new IdChange[]
        {
            new(last + 2 * 40, IdChange.Removal), new(last + 17, 2), new(last + 3 * 40, 9), new(last + 20 * 40, IdChange.Removal),
        })
        {
            set.Apply(change);
            IsTail(set).Should().BeTrue($"only the id {change.Id} has changed");
        }

        set.Check();
        set.Pages.EndTransaction();
        set.Apply(new IdChange(last + 21 * 40, 1));
        set.Pages.EndTransaction();
        set.Pages.ChangedBytes.Should().BeLessThan(8);
        set.Check();
    }

    [Fact]
    public void A_small_block_before_the_tail_is_merged_into_it()
    {
        using var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 150).Select(i => new IdChange(i * 3, 0))]);
        set.Apply([.. Enumerable.Range(10, 118).Select(i => new IdChange(i * 3, IdChange.Removal))]);
        IdPage.Count(set.PageOf(0)).Should().Be(1);
        IsTail(set).Should().BeTrue();
        set.Check();
    }

    [Fact]
    public void A_tail_whose_gaps_grow_too_wide_is_packed()
    {
        using var set = MakeSet();
        set.Apply(new IdChange(set.Last() + (1L << 40), 0));
        IsTail(set).Should().BeFalse();
        set.Check();
    }

    [Fact]
    public void A_change_inside_rewrites_one_block()
    {
        var random = new Random(3);
        using var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 50_000).Select(i => new IdChange(i * 1_000L + random.Next(900), 0))]);
        set.Pages.EndTransaction();
        var sum = 0L;
        for (var i = 0; i < 2_000; i++)
        {
            set.Apply(new IdChange(random.Next(50_000_000), (short)(random.Next(2) - 1)));
            set.Pages.EndTransaction();
            sum += set.Pages.ChangedBytes;
        }

        (sum / 2_000.0).Should().BeLessThan(200);
    }

    private static bool IsTail(TestIdSet set)
    {
        var page = set.PageOf(set.Last());
        return IdPage.Entries(page)[IdPage.Count(page) - 1].IsTail;
    }

    private static TestIdSet MakeSet()
    {
        var set = new TestIdSet();
        var random = new Random(1);
        var id = 0L;
        var changes = new List<IdChange>();
        for (var i = 0; i < 1_000; i++)
            changes.Add(new IdChange(id += 1 + random.Next(50), (short)random.Next(8)));
        set.Apply([.. changes]);
        return set;
    }
}
