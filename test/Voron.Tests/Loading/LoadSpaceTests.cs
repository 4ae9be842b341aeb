using Voron.Loading;
using Voron.Tests.Faults;
using Voron.Tests.Staging;

namespace Voron.Tests.Loading;

/// <summary>The pages of a load are those that it has taken and not freed, wherever they are.</summary>
public sealed class LoadSpaceTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void The_used_ranges_are_the_pages_that_were_taken_and_not_freed()
    {
        var random = new Random(TestSeed.Choose());
        for (var run = 0; run < 40; run++)
        {
            using var environment = StagingTestKit.Open();
            var space = new LoadSpace(environment.Internals.Staging!, Token);
            var extents = new List<(long First, long Pages)>();
            for (var step = random.Next(1, 60); step > 0; step--)
                Step(environment, space, extents, random);
            var expected = extents.SelectMany(extent => Pages(extent)).Order().ToList();
            expected.Should().OnlyHaveUniqueItems();
            var ranges = space.UsedRanges();
            ranges.SelectMany(range => Pages(range)).Should().Equal(expected);
            ranges.Zip(ranges.Skip(1), (one, next) => next.First - one.First - one.Pages).Should().NotContain(0, "adjacent ranges are one");
            space.Release();
            StagingTestKit.CheckUnreserved(environment);
        }
    }

    private static void Step(StorageEnvironment environment, LoadSpace space, List<(long First, long Pages)> extents, Random random)
    {
        switch (random.Next(6))
        {
            case 0 when extents.Count > 0:
                var (first, pages) = extents[^1];
                extents.RemoveAt(extents.Count - 1);
                space.Free(first, pages);
                break;
            case 1:
                // Others take pages between the reservations.
                FaultTestKit.Put(environment, random.Next(1000), FaultTestKit.Value(1, random.Next(30_000)));
                break;
            case 2:
                var count = random.Next(1, 40);
                extents.Add((space.AllocateExtent(count), count));
                break;
            default:
                for (var left = random.Next(1, 70); left > 0; left--)
                    extents.Add((space.AllocatePage(), 1));
                break;
        }
    }

    private static IEnumerable<long> Pages((long First, long Pages) extent) =>
        Enumerable.Range(0, (int)extent.Pages).Select(page => extent.First + page);
}
