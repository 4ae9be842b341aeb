using Voron.Simulation.Harness;

namespace Voron.Torture.Lifetimes;

/// <summary>A value, identified by the seed of its bytes and its length.</summary>
internal readonly record struct LifetimeValue(int Seed, int Length)
{
    private static readonly int[] Lengths = [0, 10, 900, 3_000, 12_000, 20_000, 70_000, 200_000];

    /// <summary>Values of this length or more have their own pages in the data file, and are never changed in place.</summary>
    public const int Large = 16 << 10;

    public bool IsLarge => Length >= Large;

    public static LifetimeValue Draw(Random random) => new(random.Next(), Math.Max(0, Lengths[random.Next(Lengths.Length)] - random.Next(3)));

    public byte[] Bytes() => SeededBytes.Make(Seed, Length);
}
