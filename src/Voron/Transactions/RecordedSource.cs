using Voron.Recording;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>How the changes of an open tree are recorded, as last looked up by the transaction.</summary>
internal sealed class RecordedSource
{
    /// <summary>The epoch of the lookup, or 0: see <see cref="ChangeRecorder"/>.</summary>
    public long Epoch { get; set; }

    public TreeRecording Record { get; set; }

    /// <summary>The tree of the feed's changes. It has no waiting puts, because it is written immediately.</summary>
    public TreeState? Feed { get; set; }

    /// <summary>Forgets the lookup, because the tree object is another tree from here on.</summary>
    public void Forget()
    {
        Epoch = 0;
        Feed = null;
    }
}
