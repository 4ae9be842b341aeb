using Voron.Format;

namespace Voron.Tests.Salvaging;

/// <summary>The way back from a checksum to the seed of an environment.</summary>
[Quick]
public sealed class SeedBaseTests
{
    [Fact]
    public unsafe void A_page_and_its_checksum_give_the_seed_base()
    {
        var random = new Random(TestSeed.Choose());
        for (var i = 0; i < 2_000; i++)
        {
            var id = RandomId.New();
            var page = random.NextInt64(1L << 32);
            var bytes = new byte[32 * random.Next(1, 300)];
            random.NextBytes(bytes);
            var checksum = Checksum.Compute(bytes, Checksum.Seed(id, page));
            fixed (byte* start = bytes)
            {
                Checksum.FindSeedBase(start, (nuint)bytes.Length, page, checksum).Should().Be(Checksum.SeedBase(id));
                Checksum.FindSeedBase(start, (nuint)bytes.Length, page + 1, checksum).Should().NotBe(Checksum.SeedBase(id));
            }
        }
    }
}
