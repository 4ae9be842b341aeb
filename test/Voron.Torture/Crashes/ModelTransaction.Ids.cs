namespace Voron.Torture.Crashes;

/// <content>Id trees.</content>
internal sealed partial class ModelTransaction
{
    private static readonly string[] IdNames = ["ids a", "ids b"];

    /// <summary>Makes changes of id trees part of <see cref="Change"/>. The first such tree of an environment changes its format.</summary>
    public bool ChangesIdTrees { get; init; }

    /// <summary>Makes some changes of id trees.</summary>
    public ModelTransaction ChangeIds(int operations)
    {
        for (var i = 0; random.GoesOn(i < operations); i++)
            ChangeIdsOnce();
        return this;
    }

    /// <summary>Adds sets with pages of their own to an id tree, for several steps of a drop.</summary>
    public ModelTransaction GrowIds()
    {
        var name = Draw(random, IdNames);
        for (var i = random.Next(3); random.GoesOn(i >= 0); i--)
            Apply(name, IdTreeChange.Append(IdsOf(name), IdTreeChange.NameOf(i), 900, 1L << 30, random.Next()));
        return this;
    }

    private void ChangeIdsOnce()
    {
        switch (random.Next(20))
        {
            case 0:
                DeleteOther(Draw(random, IdNames));
                break;
            case 1:
                RenameOther(Draw(random, IdNames), Draw(random, IdNames));
                break;
            default:
                var name = Draw(random, IdNames);
                Apply(name, IdTreeChange.Draw(random, IdsOf(name)));
                break;
        }
    }

    private IdTreeContent IdsOf(string name) => Content.Others.TryGetValue(name, out var known) ? (IdTreeContent)known : IdTreeContent.Empty;

    private void Apply(string name, IdTreeChange change)
    {
        var content = IdsOf(name);
        change.ApplyTo(writing.CreateIdTree(name), content);
        Content = Content.With(name, change.ApplyTo(content));
    }
}
