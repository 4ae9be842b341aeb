namespace Voron.Torture.Crashes;

/// <content>Trees of value sets.</content>
internal sealed partial class ModelTransaction
{
    private static readonly string[] ValueSetNames = ["sets a", "sets b"];

    /// <summary>Makes changes of trees of value sets part of <see cref="Change"/>. The first such tree of an environment changes its format.</summary>
    public bool ChangesValueSets { get; init; }

    /// <summary>Makes some changes of trees of value sets.</summary>
    public ModelTransaction ChangeValueSets(int operations)
    {
        for (var i = 0; random.GoesOn(i < operations); i++)
            ChangeValueSetsOnce();
        return this;
    }

    /// <summary>Adds large sets to a tree of value sets, for several steps of a drop.</summary>
    public ModelTransaction GrowValueSets()
    {
        var name = Draw(random, ValueSetNames);
        for (var i = random.Next(3); random.GoesOn(i >= 0); i--)
            Apply(name, ValueSetChange.Append(ValueSetsOf(name), ValueSetChange.NameOf(i), 120));
        return this;
    }

    private void ChangeValueSetsOnce()
    {
        switch (random.Next(20))
        {
            case 0:
                DeleteOther(Draw(random, ValueSetNames));
                break;
            case 1:
                RenameOther(Draw(random, ValueSetNames), Draw(random, ValueSetNames));
                break;
            default:
                var name = Draw(random, ValueSetNames);
                Apply(name, ValueSetChange.Draw(random, ValueSetsOf(name)));
                break;
        }
    }

    private ValueSetContent ValueSetsOf(string name) =>
        Content.Others.TryGetValue(name, out var known) ? (ValueSetContent)known : ValueSetContent.Empty;

    private void Apply(string name, ValueSetChange change)
    {
        var content = ValueSetsOf(name);
        change.ApplyTo(writing.CreateValueSetTree(name), content);
        Content = Content.With(name, change.ApplyTo(content));
    }
}
