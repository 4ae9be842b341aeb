using System.Text;
using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Tables;

namespace Voron.Torture.Faults;

/// <summary>A bulk load that sorts in little memory, what its target has before, and what it may have afterwards.</summary>
internal abstract class LoadOnDisk
{
    private const string Target = "loaded";

    private static readonly BulkLoadOptions LittleMemory = new() { MemoryBytes = 1 << 20 };

    /// <summary>What is loaded, and into what.</summary>
    public required string Name { get; init; }

    /// <summary>True if the target has entries before: it is then loaded in slices, in key order.</summary>
    protected bool IsFilled { get; private init; }

    /// <summary>The entries to load, in key order.</summary>
    protected SortedDictionary<string, byte[]> Entries { get; } = new(StringComparer.Ordinal);

    /// <summary>The entries that the target has before.</summary>
    protected SortedDictionary<string, byte[]> Before { get; } = new(StringComparer.Ordinal);

    /// <summary>Draws a load, of each kind in turn.</summary>
    public static LoadOnDisk Draw(Tape choices, long turn)
    {
        const int kinds = 7;
        LoadOnDisk load = choices.Choose((int)(turn % kinds), kinds) switch
        {
            0 => new OfTree { Name = "a new tree", IsSorted = true },
            1 => new OfTree { Name = "a new tree, in any order" },
            2 => new OfTree { Name = "a compressed tree", IsCompressed = true, IsSorted = choices.Next(2) == 0 },
            3 => new OfTree { Name = "a tree with entries", IsFilled = true },
            4 => new OfTable { Name = "a new table" },
            5 => new OfTable { Name = "a table with rows", IsFilled = true },
            _ => new OfIndexes { Name = "indexes", IsFilled = true },
        };
        load.Fill(choices);
        return load;
    }

    /// <summary>Makes the target as it is before the load.</summary>
    public abstract void Prepare(StorageEnvironment environment);

    /// <summary>Makes the load.</summary>
    public abstract void Load(StorageEnvironment environment);

    /// <summary>Checks that everything is loaded.</summary>
    public void CheckLoaded(StorageEnvironment environment)
    {
        Require(Read(environment), Whole(Entries.Count), "after the load");
        CheckStructure(environment, isLoaded: true);
    }

    /// <summary>Checks that a load that failed has left nothing or, in slices, the beginning in key order.</summary>
    public void CheckAfter(StorageEnvironment environment, bool isLoaded)
    {
        if (isLoaded)
        {
            CheckLoaded(environment);
            return;
        }

        var found = Read(environment);
        Require(found, Whole(IsFilled ? Entries.TakeWhile(IsStored).Count() : 0), "after a load that failed");
        CheckStructure(environment, isLoaded: false);

        bool IsStored(KeyValuePair<string, byte[]> entry) =>
            found.TryGetValue(entry.Key, out var value) && value.AsSpan().SequenceEqual(entry.Value);
    }

    protected abstract SortedDictionary<string, byte[]> Read(StorageEnvironment environment);

    protected virtual void CheckStructure(StorageEnvironment environment, bool isLoaded)
    {
    }

    protected virtual void Fill(Tape choices)
    {
        var seed = choices.Next(1, int.MaxValue);
        for (var i = choices.Next(800, 2_000); choices.GoesOn(i > 0); i--)
            Entries[$"{unchecked((uint)(seed + i) * 0x9E3779B1):x8}{i:x4}"] = Value(seed + i, i % 300 == 0 ? 90_000 : i % 40 == 0 ? 18_000 : i % 1_500);
        foreach (var (key, value) in Entries.Where((_, i) => IsFilled && i % 5 == 0).ToList())
            Before[key + (key[0] < '8' ? "" : "+")] = [.. value, 1];
    }

    protected static T Wait<T>(ValueTask<T> task) => task.AsTask().GetAwaiter().GetResult();

    private static byte[] Value(int seed, int length) => seed % 2 == 0
        ? SeededBytes.Make(seed, length)
        : Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat($"value {seed % 9} ", length / 8 + 1)));

    private SortedDictionary<string, byte[]> Whole(int stored)
    {
        var whole = new SortedDictionary<string, byte[]>(Before, StringComparer.Ordinal);
        foreach (var (key, value) in Entries.Take(stored))
            whole[key] = value;
        return whole;
    }

    private static void Require(SortedDictionary<string, byte[]> found, SortedDictionary<string, byte[]> expected, string when)
    {
        BrokenPromiseException.Require(
            found.Count == expected.Count, $"{when}, the target has {found.Count} entries, and should have {expected.Count}");
        foreach (var (key, value) in expected)
        {
            BrokenPromiseException.Require(
                found.TryGetValue(key, out var has) && has.AsSpan().SequenceEqual(value), $"{when}, the entry {key} is missing or different");
        }
    }

    /// <summary>A load of entries.</summary>
    private sealed class OfTree : LoadOnDisk
    {
        public bool IsSorted { get; init; }

        public bool IsCompressed { get; init; }

        public override void Prepare(StorageEnvironment environment)
        {
            if (!IsCompressed && !IsFilled)
                return;
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(Target);
            if (IsCompressed)
                writing.CompressValues(Target, ValueCompression.Fast);
            foreach (var (key, value) in Before)
                tree.Put(Encoding.ASCII.GetBytes(key), value);
            writing.Commit();
        }

        public override void Load(StorageEnvironment environment)
        {
            var options = new BulkLoadOptions { Sorted = IsSorted, MemoryBytes = LittleMemory.MemoryBytes };
            var source = (IsSorted ? Entries : Entries.Reverse()).Select(
                static entry => ((ReadOnlyMemory<byte>)Encoding.ASCII.GetBytes(entry.Key), (ReadOnlyMemory<byte>)entry.Value));
            var report = Wait(environment.BulkLoadAsync(Target, source, options));
            BrokenPromiseException.Require(report.IsAtomic == !IsFilled, "a tree is loaded in another way");
        }

        protected override SortedDictionary<string, byte[]> Read(StorageEnvironment environment)
        {
            var found = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
            using var reading = environment.BeginRead();
            if (!reading.TryOpenTree(Target, out var tree))
                return found;
            foreach (var entry in tree.GetEntries())
                found.Add(Encoding.ASCII.GetString(entry.Key), entry.Value.ToArray());
            return found;
        }
    }

    /// <summary>A load of rows into a table with two indexes, whose keys are sorted in little memory.</summary>
    private class OfTable : LoadOnDisk
    {
        protected static TableDefinition<string, TableRow> Plain { get; } = Define(1);

        protected static TableDefinition<string, TableRow> Indexed { get; } = Define(2)
            .Index("city", 1, static (in TableRow row, ref IndexKeys keys) => keys.Add(row.City))
            .UniqueIndex("number", 1, static (in TableRow row, ref IndexKeys keys) => keys.Add(row.Number));

        public override void Prepare(StorageEnvironment environment)
        {
            if (IsFilled)
                Insert(environment, Indexed);
        }

        public override void Load(StorageEnvironment environment) =>
            Wait(environment.BulkLoadAsync(Indexed, Entries.Reverse().Select(static entry => Row(entry.Key, entry.Value)), LittleMemory));

        protected void Insert(StorageEnvironment environment, TableDefinition<string, TableRow> definition)
        {
            using var writing = environment.BeginWrite();
            var table = writing.CreateTable(definition);
            foreach (var (key, value) in Before)
                table.Insert(Row(key, value));
            writing.Commit();
        }

        protected override SortedDictionary<string, byte[]> Read(StorageEnvironment environment) => Read(environment, Indexed);

        protected static SortedDictionary<string, byte[]> Read(StorageEnvironment environment, TableDefinition<string, TableRow> definition)
        {
            var found = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
            using var reading = environment.BeginRead();
            if (!reading.TryOpenTable(definition, out var table))
                return found;
            foreach (var row in table.ByKey())
                found.Add(row.Name, row.Body);
            return found;
        }

        protected override void CheckStructure(StorageEnvironment environment, bool isLoaded)
        {
            if (environment.GetTables().Count == 0)
                return;
            var report = environment.VerifyTable(Indexed);
            BrokenPromiseException.Require(report.Problems.Count == 0, string.Join("; ", report.Problems));
        }

        // The numbers of replaced rows are those of the rows that replace them.
        private static TableRow Row(string key, byte[] body) => new(key, key.EndsWith('+') ? -Number(key) : Number(key))
        {
            City = new string((char)('a' + key[2] % 7), 150) + key,
            Size = body.Length,
            Body = body,
        };

        private static long Number(string key) => Convert.ToInt64(key.TrimEnd('+'), 16);

        private static TableDefinition<string, TableRow> Define(int version) =>
            TableDefinition.Create(Target, version, new TableRowCodec(), KeyCodec.Utf8, static (TableRow row) => row.Name);
    }

    /// <summary>The indexes of a table with rows, built from sorted keys.</summary>
    private sealed class OfIndexes : OfTable
    {
        private static readonly EvolveOptions Options = new() { MemoryBytes = 1 << 20, FewestSortedRows = 0 };

        public override void Prepare(StorageEnvironment environment) => Insert(environment, Plain);

        public override void Load(StorageEnvironment environment) => Wait(environment.EvolveAsync(Indexed, null, Options));

        protected override void Fill(Tape choices)
        {
            base.Fill(choices);
            foreach (var (key, value) in Entries)
                Before[key] = value;
            Entries.Clear();
        }

        protected override SortedDictionary<string, byte[]> Read(StorageEnvironment environment) => Read(environment, Stored(environment));

        protected override void CheckStructure(StorageEnvironment environment, bool isLoaded)
        {
            var report = environment.VerifyTable(Stored(environment));
            BrokenPromiseException.Require(report.Problems.Count == 0, string.Join("; ", report.Problems));
            BrokenPromiseException.Require(
                !isLoaded || environment.GetTables()[0].Indexes.All(static index => index.State == IndexState.Ready), "an index is not ready");
        }

        // The definition that the table has been evolved to.
        private static TableDefinition<string, TableRow> Stored(StorageEnvironment environment) =>
            environment.GetTables()[0].Version == 1 ? Plain : Indexed;
    }
}
