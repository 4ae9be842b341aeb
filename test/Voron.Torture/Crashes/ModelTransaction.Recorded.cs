using Voron.Torture.Recorded;

namespace Voron.Torture.Crashes;

/// <content>Tables, and a tree, that a feed records.</content>
internal sealed partial class ModelTransaction
{
    /// <summary>Makes changes of tables and of their feed part of <see cref="Change"/>. The first ones of an environment change its format.</summary>
    public bool ChangesRecorded { get; init; }

    /// <summary>Makes some changes of tables and of the tree that the feed records.</summary>
    public ModelTransaction ChangeRecorded(int operations)
    {
        for (var i = 0; random.GoesOn(i < operations); i++)
            ChangeRecordedOnce();
        return this;
    }

    private void ChangeRecordedOnce()
    {
        var content = Content.Others.TryGetValue(RecordedStore.TreeName, out var known) ? (RecordedData)known : RecordedData.Empty;
        var change = RecordedChange.Draw(random);
        change.ApplyTo(writing, content);
        Content = Content.With(RecordedStore.TreeName, change.ApplyTo(content));
    }
}
