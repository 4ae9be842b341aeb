namespace Voron.Torture.Harness;

/// <summary>
/// A source of random numbers that remembers what it gave, and that gives the same again from a script. A script that is too
/// short goes on with zeros, which choose what is plainest, so that a shortened script is a script still.
/// </summary>
/// <remarks>
/// The idea of shrinking choices in place of values is that of Hypothesis (MacIver and Donaldson, "Test-Case Reduction via
/// Test-Case Generation", ECOOP 2020). Not safe for use by several threads at a time.
/// </remarks>
internal sealed class Tape : Random
{
    /// <summary>Zeros beyond the script after which a run is given up: a loop that waits for another number would not end.</summary>
    private const int MaxBeyond = 2_000_000;

    private const int DoubleSteps = 1 << 30;

    private readonly SplitMix? _source;
    private readonly IReadOnlyList<long> _script = [];
    private readonly List<long> _drawn = [];
    private readonly List<int> _marks = [];
    private readonly List<int> _rounds = [];
    private int _made;

    /// <summary>New choices, which follow from the seed.</summary>
    public Tape(long seed) => _source = new SplitMix(seed);

    /// <summary>The choices of a script.</summary>
    public Tape(IReadOnlyList<long> script) => _script = script;

    /// <summary>All that was drawn and not forgotten; each number is within the range that was asked for, from 0.</summary>
    public IReadOnlyList<long> Drawn => _drawn;

    /// <summary>How much had been drawn where steps began.</summary>
    public IReadOnlyList<int> Marks => _marks;

    /// <summary>How much had been drawn where loops within steps went round, or ended.</summary>
    public IReadOnlyList<int> Rounds => _rounds;

    /// <summary>False when a script has come to its end: loops that make steps end there, so that a shorter script does less.</summary>
    public bool HasMore => _source is not null || _made < _script.Count;

    /// <summary>
    /// A choice that goes over all possibilities in turn while choices are new, and is one like any other in a script: of a run
    /// that looks at ten thousand cases, the script that is left looks at one.
    /// </summary>
    /// <param name="turn">What it is this time, below the limit.</param>
    /// <param name="limit">How many possibilities there are.</param>
    public int Choose(int turn, int limit)
    {
        if (_source is null)
            return Next(limit);
        _made++;
        _drawn.Add(turn);
        return turn;
    }

    /// <summary>
    /// Whether a loop goes round once more: what the caller says while choices are new, a choice in a script. A loop that is told
    /// so, rather than by a number of rounds in front of it, stays in step when one of its rounds is left out of the script.
    /// </summary>
    public bool GoesOn(bool fresh)
    {
        _rounds.Add(_drawn.Count);
        return Choose(fresh ? 1 : 0, 2) == 1;
    }

    /// <summary>
    /// Takes back the choices made since there were so many of them: for a round of such a loop that has looked at something and
    /// changed nothing. What is found later then has a script without the thousands of cases that were looked at before.
    /// </summary>
    /// <param name="drawn">How many choices there were before the round.</param>
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

    /// <summary>One choice for all of the bytes: they are what they are, and nobody shrinks them one by one.</summary>
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

/// <summary>A shortened script led into a loop that only other numbers would end.</summary>
internal sealed class TapeRunOutException() : Exception("The script leads nowhere.");
