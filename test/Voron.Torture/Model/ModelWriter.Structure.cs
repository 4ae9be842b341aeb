namespace Voron.Torture.Model;

/// <content>Trees as a whole, savepoints, nested transactions.</content>
internal sealed partial class ModelWriter
{
    private void Structure()
    {
        switch (random.Next(10))
        {
            case 0:
                if (State.Trees.Count < settings.Trees)
                    Create(Names[random.Next(Names.Length)]);
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
                Require(transaction.GetTreeNames().SequenceEqual(State.Trees.Keys), "wrong names of trees");
                break;
            case < 7:
                if (_marks.Count < 6)
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
        var newName = Names[random.Next(Names.Length)];
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
        var name = Names[random.Next(Names.Length)];
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
        handle.Name = null;
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
        if (mark.Savepoint is { } savepoint)
            savepoint.Release();
        else
            mark.Nested.Commit();
        CheckEnded(index);
    }

    private void RollbackTo(int index)
    {
        history.Add($"rollback to {index}");
        var mark = _marks[index];
        State = mark.State;

        // Trees that were not open then have to be opened again.
        for (var i = _handles.Count - 1; i >= mark.Names.Count; i--)
        {
            _cursors.RemoveAll(cursor => cursor.Handle == _handles[i]);
            _handles.RemoveAt(i);
        }

        for (var i = 0; i < _handles.Count; i++)
            _handles[i].Name = mark.Names[i];

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

    private void CheckEnded(int index)
    {
        for (var i = index; i < _marks.Count; i++)
        {
            if (_marks[i].Savepoint is { } savepoint)
                Fails<InvalidOperationException>(savepoint.Rollback);
        }

        _marks.RemoveRange(index, _marks.Count - index);
    }

    /// <summary>A savepoint or nested transaction, and how things were when it began.</summary>
    private sealed class Mark
    {
        public required ModelState State;
        public required List<string?> Names;
        public Savepoint? Savepoint;
        public NestedTransaction Nested;
    }
}
