using Voron.Format;
using Voron.Tool.Contents;
using Voron.Tool.Dumps;

namespace Voron.Tool.Loading;

/// <summary>A tree or a table that takes entries, such as those of a dump, in a transaction.</summary>
internal abstract class EntryTarget
{
    /// <summary>Returns the tree of a name for a command that changes it; an ordinary one if there is none.</summary>
    /// <exception cref="ToolException">The name is that of a table.</exception>
    public static DumpSection Find(StorageEnvironment environment, string name)
    {
        using var reading = environment.BeginRead();
        var section = Content.Find(reading, name)?.Section ?? new DumpSection(name, TreeKind.Plain);
        return !section.IsTable
            ? section
            : throw new ToolException(
                ExitCode.Usage, $"'{name}' is a table. Only its program can change rows: it has the functions that compute the keys of the indexes.");
    }

    /// <summary>Opens what takes a tree or a table of a dump, or creates it.</summary>
    /// <exception cref="ToolException">There is a table of that name that cannot take rows.</exception>
    /// <exception cref="InvalidOperationException">There is a tree of another kind of that name.</exception>
    /// <exception cref="ArgumentException">No tree can have the name.</exception>
    public static EntryTarget Create(WriteTransaction writing, DumpSection section, string name) => section.Kind switch
    {
        TreeKind.Plain => new PlainTarget(writing.CreateTree(name)),
        TreeKind.FixedSize => new FixedTarget(writing.CreateFixedTree(name, section.ValueBytes)),
        TreeKind.IdSets => new IdTarget(writing.CreateIdTree(name)),
        TreeKind.ValueSets => new ValueTarget(writing.CreateValueSetTree(name)),
        null => TableTarget.Create(writing, section, name),
    };

    /// <summary>Whether there is an entry.</summary>
    public abstract bool IsEmpty { get; }

    /// <summary>Returns whether there is an entry in the place of this one.</summary>
    public abstract bool Has(in DumpEntry entry);

    public abstract void Put(in DumpEntry entry);

    /// <summary>Deletes the entry with a key, or the whole set of a key; false if there is none.</summary>
    public abstract bool Delete(in DumpEntry entry);

    private sealed class PlainTarget(WriteTree tree) : EntryTarget
    {
        public override bool IsEmpty => tree.Count == 0;

        public override bool Has(in DumpEntry entry) => tree.Contains(entry.Key);

        public override void Put(in DumpEntry entry) => tree.Put(entry.Key, entry.Value);

        public override bool Delete(in DumpEntry entry) => tree.Delete(entry.Key);
    }

    private sealed class FixedTarget(WriteFixedTree tree) : EntryTarget
    {
        public override bool IsEmpty => tree.Count == 0;

        public override bool Has(in DumpEntry entry) => tree.Contains(entry.Number);

        public override void Put(in DumpEntry entry) => tree.Put(entry.Number, entry.Value);

        public override bool Delete(in DumpEntry entry) => tree.Delete(entry.Number);
    }

    private sealed class IdTarget(WriteIdTree tree) : EntryTarget
    {
        public override bool IsEmpty => tree.Count == 0;

        public override bool Has(in DumpEntry entry) => tree.Contains(entry.Key, entry.Number);

        public override void Put(in DumpEntry entry) => tree.Add(entry.Key, entry.Number, entry.Value![0]);

        public override bool Delete(in DumpEntry entry) => tree.RemoveAll(entry.Key) > 0;
    }

    private sealed class ValueTarget(WriteValueSetTree tree) : EntryTarget
    {
        public override bool IsEmpty => tree.Count == 0;

        public override bool Has(in DumpEntry entry) => tree.Contains(entry.Key, entry.Value);

        public override void Put(in DumpEntry entry) => tree.Add(entry.Key, entry.Value);

        public override bool Delete(in DumpEntry entry) => tree.RemoveAll(entry.Key) > 0;
    }
}
