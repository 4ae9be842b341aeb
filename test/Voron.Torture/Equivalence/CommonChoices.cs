using Voron.Simulation.Harness;

namespace Voron.Torture.Equivalence;

/// <summary>
/// The same choices for every run of a call, so that all settings meet the same operations; on the tape of each run they are choices like
/// any others, which can be shrunk and replayed.
/// </summary>
internal sealed class CommonChoices(Tape tape, long seed) : Random
{
    private readonly Random _source = new((int)(seed ^ (seed >> 32)));

    public override int Next(int maxValue) => maxValue <= 1 ? 0 : tape.Choose(_source.Next(maxValue), maxValue);

    public override int Next(int minValue, int maxValue) => minValue + Next(maxValue - minValue);

    public override int Next() => Next(int.MaxValue);
}
