namespace Voron.Torture.Model;

/// <content>Cursors, some of which stay open while the tree changes.</content>
internal sealed partial class ModelWriter
{
    private enum Place
    {
        Unset,
        BeforeFirst,
        AfterLast,
        Key,
    }

    private void MoveCursor(Handle handle, string name)
    {
        var cursor = _cursors.Find(cursor => cursor.Handle == handle);
        if (cursor == null || (random.Next(10) == 0 && _cursors.Count < 12))
        {
            history.Add("open cursor", name);
            cursor = new OpenCursor { Handle = handle, Cursor = handle.Tree.OpenCursor() };
            _cursors.Insert(random.Next(_cursors.Count + 1), cursor);
        }

        for (var i = random.Next(1, 12); i > 0; i--)
            Move(cursor, name);
        if (random.Next(15) != 0)
            return;
        history.Add("close cursor", name);
        cursor.Cursor.Dispose();
        Fails<ObjectDisposedException>(() => cursor.Cursor.MoveNext());
        _cursors.Remove(cursor);
    }

    private void Move(OpenCursor cursor, string name)
    {
        var entries = State.Trees[name];
        CheckPlace(cursor, name);
        var key = _keys.AnyKey(entries);
        bool moved;
        int at;
        switch (random.Next(12))
        {
            case 0:
                history.Add("seek first", name);
                moved = cursor.Cursor.SeekFirst();
                at = 0;
                cursor.GoTo(entries, at, Place.AfterLast);
                break;
            case 1:
                history.Add("seek last", name);
                moved = cursor.Cursor.SeekLast();
                at = entries.Count - 1;
                cursor.GoTo(entries, at, Place.BeforeFirst);
                break;
            case 2:
                history.Add("seek", name, key);
                moved = cursor.Cursor.Seek(key);
                at = State.Rank(name, key, out _);
                cursor.GoTo(entries, at, Place.AfterLast);
                break;
            case 3:
                history.Add("seek for previous", name, key);
                moved = cursor.Cursor.SeekForPrevious(key);
                at = State.Rank(name, key, out var isThere) - (isThere ? 0 : 1);
                cursor.GoTo(entries, at, Place.BeforeFirst);
                break;
            case 4:
                history.Add("seek exact", name, key);
                var found = cursor.Cursor.SeekExact(key);
                at = State.Rank(name, key, out var isFound);
                Require(found == isFound, $"seeking exactly in '{name}' returned {found}", key);
                cursor.GoTo(entries, at, Place.AfterLast);
                moved = cursor.Cursor.IsOnEntry;
                break;
            case < 9:
                history.Add("move next", name, cursor.Key);
                moved = cursor.Cursor.MoveNext();
                at = cursor.Place switch
                {
                    Place.AfterLast => entries.Count,
                    Place.Key => State.Rank(name, cursor.Key, out var exact) + (exact ? 1 : 0),
                    _ => 0,
                };
                cursor.GoTo(entries, at, Place.AfterLast);
                break;
            default:
                history.Add("move previous", name, cursor.Key);
                moved = cursor.Cursor.MovePrevious();
                at = cursor.Place switch
                {
                    Place.BeforeFirst => -1,
                    Place.Key => State.Rank(name, cursor.Key, out _) - 1,
                    _ => entries.Count - 1,
                };
                cursor.GoTo(entries, at, Place.BeforeFirst);
                break;
        }

        var expected = at >= 0 && at < entries.Count;
        Require(moved == expected, $"the cursor of '{name}' says {moved} where entry {at} of {entries.Count} is", cursor.Key);
        if (moved)
            ModelReading.CheckEntry(name, cursor.Cursor, entries[at]);
    }

    /// <summary>
    /// Checks that a cursor has a key while its entry exists, whatever has happened to the tree since the cursor moved there.
    /// </summary>
    private void CheckPlace(OpenCursor cursor, string name)
    {
        if (cursor.Place == Place.Key && State.TryGet(name, cursor.Key!, out var entry))
        {
            ModelReading.CheckEntry(name, cursor.Cursor, entry);
            return;
        }

        Require(!cursor.Cursor.IsOnEntry, "the cursor is on an entry that does not exist", cursor.Key);
        Fails<InvalidOperationException>(() => cursor.Cursor.Key.Length.ToString());
    }

    private void DeleteWhileIterating(Handle handle, string name, int steps)
    {
        history.Note("delete while iterating", name);
        using var cursor = handle.Tree.OpenCursor();
        var forward = random.Next(2) == 0;
        var from = _keys.AnyKey(State.Trees[name]);
        var at = State.Rank(name, from, out var exact) - (forward || exact ? 0 : 1);
        var found = forward ? cursor.Seek(from) : cursor.SeekForPrevious(from);
        while (steps-- > 0)
        {
            var entries = State.Trees[name];
            Require(found == (at >= 0 && at < entries.Count), $"iterating '{name}' says {found} at {at} of {entries.Count}", from);
            if (!found)
                return;
            var entry = entries[at];
            ModelReading.CheckEntry(name, cursor, entry);
            if (random.Next(3) > 0)
            {
                history.Add("delete at cursor", name, entry.Key);
                Require(cursor.Delete(), "the cursor's entry was not deleted", entry.Key);
                Require(!cursor.IsOnEntry && !cursor.Delete(), "the cursor deletes its entry twice", entry.Key);
                State = State.Delete(name, entry.Key);
                at -= forward ? 0 : 1;
            }
            else
            {
                at += forward ? 1 : -1;
            }

            found = forward ? cursor.MoveNext() : cursor.MovePrevious();
        }
    }

    /// <summary>A cursor that stays open, and its expected position.</summary>
    private sealed class OpenCursor
    {
        public required Handle Handle;
        public Cursor Cursor;
        public Place Place;
        public byte[]? Key;

        public void GoTo(System.Collections.Immutable.ImmutableSortedSet<ModelEntry> entries, int at, Place otherwise)
        {
            var found = at >= 0 && at < entries.Count;
            Place = found ? Place.Key : otherwise;
            Key = found ? entries[at].Key : null;
        }
    }
}
