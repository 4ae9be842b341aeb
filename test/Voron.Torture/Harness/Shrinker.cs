using System.Diagnostics;

namespace Voron.Torture.Harness;

/// <summary>
/// Looks for the shortest script that still fails in the same way: leaves out steps, then stretches of choices, then makes the
/// choices that are left small. Greedy, and bounded in time.
/// </summary>
internal sealed class Shrinker(Suite suite, long index, Type failure, TimeSpan limit)
{
    private const int LargestStretch = 64;

    private readonly long _started = Stopwatch.GetTimestamp();
    private IReadOnlyList<long> _script = [];
    private IReadOnlyList<int> _marks = [];

    /// <summary>How many scripts were tried.</summary>
    public int Attempts { get; private set; }

    /// <summary>The message and the steps of the shortest failure so far; null when not even the given script fails again.</summary>
    public FailedRun? Shortest { get; private set; }

    private bool IsOver => Stopwatch.GetElapsedTime(_started) > limit;

    public void Run(IReadOnlyList<long> script)
    {
        if (!Fails(script))
            return;
        int before;
        do
        {
            before = _script.Count;
            LeaveOutSteps();
            for (int length = LargestStretch; length > 0 && !IsOver; length /= 2)
                LeaveOut(length);
        }
        while (_script.Count < before && !IsOver);
        for (int i = 0; i < _script.Count && !IsOver; i++)
            MakeSmall(i);
    }

    // Many steps at a time first, and from the end: the cause of a failure is mostly early, its setting late.
    private void LeaveOutSteps()
    {
        for (int count = Math.Max(1, _marks.Count / 2); count > 0 && !IsOver; count /= 2)
        {
            for (int at = _marks.Count - count; at >= 0 && !IsOver; at -= count)
            {
                if (at + count > _marks.Count)
                    continue;
                int end = at + count < _marks.Count ? _marks[at + count] : _script.Count;
                _ = FailsWithout(_marks[at], end);
            }
        }
    }

    private void LeaveOut(int length)
    {
        for (int at = _script.Count - length; at >= 0 && !IsOver; at -= length)
        {
            if (at + length <= _script.Count)
                _ = FailsWithout(at, at + length);
        }
    }

    private bool FailsWithout(int start, int end) => start < end && Fails([.. _script.Take(start), .. _script.Skip(end)]);

    private void MakeSmall(int at)
    {
        for (long value = 0;
            value < _script[at] && !IsOver;
            value = value == 0 ? Math.Max(1, _script[at] / 2) : value + ((_script[at] - value + 1) / 2))
        {
            long[] changed = [.. _script];
            changed[at] = value;
            if (Fails(changed) || at >= _script.Count)
                return;
        }
    }

    /// <summary>Runs a script; what it drew becomes the script when it fails and is no longer than the one before.</summary>
    private bool Fails(IReadOnlyList<long> script)
    {
        Attempts++;
        var tape = new Tape(script);
        var run = new SuiteRun(index, tape);
        try
        {
            suite.Run(run);
            return false;
        }
        catch (Exception e) when (e.GetType() == failure)
        {
            if (Shortest is not null && tape.Drawn.Count > _script.Count)
                return false;
            _script = [.. tape.Drawn];
            _marks = [.. tape.Marks];
            Shortest = new FailedRun(e.ToString(), _script, [.. run.Steps]);
            return true;
        }
        catch (Exception)
        {
            // Something else went wrong with this script: that is not the failure looked for.
            return false;
        }
    }
}

/// <param name="Message">What was thrown.</param>
/// <param name="Script">The choices that lead there.</param>
/// <param name="Steps">The same, as far as the suite tells.</param>
internal sealed record FailedRun(string Message, IReadOnlyList<long> Script, IReadOnlyList<string> Steps);
