using Tour.Output;

namespace Tour.Measuring;

/// <summary>
/// Measures engines in turns: a warm-up that does not count, then slices of the measured time, each first in every other turn, so that
/// a device that changes its pace does so for all of them.
/// </summary>
internal sealed class Contest(Screen screen, TimeSpan time, CancellationToken stop)
{
    /// <summary>The turns that count.</summary>
    public const int Turns = 4;

    /// <summary>Returns how much each contender does in a second.</summary>
    public IReadOnlyList<double> Run(params IReadOnlyList<Contender> contenders)
    {
        var done = new long[contenders.Count];
        var elapsed = new TimeSpan[contenders.Count];
        screen.ShowProgress([.. contenders.Select(static contender => contender.Name)], progress =>
        {
            for (var turn = 0; turn <= Turns; turn++)
            {
                for (var i = 0; i < contenders.Count; i++)
                {
                    var next = turn % 2 == 0 ? i : contenders.Count - 1 - i;
                    var before = turn;
                    var slice = new TimeSlice(time / Turns, share => progress(next, (before + share) / (Turns + 1)), stop);
                    var count = contenders[next].Work(slice);
                    var took = slice.Elapsed;
                    contenders[next].Settle();
                    if (turn == 0)
                        continue;
                    done[next] += count;
                    elapsed[next] += took;
                }
            }
        });
        return [.. done.Zip(elapsed, static (count, took) => count / took.TotalSeconds)];
    }
}
