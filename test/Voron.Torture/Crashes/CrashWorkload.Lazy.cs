namespace Voron.Torture.Crashes;

/// <content>Commits that are acknowledged before they are durable.</content>
internal sealed partial class CrashWorkload
{
    // Fewer than make the journal's thread write, so that the trace depends on the choices alone.
    private const int MostLazy = 6;

    private int _lazy;

    /// <summary>Makes lazy commits, alone, between others and behind others that are being written.</summary>
    public bool Lazies { get; init; }

    private void StepOfLazies()
    {
        if (_lazy == MostLazy || _random.Next(4) == 3)
        {
            _run.Report("durable commit that changes nothing");
            using var writing = _environment!.BeginWrite();
            writing.Commit();
            Acknowledge();
            return;
        }

        _run.Report("lazy commit");
        _lazy++;
        _counts.LazyCommits++;
        switch (_random.Next(3))
        {
            case 0:
                CommitLazily(writing => writing.Commit());
                break;
            case 1:
                CommitLazily(writing =>
                {
                    var task = writing.CommitAsync();
                    if (!task.IsCompletedSuccessfully)
                        throw new CrashViolationException("A lazy commit waits although no other is being written.");
                    task.GetAwaiter().GetResult();
                });
                break;
            default:
                _environment!.Write(writing =>
                {
                    writing.Durability = Durability.Lazy;
                    Submit(Model(writing, Newest, _stages).Touch().Change(_random.Next(1, 5)).Content);
                });
                break;
        }

        // Its changes are visible, but only those of the last durable commit are promised.
        if (_random.Next(3) == 2)
            _readers.Begin(_environment!, Newest);
    }

    private void CommitLazily(Action<WriteTransaction> commit)
    {
        using var writing = _environment!.BeginWrite();
        writing.Durability = Durability.Lazy;
        Submit(Model(writing, Newest, _stages).Touch().Change(_random.Next(1, 5)).Content);
        commit(writing);
    }
}
