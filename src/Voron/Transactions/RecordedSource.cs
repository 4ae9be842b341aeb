using Voron.Format;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>How the changes of an open tree are recorded, as the transaction has found it last.</summary>
internal sealed class RecordedSource
{
    /// <summary>When it was found: see <see cref="ChangeRecorder"/>. Zero is never.</summary>
    public long Epoch { get; set; }

    public TreeRecording Record { get; set; }

    /// <summary>The tree of the feed's changes. Nothing waits in it, because it is written at once.</summary>
    public TreeState? Feed { get; set; }

    /// <summary>Forgets what was found, because the object of the tree is another tree from here on.</summary>
    public void Forget()
    {
        Epoch = 0;
        Feed = null;
    }
}
