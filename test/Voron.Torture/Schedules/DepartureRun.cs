using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Makes all schedules of a unit.</summary>
/// <remarks>
/// What has been looked at is taken back from the choices: a failure has a script of one schedule. The schedules that a unit begins with
/// are made only to see what can follow them; other units count them.
/// </remarks>
internal sealed class DepartureRun(SuiteRun run, DepartureUnit? unit)
{
    private IReadOnlyList<int> _others = [];

    public void Run()
    {
        using IEnumerator<Planned> plan = Plan().GetEnumerator();
        while (true)
        {
            int drawn = run.Choices.Drawn.Count;
            run.Choices.Mark();
            bool isPlanned = !run.Stop.IsCancellationRequested && plan.MoveNext();
            if (!run.Choices.GoesOn(isPlanned))
                break;
            Make(isPlanned ? plan.Current : new Planned([], IsNew: true));
            run.Choices.Forget(drawn);
        }
        if (unit is not { } done || run.Stop.IsCancellationRequested)
            return;
        run.Tally($"units with departures {done.Departures}, of {DepartureUnits.CountOf(done.Departures)}");
        if (done.Departures == DepartureUnits.MaxDepartures && DepartureUnits.GoesToTheEnd(done.Script))
            run.Tally($"of these in the {DepartureUnits.ScriptsToTheEnd} smallest scripts, of {DepartureUnits.CountToTheEnd}");
    }

    private void Make(Planned planned)
    {
        // Each is a choice like any other: of a script all of it is followed.
        int script = run.Choices.Choose(unit?.Script ?? 0, ScheduleScript.Small.Count);
        int count = run.Choices.Choose(planned.Departures.Count, DepartureUnits.MaxDepartures + 1);
        var departures = new List<Departure>();
        for (int i = 0; i < count; i++)
        {
            Departure next = i < planned.Departures.Count ? planned.Departures[i] : default;
            departures.Add(new Departure(
                run.Choices.Choose(next.Decision, DepartureUnits.MaxDecisions), run.Choices.Choose(next.Other, DepartureUnits.MaxOthers)));
        }
        run.Step($"script {script} departs at {string.Join(", ", departures.Select(departure => $"{departure.Decision} ({departure.Other})"))}");
        var strategy = new DepartingStrategy(departures);
        ScheduleRun.Make(run, ScheduleScript.Small[script], strategy, planned.IsNew);
        if (planned.IsNew)
            run.Tally($"departures {strategy.Taken}");
        _others = strategy.Others;
    }

    // Each is made before the next is asked for.
    private IEnumerable<Planned> Plan()
    {
        if (unit is not { } all)
            yield break;
        List<Departure> begin = all.Departures == 1 ? [] : [all.First];
        yield return new Planned(begin, IsNew: false);
        int from = all.Departures == 1 ? 0 : all.First.Decision + 1;
        List<Departure> next = [.. DepartureUnits.Behind(from, _others)];
        for (int i = 0; i < next.Count; i++)
        {
            if (i % all.Parts != all.Part)
                continue;
            yield return new Planned([.. begin, next[i]], IsNew: all.Departures < DepartureUnits.MaxDepartures);
            if (all.Departures < DepartureUnits.MaxDepartures)
                continue;
            foreach (Departure third in DepartureUnits.Behind(next[i].Decision + 1, [.. _others]))
                yield return new Planned([.. begin, next[i], third], IsNew: true);
        }
    }

    private readonly record struct Planned(IReadOnlyList<Departure> Departures, bool IsNew);
}
