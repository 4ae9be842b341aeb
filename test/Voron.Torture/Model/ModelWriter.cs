namespace Voron.Torture.Model;

/// <summary>Performs random operations in one write transaction, and the same on the model.</summary>
internal sealed partial class ModelWriter(ModelSettings settings, Random random, ModelHistory history, WriteTransaction transaction, ModelState state)
{
    private static readonly string[] Names =
        [.. new[] { "a", "b", "users", "users by name", "é", "zz", new string('n', 255) }, .. Enumerable.Range(0, 60).Select(i => $"tree {i}")];

    private const int FewNames = 7;

    private readonly List<Handle> _handles = [];
    private readonly List<OpenCursor> _cursors = [];
    private readonly List<Mark> _marks = [];
    private readonly ModelFixedTree _fixedTree = new((transaction.TransactionId << 20) + history.Operations);
    private readonly ModelIdTree _idTree = new((transaction.TransactionId << 20) + history.Operations);
    private readonly ModelValueSetTree _valueSetTree = new((transaction.TransactionId << 20) + history.Operations);
    private readonly ModelKeys _keys = new(random, settings.Options, settings.Options.PageSizeOrDefault / 4 - 64);

    /// <summary>The state that the transaction sees.</summary>
    public ModelState State { get; private set; } = state;

    /// <summary>Does something else in the transaction now and then, between the savepoints of this writer.</summary>
    public Func<ModelState, ModelState>? Beside { get; init; }

    /// <summary>True if an operation has failed for lack of space: the transaction can only be rolled back.</summary>
    public bool IsBroken { get; private set; }

    /// <param name="simple">True to leave out savepoints and failing operations.</param>
    public void Run(int operations, bool simple)
    {
        for (var i = 0; i < operations && !IsBroken; i++)
        {
            TryWithinLimit(() =>
            {
                if (Beside != null && random.Next(8) == 7)
                    State = Beside(State);
                else if (!simple && random.Next(14) == 0)
                    Structure();
                else
                    Entries();
            });
            if (!IsBroken && _fixedTree.IsWanted())
                TryWithinLimit(() => State = State.WithFixedTree(_fixedTree.Change(transaction, history, State.FixedTree)));
            if (!IsBroken && _idTree.IsWanted())
                TryWithinLimit(() => State = State.WithIdSets(_idTree.Change(transaction, history, State.IdSets)));
            if (!IsBroken && _valueSetTree.IsWanted())
                TryWithinLimit(() => State = State.WithValueSets(_valueSetTree.Change(transaction, history, State.ValueSets)));
        }

        // Savepoints may stay open until the end of the transaction. Nested transactions must not: the commit is then refused.
        while (!IsBroken && !simple && _marks.Count > 0 && (HasNested || random.Next(3) > 0))
        {
            if (HasNested && random.Next(3) == 0)
                CheckCommitIsRefused();
            TryWithinLimit(() => EndMark(random.Next(2) == 0));
        }
    }

    // Releasing a savepoint applies the waiting puts: like a put, it may find that they are too many.
    private void TryWithinLimit(Action operation)
    {
        try
        {
            operation();
        }
        catch (StorageFullException) when (settings.HasSmallTransactions)
        {
            Break();
        }
    }

    /// <summary>Returns the opened handles, for others that should not be able to use them.</summary>
    public ModelEscape Escape() => new(
        transaction, _handles.ConvertAll(handle => handle.Tree), _cursors.ConvertAll(cursor => cursor.Cursor));

    // The operation has failed half-way: the transaction is usable again only after a rollback.
    private void Break()
    {
        history.Note("  (too large)");
        if (_marks.Count > 0 && random.Next(3) > 0)
        {
            RollbackTo(random.Next(_marks.Count));
            return;
        }

        IsBroken = true;
    }

    private void Entries()
    {
        var handle = AnyHandle();
        if (handle == null)
            return;
        var name = handle.Name!;
        var entries = State.Trees[name];
        var grow = entries.Count < settings.TargetEntries / 2 || (entries.Count < settings.TargetEntries && random.Next(3) > 0);
        switch (random.Next(100))
        {
            case < 38:
                if (grow || random.Next(4) == 0)
                    Store(handle, name);
                else
                    Delete(handle, name, _keys.AnyKey(entries));
                break;
            case < 44:
                Delete(handle, name, _keys.AnyKey(entries));
                break;
            case < 46:
                for (var i = grow ? 2 : 20; i > 0 && State.Trees[name].Count > 0; i--)
                    Delete(handle, name, State.Trees[name][random.Next(State.Trees[name].Count)].Key);
                break;
            case < 66:
                Get(handle, name, _keys.AnyKey(entries));
                break;
            case < 69:
                history.Add("count", name);
                Require(handle.Tree.Count == entries.Count, $"tree '{name}' counts {handle.Tree.Count} entries, and should have {entries.Count}");
                break;
            case < 72:
                Range(handle, name);
                break;
            case < 74:
                DeleteWhileIterating(handle, name, random.Next(1, 30));
                break;
            case < 75:
                Misuse(handle);
                break;
            case < 81:
                Update(handle, name, grow);
                break;
            default:
                MoveCursor(handle, name);
                break;
        }
    }

    private void Store(Handle handle, string name)
    {
        var key = random.Next(3) == 0 ? _keys.AnyKey(State.Trees[name]) : _keys.NewKey();
        var entry = Pad.Draw(random, key, _keys.ValueLength(key.Length));
        switch (random.Next(10))
        {
            case 0:
            case 1:
                history.Add("insert", name, key, entry.Length);
                var added = handle.Tree.Insert(key, entry.Value);
                Require(added == !State.TryGet(name, key, out _), $"insert into '{name}' returned {added}", key);
                if (!added)
                    return;
                break;
            case 2 when entry.Length < settings.Options.LargeValueBytes:
            case 3 when entry.Length < settings.Options.LargeValueBytes:
                history.Add("reserve", name, key, entry.Length);
                if (State.Feeds?.RecordsValues(name) == true)
                {
                    Fails<InvalidOperationException>(() => handle.Tree.Reserve(key, entry.Length));
                    return;
                }

                var space = handle.Tree.Reserve(key, entry.Length);
                Require(space.Length == entry.Length, $"reserve returned {space.Length} bytes", key);
                entry.Value.CopyTo(space);
                break;
            case 4 when random.Next(4) == 0:
                history.Add("put from a stream", name, key, entry.Length);
                if (random.Next(2) == 0)
                {
                    var pipe = System.IO.Pipelines.PipeReader.Create(new MemoryStream(Pad.Bytes, entry.Offset, entry.Length));
                    Require(handle.Tree.PutAsync(key, pipe).AsTask().GetAwaiter().GetResult() == entry.Length, "wrong length of the pipe", key);
                    break;
                }

                using (var stream = new MemoryStream(Pad.Bytes, entry.Offset, entry.Length))
                    Require(handle.Tree.PutAsync(key, stream).AsTask().GetAwaiter().GetResult() == entry.Length, "wrong length of the stream", key);
                break;
            default:
                history.Add("put", name, key, entry.Length);
                handle.Tree.Put(key, entry.Value);
                break;
        }

        State = State.Put(name, entry);
    }

    private void Delete(Handle handle, string name, byte[] key)
    {
        history.Add("delete", name, key);
        var deleted = handle.Tree.Delete(key);
        Require(deleted == State.TryGet(name, key, out _), $"delete from '{name}' returned {deleted}", key);
        State = State.Delete(name, key);
    }

    private void Get(Handle handle, string name, byte[] key)
    {
        history.Add("get", name, key);
        State.TryGet(name, key, out var expected);
        if (random.Next(16) == 0)
            ModelReading.CheckMany(random.Next(2) == 0 ? handle.Tree.AsReadOnly() : handle.Tree.ToTree(), State.Trees[name], random);
        else if (random.Next(4) == 0)
            Require(handle.Tree.Contains(key) == (expected.Key != null), $"tree '{name}' is wrong about having the key", key);
        else if (expected.Key != null && random.Next(8) == 0)
            ModelReading.CheckStream(handle.Tree, key, expected, random);
        else
            ModelReading.CheckGet(handle.Tree, key, expected);
    }

    private void Range(Handle handle, string name)
    {
        history.Add("range", name);
        var entries = State.Trees[name];
        var from = random.Next(5) == 0 ? [] : _keys.AnyKey(entries);
        var first = from.Length == 0 ? 0 : State.Rank(name, from, out _);
        var at = first;
        if (from.Length > 0 && random.Next(2) == 0)
        {
            var prefix = from[..random.Next(1, from.Length + 1)];
            at = State.Rank(name, prefix, out _);
            foreach (var entry in handle.Tree.Prefix(prefix))
            {
                var isRight = at < entries.Count && entry.Key.SequenceEqual(entries[at].Key) && entry.Value.SequenceEqual(entries[at].Value);
                Require(isRight, "wrong entry in prefix", prefix);
                at++;
            }

            Require(at == entries.Count || !entries[at].Key.AsSpan().StartsWith(prefix), "the prefix ends early", prefix);
            ModelRanges.Check(handle.Tree, KeyRange.Prefix(prefix), entries, State.Rank(name, prefix, out _), at);
            return;
        }

        var to = random.Next(5) == 0 ? [] : _keys.AnyKey(entries);
        var keys = to.Length == 0 ? KeyRange.From(from) : KeyRange.From(from).Before(to);
        foreach (var entry in handle.Tree.Range(keys))
        {
            var isRight = at < entries.Count && entry.Key.SequenceEqual(entries[at].Key) && entry.Value.SequenceEqual(entries[at].Value);
            Require(isRight, "wrong entry in range", from);
            at++;
        }

        var end = to.Length == 0 ? entries.Count : Math.Max(State.Rank(name, to, out _), first);
        Require(at == end, $"the range ends at entry {at}, not at {end}", from);
        ModelRanges.Check(handle.Tree, keys, entries, first, end);
    }

    private void Misuse(Handle handle)
    {
        history.Note("misuse");
        var tree = handle.Tree;
        Fails<ArgumentException>(() => tree.Put([], [1]));
        Fails<ArgumentException>(() => tree.Put(new byte[settings.Options.PageSizeOrDefault / 4 - 63], [1]));
        Fails<ArgumentOutOfRangeException>(() => tree.Reserve([1], -1));
        Fails<ArgumentOutOfRangeException>(() => tree.Reserve([1], settings.Options.LargeValueBytes));
        Fails<KeyNotFoundException>(() => transaction.OpenTree("no such tree"));
    }

    /// <summary>Requires that a call is refused.</summary>
    public static void Fails<T>(Action misuse)
        where T : Exception
    {
        try
        {
            misuse();
        }
        catch (T)
        {
            return;
        }

        throw new ModelMismatchException($"no {typeof(T).Name} was thrown");
    }

    private static void Require(bool holds, string message, byte[]? key = null)
    {
        if (!holds)
            throw new ModelMismatchException(message, key);
    }

    private Handle? AnyHandle()
    {
        if (_handles.Count > 0 && random.Next(3) > 0)
        {
            var handle = _handles[random.Next(_handles.Count)];
            if (handle.Name != null)
                return handle;
        }

        if (State.Trees.Count == 0)
            return Create(AnyName());
        return Open(State.Trees.Keys.ElementAt(random.Next(State.Trees.Count)));
    }

    private string AnyName() => Names[random.Next(settings.HasManyTrees ? Names.Length : FewNames)];

    private Handle Open(string name)
    {
        history.Add("open", name);
        Require(transaction.TryOpenTree(name, out var tree), $"there is no tree '{name}'");
        return Remember(name, tree);
    }

    private Handle Create(string name)
    {
        history.Add("create", name);
        var tree = transaction.CreateTree(name);
        State = State.Create(name);
        return Remember(name, tree);
    }

    private Handle Remember(string name, WriteTree tree)
    {
        Require(tree.Name == name, $"tree '{name}' is called '{tree.Name}'");
        var handle = _handles.Find(handle => handle.Name == name);
        if (handle == null)
            _handles.Add(handle = new Handle { Name = name, Tree = tree });
        return handle;
    }

    /// <summary>An open tree; without a name if it has been deleted.</summary>
    private sealed class Handle
    {
        public string? Name;
        public WriteTree Tree;
    }
}
