using Voron.ChangeTracking;
using Voron.IO;

namespace Voron.Tests.ChangeTracking;

/// <summary>A set of pages in its form in the change log.</summary>
[Quick]
public sealed class ExtentSetTests
{
    private const long MaxPages = uint.MaxValue;

    [Fact]
    public void A_form_has_the_pages_that_were_added_whatever_their_order()
    {
        using var heap = new NativeHeap();
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        for (var round = 0; round < SuiteShare.Rounds(200); round++)
        {
            var (set, pages) = RandomSet(heap, random, random.Next(200));
            Decode(heap, Encode(set), set.Count).SetEquals(pages).Should().BeTrue($"seed {seed}, round {round}");
            set.Extents.ToArray().Zip(set.Extents.ToArray().Skip(1)).All(pair => pair.Second.First > pair.First.End)
                .Should().BeTrue($"neighbours are one extent: seed {seed}, round {round}");
        }
    }

    [Fact]
    public void A_coarser_set_has_no_page_less_and_fits()
    {
        using var heap = new NativeHeap();
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        for (var round = 0; round < SuiteShare.Rounds(100); round++)
        {
            var (set, pages) = RandomSet(heap, random, 300);
            var limit = random.Next(20, 200);
            set.Coarsen(limit);
            set.EncodedBytes().Should().BeLessThanOrEqualTo(limit, $"seed {seed}, round {round}");
            var extents = Decode(set, heap);
            pages.All(page => Array.FindLastIndex(extents, extent => extent.First <= page) is >= 0 and var index && extents[index].End > page)
                .Should().BeTrue($"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void A_single_page_near_the_one_before_takes_one_byte_and_the_largest_numbers_fit()
    {
        using var heap = new NativeHeap();
        var set = new ExtentSet(heap);
        for (var page = 0; page < 1000; page++)
            set.Add(page * 60L, 1);
        set.EncodedBytes().Should().Be(1000);

        set.Clear();
        set.Add(0, MaxPages);
        set.TryDecode([], 0, MaxPages).Should().BeTrue();
        Decode(set, heap).Should().Equal(new PageExtent(0, MaxPages));
    }

    [Theory]
    [InlineData(1, new byte[0])]
    [InlineData(1, new byte[] { 0x80 })]
    [InlineData(1, new byte[] { 0x01 })]
    [InlineData(0, new byte[] { 0x02 })]
    [InlineData(2, new byte[] { 0x02 })]
    [InlineData(1, new byte[] { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01 })]
    [InlineData(1, new byte[] { 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F })]
    [InlineData(1, new byte[] { 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01 })]
    public void A_malformed_form_is_refused(int count, byte[] form)
    {
        using var heap = new NativeHeap();
        new ExtentSet(heap).TryDecode(form, count, MaxPages).Should().BeFalse();
    }

    [Fact]
    public void Any_bytes_are_decoded_to_pages_of_the_file_or_refused()
    {
        using var heap = new NativeHeap();
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var bytes = new byte[40];
        for (var round = 0; round < SuiteShare.Rounds(20_000); round++)
        {
            random.NextBytes(bytes);
            var set = new ExtentSet(heap);
            set.TryDecode(bytes.AsSpan(0, random.Next(bytes.Length)), random.Next(20), 1000);
            set.Extents.ToArray().All(extent => extent.First >= 0 && extent.End <= 1000).Should().BeTrue($"seed {seed}, round {round}");
        }
    }

    private static (ExtentSet Set, HashSet<long> Pages) RandomSet(NativeHeap heap, Random random, int extents)
    {
        var (set, pages) = (new ExtentSet(heap), new HashSet<long>());
        for (var i = 0; i < extents; i++)
        {
            var first = random.NextInt64(random.Next(2) == 0 ? 500 : 1L << random.Next(1, 32));
            var count = random.Next(3) == 0 ? random.Next(1, 300) : 1;
            set.Add(first, count);
            pages.UnionWith(Enumerable.Range(0, count).Select(page => first + page));
        }

        return (set, pages);
    }

    private static byte[] Encode(ExtentSet set)
    {
        var form = new byte[set.EncodedBytes()];
        set.Encode(form);
        return form;
    }

    private static PageExtent[] Decode(ExtentSet set, NativeHeap heap)
    {
        var decoded = new ExtentSet(heap);
        decoded.TryDecode(Encode(set), set.Count, MaxPages).Should().BeTrue();
        return decoded.Extents.ToArray();
    }

    private static HashSet<long> Decode(NativeHeap heap, byte[] form, int count)
    {
        var decoded = new ExtentSet(heap);
        decoded.TryDecode(form, count, MaxPages).Should().BeTrue();
        return [.. decoded.Extents.ToArray().SelectMany(extent => Enumerable.Range(0, (int)extent.Pages).Select(page => extent.First + page))];
    }
}
