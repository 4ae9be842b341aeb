namespace Voron.Simulation.Harness;

/// <summary>
/// A source of random numbers that records the numbers it returns, and that returns the same ones again from a script. After the end of a
/// script it returns zeros, which make the simplest choices, so a shortened script is still a script.
/// </summary>
/// <remarks>
/// The idea of shrinking choices instead of values comes from Hypothesis (MacIver and Donaldson, "Test-Case Reduction via Test-Case
/// Generation", ECOOP 2020). Not thread-safe.
/// </remarks>
internal sealed class Tape : Random
{
    /// <summary>The number of zeros beyond the script after which a run is aborted: a loop that waits for another number would not end.</summary>
    private const int MaxBeyond = 2_000_000;

    private const int DoubleSteps = 1 << 30;

    private readonly SplitMix? _source;
    private readonly IReadOnlyList<long> _script = [];
    private readonly List<long> _drawn = [];
    private readonly List<int> _marks = [];
    private readonly List<int> _rounds = [];
    private int _made;

    /// <summary>Creates a tape of new choices, which follow from the seed.</summary>
    public Tape(long seed) => _source = new SplitMix(seed);

    /// <summary>Creates a tape that replays the choices of a script.</summary>
    public Tape(IReadOnlyList<long> script) => _script = script;

    /// <summary>All numbers that were drawn and not forgotten; each is within the requested range, from 0.</summary>
    public IReadOnlyList<long> Drawn => _drawn;

    /// <summary>The number of choices that had been drawn at the beginning of each step.</summary>
    public IReadOnlyList<int> Marks => _marks;

    /// <summary>The number of choices that had been drawn whenever a loop within a step began another round or ended.</summary>
    public IReadOnlyList<int> Rounds => _rounds;

    /// <summary>False when a script has come to its end. Loops that make steps end then, so a shorter script does less.</summary>
    public bool HasMore => _source is not null || _made < _script.Count;

    /// <summary>
    /// Makes a choice that takes all possibilities in turn while choices are new, and that is an ordinary choice in a script. So a run may
    /// check ten thousand cases, and the remaining script checks one.
    /// </summary>
    /// <param name="turn">The choice for this turn, below the limit.</param>
    /// <param name="limit">The number of possibilities.</param>
    public int Choose(int turn, int limit)
    {
        if (_source is null)
            return Next(limit);
        _made++;
        _drawn.Add(turn);
        return turn;
    }

    /// <summary>
    /// Returns whether a loop makes another round: the caller's value while choices are new, a choice in a script. A loop controlled in this
    /// way, rather than by a number of rounds drawn before it, stays in step with the script when one of its rounds is left out.
    /// </summary>
    public bool GoesOn(bool fresh)
    {
        _rounds.Add(_drawn.Count);
        return Choose(fresh ? 1 : 0, 2) == 1;
    }

    /// <summary>
    /// Removes the choices made since their number was <paramref name="drawn"/>: for a round of such a loop that has checked something and
    /// changed nothing. A failure found later then has a script without the thousands of cases that were checked before.
    /// </summary>
    /// <param name="drawn">The number of choices before the round.</param>
    public void Forget(int drawn)
    {
        _drawn.RemoveRange(drawn, _drawn.Count - drawn);
        _marks.RemoveAll(mark => mark >= drawn);
        _rounds.RemoveAll(round => round >= drawn);
    }

    public void Mark()
    {
        if (_marks.Count == 0 || _marks[^1] != _drawn.Count)
            _marks.Add(_drawn.Count);
    }

    public override int Next() => (int)Draw(int.MaxValue);

    public override int Next(int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxValue);
        return (int)Draw(maxValue);
    }

    public override int Next(int minValue, int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return (int)(minValue + Draw((long)maxValue - minValue));
    }

    public override long NextInt64() => Draw(long.MaxValue);

    public override long NextInt64(long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxValue);
        return Draw(maxValue);
    }

    public override long NextInt64(long minValue, long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return minValue + Draw(maxValue - minValue);
    }

    public override double NextDouble() => Sample();

    public override float NextSingle() => (float)Draw(1 << 24) / (1 << 24);

    /// <summary>Draws one choice for all of the bytes, which are not shrunk one by one.</summary>
    public override void NextBytes(byte[] buffer) => NextBytes(buffer.AsSpan());

    /// <inheritdoc cref="NextBytes(byte[])"/>
    public override void NextBytes(Span<byte> buffer) => new Random(Next()).NextBytes(buffer);

    protected override double Sample() => (double)Draw(DoubleSteps) / DoubleSteps;

    private long Draw(long limit)
    {
        long value = 0;
        if (limit > 1)
        {
            if (_source is not null)
                value = _source.Below(limit);
            else if (_made < _script.Count)
                value = _script[_made] % limit;
            else if (_made > _script.Count + MaxBeyond)
                throw new TapeRunOutException();
        }
        _made++;
        _drawn.Add(value);
        return value;
    }
}

/// <summary>Thrown when a shortened script leads into a loop that only other numbers would end.</summary>
internal sealed class TapeRunOutException() : Exception("The script leads nowhere.");
