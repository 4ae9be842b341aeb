using Voron.Feeds;
using Voron.Torture.Harness;

namespace Voron.Torture.Faults;

/// <content>Tables, and a tree, that a feed records.</content>
internal sealed partial class FaultRun
{
    /// <summary>Changes tables, and a tree, that a feed records, and cuts the feed.</summary>
    public bool Records { get; init; }

    private bool TryStepOfRecording(Tape choices)
    {
        if (!Records || choices.Next(3) < 2)
            return false;
        if (choices.Next(4) == 3)
        {
            OnStep?.Invoke("trim the feed");
            Attempt(() => _ = Environment.TrimFeedsAsync().AsTask().GetAwaiter().GetResult());
        }
        else
        {
            OnStep?.Invoke("commit of tables");
            Commit(choices, writing => writing.ChangeRecorded(choices.Next(1, 7)));
        }

        return true;
    }
}
