namespace Voron.Torture.Crashes;

/// <content>Fixed-size trees.</content>
internal sealed partial class ModelTransaction
{
    private static readonly string[] FixedNames = ["fixed a", "fixed b"];

    /// <summary>Makes changes of fixed-size trees part of <see cref="Change"/>. The first such tree of an environment changes its format.</summary>
    public bool ChangesFixedTrees { get; init; }

    /// <summary>Makes some changes of fixed-size trees.</summary>
    public ModelTransaction ChangeFixed(int operations)
    {
        for (var i = 0; random.GoesOn(i < operations); i++)
            ChangeFixedOnce();
        return this;
    }

    /// <summary>Appends enough entries to a fixed-size tree for several steps of a drop.</summary>
    public ModelTransaction GrowFixed()
    {
        var (name, content) = DrawFixed();
        Apply(name, content, FixedChange.Append(content, random.Next(1, 4) * 1_600 / (content.ValueSize + 8), random.Next()));
        return this;
    }

    private void ChangeFixedOnce()
    {
        switch (random.Next(20))
        {
            case 0:
                DeleteOther(Draw(random, FixedNames));
                break;
            case 1:
                RenameOther(Draw(random, FixedNames), Draw(random, FixedNames));
                break;
            default:
                var (name, content) = DrawFixed();
                Apply(name, content, FixedChange.Draw(random, content));
                break;
        }
    }

    private (string Name, FixedContent Content) DrawFixed()
    {
        var name = Draw(random, FixedNames);
        return (name, Content.Others.TryGetValue(name, out var known) ? (FixedContent)known : FixedContent.New(random));
    }

    private void Apply(string name, FixedContent content, FixedChange change)
    {
        change.ApplyTo(writing.CreateFixedTree(name, content.ValueSize), content);
        Content = Content.With(name, change.ApplyTo(content));
    }

    private void DeleteOther(string name)
    {
        var was = writing.DeleteTree(name);
        Require(was == Content.Others.ContainsKey(name), $"deleting {name} returned {was}");
        Content = Content.Without(name);
    }

    private void RenameOther(string from, string to)
    {
        if (from == to || !Content.Others.TryGetValue(from, out var content))
            return;
        DeleteOther(to);
        writing.RenameTree(from, to);
        Content = Content.Without(from).With(to, content);
    }
}
