namespace Voron.Torture.Model;

/// <content>Trees as a whole, savepoints, nested transactions.</content>
internal sealed partial class ModelWriter
{
    private void Structure()
    {
        switch (random.Next(10))
        {
            case 0:
                for (var i = settings.HasManyTrees ? random.Next(1, 20) : 1; i > 0 && State.Trees.Count < settings.Trees; i--)
                    Create(AnyName());
                if (settings.HasManyTrees)
                    WriteSideBySide();
                break;
            case 1:
                Rename();
                break;
            case 2:
                if (random.Next(3) == 0)
                    Drop();
                break;
            case 3:
                history.Add("tree names");
                Require(State.HasNames(transaction.GetTreeNames()), "wrong names of trees");
                break;
            case < 7:
                for (var i = settings.HasManySavepoints ? random.Next(1, 12) : 1; i > 0 && _marks.Count < settings.Savepoints; i--)
                    AddMark();
                break;
            default:
                if (_marks.Count > 0)
                    EndMark(random.Next(2) == 0);
                break;
        }
    }

    private void Rename()
    {
        if (State.Trees.Count == 0)
            return;
        var name = State.Trees.Keys.ElementAt(random.Next(State.Trees.Count));
        var newName = AnyName();
        history.Add($"rename to '{newName}'", name);
        if (newName == name)
        {
            Require(transaction.RenameTree(name, newName), "a tree cannot keep its name");
            Remember(name, transaction.OpenTree(name));
            return;
        }

        if (State.Has(newName))
        {
            Fails<ArgumentException>(() => transaction.RenameTree(name, newName));
            return;
        }

        Require(transaction.RenameTree(name, newName), $"there is no tree '{name}' to be renamed");
        State = State.Rename(name, newName);
        var handle = _handles.Find(handle => handle.Name == name);
        if (handle != null)
            handle.Name = newName;
        else
            Remember(newName, transaction.OpenTree(newName));
        Require(!transaction.TryOpenTree(name, out _), $"the tree '{name}' is still there under its old name");
    }

    private void Drop()
    {
        var name = AnyName();
        history.Add("delete tree", name);
        var deleted = transaction.DeleteTree(name);
        Require(deleted == State.Has(name), $"deleting tree '{name}' returned {deleted}");
        if (!deleted)
            return;
        State = State.Drop(name);
        var handle = _handles.Find(handle => handle.Name == name);
        if (handle == null)
            return;
        Fails<InvalidOperationException>(() => handle.Tree.Put([1], [1]));
        foreach (var cursor in _cursors.Where(cursor => cursor.Handle == handle).Select(cursor => cursor.Cursor))
        {
            Fails<InvalidOperationException>(() => cursor.MoveNext());
            Fails<InvalidOperationException>(() => cursor.Key.Length.ToString());
        }

        handle.Name = null;
    }

    /// <summary>Makes small puts to many trees in turn.</summary>
    private void WriteSideBySide()
    {
        var handles = State.Trees.Keys.Where(_ => random.Next(4) > 0).Select(Open).ToList();
        for (var round = random.Next(1, 4); round > 0; round--)
        {
            foreach (var handle in handles)
            {
                var key = _keys.NewKey();
                var entry = Pad.Draw(random, key, random.Next(100));
                history.Add("put", handle.Name, key, entry.Length);
                handle.Tree.Put(key, entry.Value);
                State = State.Put(handle.Name!, entry);
            }
        }
    }

    private void AddMark()
    {
        var names = _handles.ConvertAll(handle => handle.Name);
        if (random.Next(3) == 0)
        {
            history.Add("begin nested");
            _marks.Add(new Mark { State = State, Names = names, Nested = transaction.BeginNested() });
        }
        else
        {
            history.Add("savepoint");
            _marks.Add(new Mark { State = State, Names = names, Savepoint = transaction.CreateSavepoint() });
        }
    }

    /// <summary>Ends one of the savepoints, and with it those inside.</summary>
    private void EndMark(bool keep)
    {
        var index = random.Next(3) == 0 ? random.Next(_marks.Count) : _marks.Count - 1;
        if (!keep)
        {
            RollbackTo(index);
            return;
        }

        history.Add($"release {index}");
        var mark = _marks[index];
        var left = _marks.FindIndex(index + 1, inner => inner.Savepoint == null);
        if (left < 0)
        {
            mark.Release();
            CheckEnded(index);
            return;
        }

        // A nested transaction inside has not been committed: releasing is refused, disposing undoes its changes.
        Fails<InvalidOperationException>(mark.Release);
        if (mark.Savepoint is not { } savepoint || random.Next(2) == 0)
            return;
        history.Note($"  takes back to {left}");
        GoBackTo(_marks[left]);
        savepoint.Dispose();
        CheckEnded(index);
    }

    private bool HasNested => _marks.Exists(mark => mark.Savepoint == null);

    private void CheckCommitIsRefused()
    {
        history.Note("commit with a nested transaction open");
        Fails<InvalidOperationException>(transaction.Commit);
        Fails<InvalidOperationException>(() => transaction.CommitAsync().AsTask().GetAwaiter().GetResult());
    }

    private void RollbackTo(int index)
    {
        history.Add($"rollback to {index}");
        var mark = _marks[index];
        GoBackTo(mark);
        if (mark.Savepoint is { } savepoint)
        {
            savepoint.Rollback();
            if (random.Next(2) == 0)
            {
                _marks.RemoveRange(index + 1, _marks.Count - index - 1);
                return;
            }

            savepoint.Release();
        }
        else
        {
            mark.Nested.Dispose();
        }

        CheckEnded(index);
    }

    private void GoBackTo(Mark mark)
    {
        State = mark.State;

        // Trees that were not open at that time have to be opened again.
        for (var i = _handles.Count - 1; i >= mark.Names.Count; i--)
        {
            _cursors.RemoveAll(cursor => cursor.Handle == _handles[i]);
            _handles.RemoveAt(i);
        }

        for (var i = 0; i < _handles.Count; i++)
            _handles[i].Name = mark.Names[i];
    }

    private void CheckEnded(int index)
    {
        for (var i = index; i < _marks.Count; i++)
        {
            if (_marks[i].Savepoint is { } savepoint)
                Fails<InvalidOperationException>(savepoint.Rollback);
        }

        _marks.RemoveRange(index, _marks.Count - index);
    }

    /// <summary>A savepoint or nested transaction, and the state when it began.</summary>
    private sealed class Mark
    {
        public required ModelState State;
        public required List<string?> Names;
        public Savepoint? Savepoint;
        public NestedTransaction Nested;

        public void Release()
        {
            if (Savepoint is { } savepoint)
                savepoint.Release();
            else
                Nested.Commit();
        }
    }
}

/// <summary>Handles of a transaction, or of an operation that shares one.</summary>
internal sealed record ModelEscape(WriteTransaction Transaction, List<WriteTree> Trees, List<Cursor> Cursors)
{
    /// <summary>Checks that none of the handles can be used any more.</summary>
    public void CheckEnded()
    {
        Ended(() => Transaction.CreateTree("escaped"));
        Ended(() => Transaction.GetTreeNames());
        Ended(() => Transaction.CreateSavepoint());
        foreach (var tree in Trees)
        {
            Ended(() => tree.Put([1], [1]));
            Ended(() => tree.TryGet([1], out _));
        }

        foreach (var cursor in Cursors)
        {
            Ended(() => cursor.MoveNext());
            Ended(() => cursor.Delete());
        }
    }

    private static void Ended(Action use)
    {
        try
        {
            use();
        }
        catch (ObjectDisposedException)
        {
            return;
        }

        throw new ModelMismatchException("a handle can be used after the end of its transaction or operation");
    }
}
