namespace Voron.Tables;

/// <summary>Adds the primary keys of rows that have lost theirs, in short transactions beside other writers.</summary>
/// <param name="environment">The environment.</param>
/// <param name="functions">The definition.</param>
/// <param name="stop">Ends the work between two steps.</param>
internal sealed class KeyRebuild(StorageEnvironment environment, TableFunctions functions, CancellationToken stop)
{
    private const int MaxProblems = 1000;

    private readonly StepPace _pace = new(new EvolveOptions().MaxHold);
    private readonly List<TableCheckProblem> _problems = [];
    private long _problemCount;
    private long _rows;
    private long _added;
    private long _next;

    /// <exception cref="KeyNotFoundException">There is no such table.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    public async ValueTask<RebuildKeysReport> RunAsync()
    {
        while (_next <= RowKey.Max)
        {
            using var writing = await environment.BeginWriteAsync(stop).ConfigureAwait(false);
            _pace.Begin();
            var added = _added;
            Step(writing);
            _pace.EndReading();
            if (_added > added)
            {
                var commit = writing.CommitAsync(CancellationToken.None);
                _pace.End();
                await commit.ConfigureAwait(false);
            }
        }

        return new RebuildKeysReport(_rows, _added, _problemCount, _problems);
    }

    private void Step(WriteTransaction writing)
    {
        var session = TableSession.Open(new TableTrees(writing), functions)
            ?? throw new KeyNotFoundException($"There is no table '{functions.Name}' in '{writing.DataFilePath}' whose keys could be added.");
        session.EnterToWrite(functions);
        if (functions.KeyCodec == null)
        {
            _next = RowKey.Max + 1;
            return;
        }

        for (var slot = 0; slot < functions.Slots.Count; slot++)
            session.OldKeys.Want(slot, slot == 0);
        var began = TimeProvider.System.GetTimestamp();
        var first = _next;
        using var cursor = session.Rows.OpenCursor();
        for (var found = cursor.Seek(RowKey.Write(_next, stackalloc byte[RowKey.Bytes])); found; found = cursor.MoveNext())
        {
            if (!RowKey.TryRead(cursor.Key, out var rowId))
                throw RowLookup.NoRowId(functions.Name, cursor.Key);
            _next = rowId;
            if (rowId > first && TimeProvider.System.GetElapsedTime(began) >= _pace.ReadingTime)
                return;
            _rows++;
            Add(session, rowId, cursor.Value);
        }

        _next = RowKey.Max + 1;
    }

    private void Add(TableSession session, long rowId, ReadOnlySpan<byte> row)
    {
        try
        {
            session.ReadKeys(rowId, session.Copy(row));
            session.RequireUnchanged();
        }
        catch (TableException e)
        {
            Report(new TableCheckProblem(rowId, (e as IndexKeyException)?.IndexName, null, e.Message));
            return;
        }

        var (index, keys) = (session.IndexOf(0), session.OldKeys[0]);
        if (!RowLookup.TryFindId(session, index.Entries, keys[0], out var other))
        {
            IndexEditor.Add(session, index, keys, 0, rowId);
            _added++;
        }
        else if (other != rowId)
        {
            var failure = new DuplicateKeyException(functions.Name, "", keys[0], rowId, other);
            Report(new TableCheckProblem(rowId, "", other, failure.Message));
        }
    }

    private void Report(TableCheckProblem problem)
    {
        _problemCount++;
        if (_problems.Count < MaxProblems)
            _problems.Add(problem);
    }
}
