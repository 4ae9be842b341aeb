using Voron.Feeds;
using Voron.Format;
using Voron.Torture.Recorded;

namespace Voron.Torture.Crashes;

/// <content>Trees of other kinds, and other steps that change the format of the environment.</content>
internal sealed partial class CrashWorkload
{
    /// <summary>Changes tables, and a tree, that a feed records, and cuts the feed.</summary>
    public bool Records { get; init; }

    // The first tree of such a kind in an environment rewrites the header, for which the flusher must not be busy: it is made in a commit with
    // nothing beside it.
    private bool HasFixedTrees => _environment!.Internals.Engine.Format.Has(FormatFeatures.FixedSizeTrees);

    private bool HasIdTrees => _environment!.Internals.Engine.Format.Has(FormatFeatures.IdSets);

    private bool HasValueSets => _environment!.Internals.Engine.Format.Has(FormatFeatures.ValueSets);

    private bool HasFeeds => Records && _environment!.Internals.Engine.Format.Has(FormatFeatures.Tables | FormatFeatures.ChangeFeeds);

    private ModelTransaction Model(WriteTransaction writing, Content content, CrashStages? stages = null) =>
        new(writing, content, _random, stages)
        {
            ChangesFixedTrees = HasFixedTrees,
            ChangesIdTrees = HasIdTrees,
            ChangesValueSets = HasValueSets,
            ChangesRecorded = HasFeeds,
        };

    private void Upgrade()
    {
        _run.Report("upgrade");
        _counts.Upgrades += _environment!.Internals.UpgradeFormat() ? 1 : 0;
    }

    private void StepOfRecording()
    {
        if (HasFeeds && _random.Next(4) == 3)
        {
            _run.Report("trim the feed");
            _counts.FeedsCut += _environment!.TrimFeedsAsync().AsTask().GetAwaiter().GetResult() > 0 ? 1 : 0;
            _readers.Check();
            return;
        }

        if (HasFeeds && _random.Next(8) == 7)
        {
            _run.Report("train a dictionary");
            _counts.DictionariesTrained += TryTrain() ? 1 : 0;
            _readers.Check();
            return;
        }

        _run.Report("commit of tables");
        _counts.TableCommits++;
        Commit(writing => writing.ChangeRecorded(_random.Next(1, 9)));
    }

    // A cut may have lost the transaction that creates the tree.
    private bool TryTrain()
    {
        using (var reading = _environment!.BeginRead())
        {
            if (!reading.TryOpenTree(RecordedStore.TreeName, out _))
                return false;
        }

        return _environment.TrainDictionaryAsync(RecordedStore.TreeName).AsTask().GetAwaiter().GetResult();
    }

    private void CommitOtherKinds()
    {
        switch (_random.Next(3))
        {
            case 0:
                _run.Report("commit of fixed-size trees");
                _counts.FixedTreeCommits++;
                Commit(writing => writing.ChangeFixed(_random.Next(1, 9)));
                break;
            case 1:
                _run.Report("commit of id trees");
                _counts.IdTreeCommits++;
                Commit(writing => writing.ChangeIds(_random.Next(1, 9)));
                break;
            default:
                _run.Report("commit of trees of value sets");
                _counts.ValueSetCommits++;
                Commit(writing => writing.ChangeValueSets(_random.Next(1, 9)));
                break;
        }
    }
}
