using Voron.Feeds;
using Voron.Simulation.Harness;
using Voron.Torture.Model;
using Voron.Torture.Recorded;

namespace Voron.Torture.Feeds;

/// <summary>
/// Consumers follow a feed that outgrows all limits while the engine cuts it in the background; then the environment is restored, both go other
/// ways, and positions of the one mean nothing to the other, except for those before the fork.
/// </summary>
internal sealed class LongFeedRun(SuiteRun run) : IDisposable
{
    private const int MinCommits = 16;
    private const int MaxCommits = 40;

    private static readonly int[] BatchBytes = [20_000, ChangeBatch.DefaultMaxBytes, 4 << 20];

    private readonly string _directory = Directory.CreateTempSubdirectory("voron-feed-").FullName;
    private readonly Tape _choices = run.Choices;
    private readonly LongFeedConsumer _named = new();
    private readonly LongFeedConsumer _other = new();
    private LongFeedBranch? _first;
    private LongFeedBranch? _fork;

    /// <summary>The number of commits.</summary>
    public long Commits => (_first?.Commits ?? 0) + (_fork?.Commits ?? 0);

    public void Run()
    {
        _first = new LongFeedBranch(Path.Combine(_directory, "first"), _choices);
        _first.Commit();
        var oldest = _first.Info().Oldest;
        for (var i = _choices.Next(MinCommits, MaxCommits); _choices.GoesOn(i > 0 && !run.Stop.IsCancellationRequested); i--)
        {
            Step(_first);
            var now = _first.Info().Oldest;
            run.Tally("cuts in the background", now > oldest ? 1 : 0);
            oldest = now;
        }

        Follow(_first, _other, isHeld: false);
        Fork();
        run.Tally("parts of transactions", _named.Parts + _other.Parts);
        foreach (var branch in new[] { _first, _fork! })
        {
            branch.Trim();
            branch.Check();
        }
    }

    public void Dispose()
    {
        _fork?.Dispose();
        _first?.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    private void Step(LongFeedBranch branch)
    {
        run.Report("commit");
        branch.Commit();
        switch (_choices.Next(8))
        {
            case < 3:
                Follow(branch, _named, isHeld: true);
                branch.Commit(writing => writing.SetPosition(RecordedStore.Feed, LongFeedBranch.Named, _named.Position));
                break;
            case 3:
                Follow(branch, _other, isHeld: false);
                break;
        }
    }

    // A consumer with a name loses nothing; another one copies the data if it comes too late.
    private void Follow(LongFeedBranch branch, LongFeedConsumer consumer, bool isHeld)
    {
        run.Report($"follow behind {consumer.Position}");
        var isKnown = isHeld && consumer.Position != ChangePosition.Start;
        try
        {
            consumer.Follow(branch, BatchBytes[_choices.Next(BatchBytes.Length)]);
        }
        catch (ChangesLostException e)
        {
            if (isKnown || consumer.Position >= branch.Info().Oldest && consumer.Position != ChangePosition.Start)
                throw new ModelMismatchException($"a consumer has lost changes that the feed must have: {e.Message}");
            run.Tally("consumers that came too late");
            consumer.Copy(branch);
        }
    }

    private void Fork()
    {
        run.Report("fork");
        var (backup, directory) = (Path.Combine(_directory, "backup"), Path.Combine(_directory, "fork"));
        _first!.Environment.BackupAsync(backup).AsTask().GetAwaiter().GetResult();
        BackupFile.RestoreAsync(backup, directory).AsTask().GetAwaiter().GetResult();
        _fork = _first.Fork(directory);
        var shared = _first.Info().Newest;
        var consumer = _other.Clone();
        for (var i = _choices.Next(1, 6); i >= 0; i--)
            _first.Commit();
        for (var i = _choices.Next(1, 12); i >= 0; i--)
            _fork.Commit();
        RequireRefusal(_first, _fork, shared);
        RequireRefusal(_fork, _first, shared);
        Follow(_fork, consumer, isHeld: false);
        Follow(_first, _other, isHeld: false);
        Follow(_first, _named, isHeld: true);
        using var reading = _fork.Environment.BeginRead();
        if (reading.TryGetPosition(RecordedStore.Feed, LongFeedBranch.Named, out var position))
            reading.ReadChanges(RecordedStore.Feed, position, new ChangeBatch());
    }

    // The last position of the one is behind the fork, and mostly before the last transaction of the other. If nothing that the feed records has
    // changed since the fork, both know that position.
    private void RequireRefusal(LongFeedBranch owner, LongFeedBranch other, ChangePosition shared)
    {
        var position = owner.Info().Newest;
        if (position == shared)
        {
            run.Tally("branches without a change");
            return;
        }

        using var writing = other.Environment.BeginWrite();
        ModelWriter.Fails<ChangesLostException>(() => writing.SetPosition(RecordedStore.Feed, "foreign", position));
        using var reading = other.Environment.BeginRead();
        ModelWriter.Fails<ChangesLostException>(() => reading.ReadChanges(RecordedStore.Feed, position, new ChangeBatch()));
        run.Tally("refused positions of another branch");
    }
}
