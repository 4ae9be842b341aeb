using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <summary>Makes random changes of a table in one write transaction, each of which the model predicts: its answer, or its refusal.</summary>
/// <param name="setting">The table, and what changes it.</param>
/// <param name="table">The table, open in the transaction.</param>
/// <param name="content">What the table has. It becomes what the transaction has made of it.</param>
internal sealed partial class TableWriter<TKey>(TableSetting<TKey> setting, WriteTable<TKey, TableRow> table, TableContent content)
{
    private const int MaxDepth = 4;

    private readonly Random _random = setting.Random;
    private readonly TableReader<TKey> _reader = new(setting, table);

    public TableContent Content { get; private set; } = content;

    /// <summary>Called after each call.</summary>
    public Action<TableContent>? OnCall { get; init; }

    /// <summary>Makes a number of calls.</summary>
    /// <param name="writing">The transaction, for savepoints.</param>
    /// <param name="calls">The number of calls.</param>
    /// <param name="depth">The number of savepoints around them.</param>
    public void Run(WriteTransaction writing, int calls, int depth = 0)
    {
        while (calls-- > 0 && setting.GoesOn())
        {
            if (depth < MaxDepth && _random.Next(24) == 23)
                RunNested(writing, depth);
            else
                Call();
        }
    }

    // A savepoint that is rolled back, or a nested transaction that is not committed, leaves the table as it was.
    private void RunNested(WriteTransaction writing, int depth)
    {
        var before = Content.Copy();
        var isKept = _random.Next(2) == 0;
        var isNested = _random.Next(2) == 0;
        setting.Note($"{(isNested ? "nested transaction" : "savepoint")} {depth}");
        if (isNested)
        {
            using var nested = writing.BeginNested();
            Run(writing, _random.Next(12), depth + 1);
            if (isKept)
                nested.Commit();
        }
        else
        {
            using var savepoint = writing.CreateSavepoint();
            Run(writing, _random.Next(12), depth + 1);
            if (!isKept)
                savepoint.Rollback();
            savepoint.Release();
        }

        setting.Note($"{(isKept ? "kept" : "rolled back")} {depth}");
        if (!isKept)
            Content = before;
        CheckCount();
    }

    private void Call()
    {
        switch (_random.Next(100))
        {
            case < 22:
                Insert();
                break;
            case < 36:
                Upsert();
                break;
            case < 48:
                UpsertExpected();
                break;
            case < 62:
                Update();
                break;
            case < 76:
                Delete();
                break;
            case < 82:
                InsertMany();
                break;
            case < 85:
                DeleteWhere();
                break;
            case < 88:
                CallArmed();
                break;
            case < 90 when !_isWalking:
                Walk();
                break;
            default:
                _reader.Look(Content);
                break;
        }

        CheckCount();
        OnCall?.Invoke(Content);
    }

    // Another call, while the function of an index throws for every row, or calls the table.
    private void CallArmed()
    {
        var armed = setting.Indexes[_random.Next(setting.Indexes.Count)].Name;

        // The old keys of a row are computed only for indexes that have them, and old times are in its head.
        if (armed == TableIndex.Expiry || table.GetIndexState(armed) != IndexState.Ready)
            return;
        setting.Traps.Armed = armed;
        setting.Traps.Instead = _random.Next(2) == 0 ? null : CallTable;
        setting.Note($"functions of '{setting.Traps.Armed}' {(setting.Traps.Instead == null ? "throw" : "call the table")}:");
        try
        {
            switch (_random.Next(6))
            {
                case 1:
                    Upsert();
                    break;
                case 2:
                    Update();
                    break;
                case 3:
                    Delete();
                    break;
                case 4:
                    InsertMany();
                    break;
                case 5:
                    DeleteWhere();
                    break;
                default:
                    Insert();
                    break;
            }
        }
        finally
        {
            setting.Traps.Armed = null;
            setting.Traps.Instead = null;
        }
    }

    private void CallTable()
    {
        try
        {
            _ = table.Count;
        }
        catch (InvalidOperationException)
        {
            return;
        }

        throw new ModelMismatchException("a function of the definition has called the table");
    }

    private void CheckCount()
    {
        Content.CheckCount(table.Count);
    }

    private TableRow DrawRow(bool isThere)
    {
        var row = isThere && Content.Find(setting.Kind.Encode(setting.Rows.Draw(setting.Rows.DrawKey()))!) is { } found
            ? setting.Rows.Change(found.Row)
            : setting.Rows.Draw(setting.Rows.DrawKey());
        return setting.HasTraps && _random.Next(24) == 23 ? setting.Rows.Spoil(row) : row;
    }

    /// <summary>Makes a call, and compares its refusal.</summary>
    /// <returns>True if it was not refused, as predicted.</returns>
    private bool Try(Refusal? refusal, Action call)
    {
        try
        {
            call();
        }
        catch (Exception e) when (e is TableException or ArgumentException)
        {
            if (refusal == null)
                throw new ModelMismatchException($"a call was refused: {e.GetType().Name} {e.Message}");
            setting.NoteRefusal(refusal);
            refusal.Check(e, row => Content.Find(row.Primary) == row ? _reader.IdOf(Content, row) : null);
            return false;
        }

        return refusal == null ? true : throw new ModelMismatchException($"a call was not refused by {refusal}");
    }

    // The order is that of the engine: the codec, the functions in the order of the definition, the key of the row.
    private Refusal? RefusalOfFunctions(TableRow row)
    {
        if (row.Trap == RowTraps.Codec)
            return Refusal.Format();
        var key = setting.Kind.Encode(row);
        if (key == null && !setting.Kind.HasRowIds)
            return Refusal.OfFunction("");
        if (setting.Indexes.FirstOrDefault(index => setting.Traps.Throws(row, index.Name)) is { } index)
        {
            var isTooLong = index.Name == TableIndex.Plain && row.City.Length >= RowDrawer.TooLong;
            return isTooLong ? Refusal.TooLong(index.Name) : Refusal.OfFunction(index.Name);
        }

        return key == null ? Refusal.OfFunction("") : null;
    }

    private Refusal? RefusalOfKeys(TableRow row, string primary, ModelRow? changed)
    {
        var ready = setting.Indexes.Where(index => table.GetIndexState(index.Name) == IndexState.Ready);
        return Content.FindDuplicate(ready, new ModelRow(row, primary)) is var (index, key, holder)
            ? Refusal.Duplicate(index.Name, key, holder, changed)
            : null;
    }
}
