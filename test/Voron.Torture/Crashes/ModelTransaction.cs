using System.Collections.Immutable;
using System.Text;
using Voron.Simulation.Harness;

namespace Voron.Torture.Crashes;

/// <summary>Random changes, made both in a write transaction and in its model.</summary>
/// <param name="writing">The transaction.</param>
/// <param name="content">The content when it began.</param>
/// <param name="random">Makes the choices.</param>
/// <param name="stages">Staged values that the transaction may put; null for none.</param>
internal sealed partial class ModelTransaction(WriteTransaction writing, Content content, Tape random, CrashStages? stages = null)
{
    /// <summary>Together these values fill a few sections of the file, the smallest amount that can be returned at all.</summary>
    private const int BulkValues = 4;

    private static readonly string[] Names = ["alpha", "beta", "gamma"];

    public Content Content { get; private set; } = content;

    /// <summary>Makes some changes; each is complete, so that they can be stopped anywhere.</summary>
    public ModelTransaction Change(int operations)
    {
        for (var i = 0; random.GoesOn(i < operations); i++)
            ChangeOnce(depth: 0);
        return this;
    }

    /// <summary>Deletes a tree, which a later change creates again, so that many pages change hands at once.</summary>
    public ModelTransaction Replace()
    {
        var name = Names[random.Next(Names.Length)];
        if (writing.DeleteTree(name))
            Content = Content.Without(name);
        return this;
    }

    /// <summary>Removes a tree, or makes it empty.</summary>
    public ModelTransaction Remove(string name, bool leavesEmpty)
    {
        if (writing.DeleteTree(name))
            Content = Content.Without(name);
        if (!leavesEmpty)
            return this;
        writing.CreateTree(name);
        Content = Content.With(name, Content.EmptyTree);
        return this;
    }

    /// <summary>Draws the name of an ordinary tree, which may be there or not.</summary>
    public static string DrawPlainName(Tape random) => Draw(random, Names);

    /// <summary>Draws the name of a tree, which may be there or not.</summary>
    /// <param name="random">Makes the choice.</param>
    public static string DrawName(Tape random) =>
        Draw(random, random.Next(5) switch { 2 => IdNames, 3 => FixedNames, 4 => ValueSetNames, _ => Names });

    /// <summary>Puts enough entries into a tree for several steps of a drop.</summary>
    public ModelTransaction Grow()
    {
        var tree = TreeName();
        var from = random.Next(60);
        for (var i = from; i < from + 30; i++)
            Put(tree, Key(i), i % 10 == 0 ? random.Next(3_000, 9_000) : random.Next(400, 1_000));
        return this;
    }

    /// <summary>Makes one change for certain.</summary>
    public ModelTransaction Touch()
    {
        Put(TreeName(), SmallKey(), random.Next(8, 200));
        return this;
    }

    /// <summary>Puts values of many pages where pages were freed.</summary>
    public ModelTransaction PutLarge()
    {
        Put(TreeName(), LargeKey(), LargeLength());
        return this;
    }

    /// <summary>Puts all staged values, so that the transaction writes no large value itself.</summary>
    public ModelTransaction PutAllStaged()
    {
        while (stages != null && stages.TryChoose(random, out var staged))
            PutStaged(staged.Value, staged.Bytes);
        return this;
    }

    /// <summary>Puts, replaces or deletes values that fill whole sections, so that there is space to be returned.</summary>
    public ModelTransaction ChangeBulk()
    {
        for (var i = random.Next(2, 5); random.GoesOn(i > 0); i--)
        {
            var key = $"bulk{random.Next(BulkValues)}";
            if (random.Next(3) < 2)
                Put(Names[0], key, random.Next(1 << 20, 5 << 19));
            else
                Delete(Names[0], key);
        }
        return this;
    }

    /// <summary>Deletes most of the values that fill whole sections: the remaining ones may keep the file from becoming shorter.</summary>
    public ModelTransaction DeleteBulk()
    {
        foreach (var tree in Names)
        {
            for (var i = 0; i < BulkValues; i++)
            {
                if (random.Next(4) < 3)
                    Delete(tree, $"bulk{i}");
            }
        }
        return this;
    }

    private void ChangeOnce(int depth)
    {
        if (TryChangeOtherKinds())
            return;
        switch (random.Next(100))
        {
            case < 34:
                Put(TreeName(), SmallKey(), random.Next(130));
                break;
            case < 38:
                Update(TreeName());
                break;
            case < 48:
                Put(TreeName(), SmallKey(), random.Next(200, 1000));
                break;
            case < 57:
                Put(TreeName(), $"over{random.Next(6)}", random.Next(1200, 14000));
                break;
            case < 62:
                Put(TreeName(), LargeKey(), LargeLength());
                break;
            case < 67:
                var from = random.Next(70);
                var tree = TreeName();
                for (var i = from; i < from + 25; i++)
                    Put(tree, Key(i), random.Next(300));
                break;
            case < 80:
                Delete(TreeName(), random.Next(5) switch { 0 => $"over{random.Next(6)}", 1 => LargeKey(), _ => SmallKey() });
                break;
            case < 84:
                var tree2 = TreeName();
                foreach (var key in Entries(tree2).Keys.Where(_ => random.Next(3) == 0).ToList())
                    Delete(tree2, key);
                break;
            case < 87:
                Replace();
                break;
            case < 90:
                Rename();
                break;
            case < 92:
                PutReserved();
                break;
            case < 94:
                if (stages != null && stages.TryChoose(random, out var staged))
                    PutStaged(staged.Value, staged.Bytes);
                else
                    PutStream();
                break;
            default:
                if (depth < 3)
                    ChangeWithSavepoint(depth);
                break;
        }
    }

    private bool TryChangeOtherKinds()
    {
        if (ChangesFixedTrees && random.Next(8) == 7)
            ChangeFixedOnce();
        else if (ChangesIdTrees && random.Next(8) == 7)
            ChangeIdsOnce();
        else if (ChangesValueSets && random.Next(8) == 7)
            ChangeValueSetsOnce();
        else if (ChangesRecorded && random.Next(4) == 3)
            ChangeRecordedOnce();
        else
            return false;
        return true;
    }

    private void ChangeWithSavepoint(int depth)
    {
        var before = Content;
        using var savepoint = writing.CreateSavepoint();
        for (var i = random.Next(1, 6); random.GoesOn(i > 0); i--)
            ChangeOnce(depth + 1);
        switch (random.Next(3))
        {
            case 0:
                savepoint.Release();
                break;
            case 1:
                savepoint.Rollback();
                Content = before;
                break;
            default:
                savepoint.Rollback();
                Content = before;
                for (var i = random.Next(1, 4); random.GoesOn(i > 0); i--)
                    ChangeOnce(depth + 1);
                savepoint.Release();
                break;
        }
    }

    private void Put(string tree, string key, int length)
    {
        var value = new ModelValue(random.Next(), length);
        writing.CreateTree(tree).Put(Encoding.ASCII.GetBytes(key), value.ToBytes());
        Content = Content.With(tree, Entries(tree).SetItem(key, value));
    }

    private void PutReserved()
    {
        var (tree, key, value) = (TreeName(), SmallKey(), new ModelValue(random.Next(), random.Next(6000)));
        value.ToBytes().CopyTo(writing.CreateTree(tree).Reserve(Encoding.ASCII.GetBytes(key), value.Length));
        Content = Content.With(tree, Entries(tree).SetItem(key, value));
    }

    private void PutStream()
    {
        var (tree, key, value) = (TreeName(), LargeKey(), new ModelValue(random.Next(), LargeLength()));
        using var stream = new MemoryStream(value.ToBytes());
        writing.CreateTree(tree).PutAsync(Encoding.ASCII.GetBytes(key), stream).AsTask().GetAwaiter().GetResult();
        Content = Content.With(tree, Entries(tree).SetItem(key, value));
    }

    private void PutStaged(StagedValue staged, ModelValue value)
    {
        var (tree, key) = (TreeName(), LargeKey());
        writing.CreateTree(tree).Put(Encoding.ASCII.GetBytes(key), staged);
        Content = Content.With(tree, Entries(tree).SetItem(key, value));
    }

    private void Delete(string tree, string key)
    {
        if (!writing.TryOpenTree(tree, out var opened))
            return;
        var was = opened.Delete(Encoding.ASCII.GetBytes(key));
        if (was != Entries(tree).ContainsKey(key))
            throw new CrashViolationException($"Deleting {tree}/{key} says {was}.");
        Content = Content.With(tree, Entries(tree).Remove(key));
    }

    private void Rename()
    {
        var (from, to) = (TreeName(), TreeName());
        if (from == to || !Content.Trees.TryGetValue(from, out var entries))
            return;
        if (writing.DeleteTree(to))
            Content = Content.Without(to);
        writing.RenameTree(from, to);
        Content = Content.Without(from).With(to, entries);
    }

    private ImmutableSortedDictionary<string, ModelValue> Entries(string tree) =>
        Content.Trees.GetValueOrDefault(tree, Content.EmptyTree);

    private string TreeName() => Draw(random, Names);

    private static string Draw(Tape random, string[] names) => names[random.Next(names.Length)];

    private string SmallKey() => Key(random.Next(90));

    private string LargeKey() => $"large{random.Next(2)}";

    private int LargeLength() => random.Next(3) == 0 ? random.Next(60000, 90000) : random.Next(16384, 30000);

    // Some keys are long, so that small trees have branches.
    private static string Key(int number) => number % 7 == 3 ? $"key{number:D2}{new string('k', 200 + number)}" : $"key{number:D2}";
}
