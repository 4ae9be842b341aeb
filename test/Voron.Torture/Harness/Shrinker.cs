using System.Diagnostics;

namespace Voron.Torture.Harness;

/// <summary>
/// Looks for the shortest script that still fails in the same way: leaves out steps, then rounds of the loops within them, then
/// stretches of choices, then makes the choices that are left small. That may make others superfluous: so again, until nothing gets
/// less. Greedy, and bounded in time.
/// </summary>
internal sealed class Shrinker(Suite suite, long index, Type failure, TimeSpan limit)
{
    private const int LargestStretch = 64;

    private readonly long _started = Stopwatch.GetTimestamp();
    private IReadOnlyList<long> _script = [];
    private IReadOnlyList<int> _marks = [];
    private IReadOnlyList<int> _rounds = [];

    /// <summary>How many scripts were tried.</summary>
    public int Attempts { get; private set; }

    /// <summary>The message and the steps of the shortest failure so far; null when not even the given script fails again.</summary>
    public FailedRun? Shortest { get; private set; }

    private bool IsOver => Stopwatch.GetElapsedTime(_started) > limit;

    public void Run(IReadOnlyList<long> script)
    {
        if (!Fails(script))
            return;
        IReadOnlyList<long> before;
        do
        {
            before = _script;
            LeaveOutParts(() => _marks);
            LeaveOutParts(() => _rounds);
            for (int length = LargestStretch; length > 0 && !IsOver; length /= 2)
                LeaveOut(length);
            for (int i = 0; i < _script.Count && !IsOver; i++)
                MakeSmall(i);
        }
        while (!_script.SequenceEqual(before) && !IsOver);
    }

    // Many at a time first, and from the end: the cause of a failure is mostly early, its setting late.
    private void LeaveOutParts(Func<IReadOnlyList<int>> marks)
    {
        for (int count = Math.Max(1, marks().Count / 2); count > 0 && !IsOver; count /= 2)
        {
            for (int at = marks().Count - count; at >= 0 && !IsOver; at -= count)
            {
                IReadOnlyList<int> now = marks();
                if (at + count <= now.Count)
                    _ = FailsWithout(now[at], at + count < now.Count ? now[at + count] : _script.Count);
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
        for (int i = 0; i < script.Count; i++)
        {
            if (script[i] != _script[i])
                return script[i] < _script[i];
        }
        return false;
    }

    /// <summary>Runs a script; what it drew becomes the script when it fails and is less than the one before.</summary>
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
            // Never a longer one, nor one that has become as long by other choices: that could go round for ever.
            if (Shortest is not null && !IsLess(tape.Drawn))
                return false;
            _script = [.. tape.Drawn];
            _marks = [.. tape.Marks];
            _rounds = [.. tape.Rounds];
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
