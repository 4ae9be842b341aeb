using Voron.Simulation.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Runs all schedules of a unit.</summary>
/// <remarks>
/// The choices of completed schedules are removed again, so that the script of a failure has only one schedule. The schedules with which a
/// unit begins are run only to find out which preemptions can follow them; other units count them.
/// </remarks>
internal sealed class PreemptionRun(SuiteRun run, PreemptionUnit? unit)
{
    private IReadOnlyList<int> _others = [];

    public void Run()
    {
        using var plan = Plan().GetEnumerator();
        while (true)
        {
            var drawn = run.Choices.Drawn.Count;
            run.Choices.Mark();
            var isPlanned = !run.Stop.IsCancellationRequested && plan.MoveNext();
            if (!run.Choices.GoesOn(isPlanned))
                break;
            Make(isPlanned ? plan.Current : new Planned([], IsNew: true));
            run.Choices.Forget(drawn);
        }
        if (unit is not { } done || run.Stop.IsCancellationRequested)
            return;
        run.Tally($"units with preemptions {done.Preemptions}, of {PreemptionUnits.CountOf(done.Preemptions)}");
        if (done.Preemptions == PreemptionUnits.MaxPreemptions && PreemptionUnits.GoesToTheEnd(done.Script))
            run.Tally($"of these in the {PreemptionUnits.ScriptsToTheEnd} smallest scripts, of {PreemptionUnits.CountToTheEnd}");
    }

    private void Make(Planned planned)
    {
        // Each is a choice like any other, so that a replayed script determines all of them.
        var script = run.Choices.Choose(unit?.Script ?? 0, ScheduleScript.Small.Count);
        var count = run.Choices.Choose(planned.Preemptions.Count, PreemptionUnits.MaxPreemptions + 1);
        var preemptions = new List<Preemption>();
        for (var i = 0; i < count; i++)
        {
            var next = i < planned.Preemptions.Count ? planned.Preemptions[i] : default;
            preemptions.Add(new Preemption(
                run.Choices.Choose(next.Decision, PreemptionUnits.MaxDecisions), run.Choices.Choose(next.Other, PreemptionUnits.MaxOthers)));
        }
        run.Step($"script {script} is preempted at {string.Join(", ", preemptions.Select(preemption => $"{preemption.Decision} ({preemption.Other})"))}");
        var strategy = new PreemptingStrategy(preemptions);
        ScheduleRun.Make(run, ScheduleScript.Small[script], strategy, planned.IsNew);
        if (planned.IsNew)
            run.Tally($"preemptions {strategy.Taken}");
        _others = strategy.Others;
    }

    // Each schedule is run before the next one is requested.
    private IEnumerable<Planned> Plan()
    {
        if (unit is not { } all)
            yield break;
        List<Preemption> begin = all.Preemptions == 1 ? [] : [all.First];
        yield return new Planned(begin, IsNew: false);
        var from = all.Preemptions == 1 ? 0 : all.First.Decision + 1;
        List<Preemption> next = [.. PreemptionUnits.Behind(from, _others)];
        for (var i = 0; i < next.Count; i++)
        {
            if (i % all.Parts != all.Part)
                continue;
            yield return new Planned([.. begin, next[i]], IsNew: all.Preemptions < PreemptionUnits.MaxPreemptions);
            if (all.Preemptions < PreemptionUnits.MaxPreemptions)
                continue;
            foreach (var third in PreemptionUnits.Behind(next[i].Decision + 1, [.. _others]))
                yield return new Planned([.. begin, next[i], third], IsNew: true);
        }
    }

    private readonly record struct Planned(IReadOnlyList<Preemption> Preemptions, bool IsNew);
}
