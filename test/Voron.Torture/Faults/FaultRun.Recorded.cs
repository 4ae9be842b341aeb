using Voron.Feeds;
using Voron.Simulation.Harness;

namespace Voron.Torture.Faults;

/// <content>Structures other than trees, and a tree that a feed records.</content>
internal sealed partial class FaultRun
{
    /// <summary>Changes tables, and a tree, that a feed records, and cuts the feed, and changes trees of the other kinds.</summary>
    public bool Records { get; init; }

    private bool TryStepOfRecording(Tape choices)
    {
        if (!Records || choices.Next(3) < 2)
            return false;
        switch (choices.Next(8))
        {
            case 7:
                OnStep?.Invoke("trim the feed");
                Attempt(() => _ = Environment.TrimFeedsAsync().AsTask().GetAwaiter().GetResult());
                break;
            case 6:
                OnStep?.Invoke("commit of value sets");
                Commit(choices, writing => writing.ChangeValueSets(choices.Next(1, 7)));
                break;
            case 5:
                OnStep?.Invoke("commit of id sets");
                Commit(choices, writing => writing.ChangeIds(choices.Next(1, 7)));
                break;
            case 4:
                OnStep?.Invoke("commit of fixed-size trees");
                Commit(choices, writing => writing.ChangeFixed(choices.Next(1, 7)));
                break;
            default:
                OnStep?.Invoke("commit of tables");
                Commit(choices, writing => writing.ChangeRecorded(choices.Next(1, 7)));
                break;
        }

        return true;
    }
}
