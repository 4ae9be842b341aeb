using System.Diagnostics;

namespace Voron.Simulation.Harness;

/// <summary>
/// Searches for the shortest script that still fails in the same way. It leaves out steps, then rounds of the loops within them, then
/// sequences of choices, and then makes the remaining choices small. That may make other choices superfluous, so it repeats until the script
/// gets no smaller. The search is greedy, and bounded in time.
/// </summary>
/// <param name="suite">The suite that failed.</param>
/// <param name="index">The number of the run.</param>
/// <param name="seed">The seed of the whole call.</param>
/// <param name="signature">The signature of the failure; a failure with another signature does not count.</param>
/// <param name="limit">The time limit of the search.</param>
internal sealed class Shrinker(Suite suite, long index, long seed, string signature, TimeSpan limit)
{
    private const int LargestStretch = 64;

    /// <summary>The maximum number of runs that hang because of their script. Each leaves a thread behind that may keep a body busy.</summary>
    private const int MaxLeftBehind = 3;

    /// <summary>A shorter script generally takes no longer than the first one; a run that takes longer by this much hangs.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly long _started = Stopwatch.GetTimestamp();
    private IReadOnlyList<long> _script = [];
    private IReadOnlyList<int> _marks = [];
    private IReadOnlyList<int> _rounds = [];
    private TimeSpan _patience = suite.RunLimit;
    private int _leftBehind;

    /// <summary>The number of scripts tried.</summary>
    public int Attempts { get; private set; }

    /// <summary>The message and steps of the shortest failure so far; null if not even the given script fails again.</summary>
    public FailedRun? Shortest { get; private set; }

    private TimeSpan Left => limit - Stopwatch.GetElapsedTime(_started);

    private bool IsOver => Left <= TimeSpan.Zero || _leftBehind >= MaxLeftBehind;

    public void Run(IReadOnlyList<long> script)
    {
        var started = Stopwatch.GetTimestamp();
        if (!Fails(script))
            return;
        var enough = Patience + (Stopwatch.GetElapsedTime(started) * 4);
        _patience = enough < suite.RunLimit ? enough : suite.RunLimit;
        IReadOnlyList<long> before;
        do
        {
            before = _script;
            LeaveOutParts(() => _marks);
            LeaveOutParts(() => _rounds);
            for (var length = LargestStretch; length > 0 && !IsOver; length /= 2)
                LeaveOut(length);
            for (var i = 0; i < _script.Count && !IsOver; i++)
                MakeSmall(i);
        }
        while (!_script.SequenceEqual(before) && !IsOver);
    }

    // Tries many at a time first, and from the end: the cause of a failure is mostly early, its setting late.
    private void LeaveOutParts(Func<IReadOnlyList<int>> marks)
    {
        for (var count = Math.Max(1, marks().Count / 2); count > 0 && !IsOver; count /= 2)
        {
            for (var at = marks().Count - count; at >= 0 && !IsOver; at -= count)
            {
                var now = marks();
                if (at + count <= now.Count)
                    _ = FailsWithout(now[at], at + count < now.Count ? now[at + count] : _script.Count);
            }
        }
    }

    private void LeaveOut(int length)
    {
        for (var at = _script.Count - length; at >= 0 && !IsOver; at -= length)
        {
            if (at + length <= _script.Count)
                _ = FailsWithout(at, at + length);
        }
    }

    private bool FailsWithout(int start, int end) => start < end && Fails([.. _script.Take(start), .. _script.Skip(end)]);

    private void MakeSmall(int at)
    {
        for (long value = 0; value < _script[at] && !IsOver;)
        {
            long[] changed = [.. _script];
            changed[at] = value;
            if (Fails(changed) || at >= _script.Count)
                return;
            value = value == 0 ? Math.Max(1, _script[at] / 2) : value + ((_script[at] - value + 1) / 2);
        }
    }

    private bool IsLess(IReadOnlyList<long> script)
    {
        if (script.Count != _script.Count)
            return script.Count < _script.Count;
        for (var i = 0; i < script.Count; i++)
        {
            if (script[i] != _script[i])
                return script[i] < _script[i];
        }
        return false;
    }

    /// <summary>Runs a script. If it fails, and the choices that it drew are smaller than the current script, they become the new script.</summary>
    private bool Fails(IReadOnlyList<long> script)
    {
        Attempts++;
        var tape = new Tape(script);
        var attempt = Attempt.Make(suite, index, seed, tape, Left < _patience ? Left : _patience);
        if (!attempt.HasEnded)
            _leftBehind++;

        // Any other failure of this script is not the one searched for.
        if (attempt.Thrown is not { } thrown || FailureSignature.Of(thrown) != signature)
            return false;

        // Never accepts a longer script, nor one that has become as long by other choices: the search could then go in circles forever.
        if (Shortest is not null && !IsLess(tape.Drawn))
            return false;
        _script = [.. tape.Drawn];
        _marks = [.. tape.Marks];
        _rounds = [.. tape.Rounds];
        Shortest = new FailedRun(thrown.ToString(), _script, [.. attempt.Run.Steps]);
        return true;
    }
}
