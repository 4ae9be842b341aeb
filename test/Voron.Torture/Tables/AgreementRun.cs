using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Feeds;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <summary>Random changes of one table, with indexes of every kind, beside a model that predicts every answer and every refusal.</summary>
internal sealed partial class AgreementRun<TKey> : IDisposable
{
    private const int MaxReaders = 4;
    private const int MaxPages = 6;

    private static readonly TableIndex Expiry = TableIndex.Of(TableIndex.Expiry, 1);

    private static readonly string[] Others = [TableIndex.Plain, TableIndex.UniqueMultiple, TableIndex.UniqueFields, TableIndex.Multiple];
    private static readonly TableIndex Shared = TableIndex.Of(TableIndex.Shared, 1);

    private readonly SuiteRun _run;
    private readonly Tape _random;
    private readonly TableSetting<TKey> _setting;

    // Another definition of the same table, which is equal; and another table, so that transactions have two.
    private readonly TableSetting<TKey> _twin;
    private readonly TableSetting<TKey> _second;
    private readonly List<(ReadTransaction Transaction, TableContent Content)> _readers = [];
    private readonly List<PagedQuery> _pages = [];
    private readonly StorageOptions _options;
    private readonly StepClock _clock = new();
    private readonly bool _expires;
    private ModelPlace _place;
    private StorageEnvironment _environment;
    private TableContent _content = new();
    private TableContent _secondContent = new();

    public AgreementRun(SuiteRun run, TableKind<TKey> kind)
    {
        _run = run;
        _random = run.Choices;
        _options = DrawOptions();
        var keys = _random.Next(4) switch { 3 => 400, 2 => 16, _ => 120 };
        var rows = new RowDrawer(_random, keys, hasLongBodies: _random.Next(3) == 2);
        rows.DrawCompression();
        _expires = _random.Next(3) == 0;
        if (_expires)
            rows.Now = () => _clock.Milliseconds;
        _setting = Make(rows, "rows", TableIndex.OfEachKind);
        _twin = Make(rows, "rows", TableIndex.OfEachKind);
        _second = Make(rows, "others", [.. Others.Select(name => TableIndex.Of(name, 2)), Shared]);

        TableSetting<TKey> Make(RowDrawer rows, string name, IReadOnlyList<TableIndex> indexes)
        {
            if (_expires)
                indexes = [.. indexes, Expiry];
            var made = TableSetting<TKey>.Make(run, kind, indexes, rows, name: name);
            made.HasTraps = true;
            return made;
        }

        _place = new ModelPlace(_random.Next(4) < 3);
        _environment = _place.Open(_options);
        var rowsExpire = _expires ? ", rows that expire" : "";
        run.Report(
            $"{(kind.HasRowIds ? "row ids" : "text keys")}, {keys} keys{rowsExpire}, compression: {rows.Compression}, pages of {_options.PageSizeOrDefault}");
    }

    public long Calls => _setting.Calls + _twin.Calls + _second.Calls;

    public void Run(int calls)
    {
        while (Calls < calls && _setting.GoesOn())
        {
            _random.Mark();
            Step();
        }

        CheckAll();
        RequireRefusals();
        EndReaders();
        Reopen();
        CheckAll();
    }

    public void Dispose()
    {
        try
        {
            foreach (var (transaction, _) in _readers)
                transaction.Dispose();
            _environment.Dispose();
        }
        finally
        {
            _place.Dispose();
        }
    }

    private void Step()
    {
        if (_expires)
            StepInTime();
        switch (_random.Next(100))
        {
            case < 66:
                Write();
                break;
            case < 76:
                RunGroupCommit();
                break;
            case < 80:
                ToggleReader();
                break;
            case < 86:
                if (_readers.Count > 0)
                    Look(_readers[_random.Next(_readers.Count)]);
                break;
            case < 91:
                _run.Report("flush");
                _environment.Flush();
                if (_random.Next(2) == 1)
                    (_random.Next(3) == 2 ? _second : _setting).Recompress(_environment);
                break;
            case < 94:
                VerifyTable();
                break;
            case < 95:
                CheckAll();
                break;
            case < 97:
                ReopenOrKill();
                break;
            case < 98:
                Drop();
                break;
            default:
                Read(ReadPages);
                break;
        }
    }

    private void Write()
    {
        using (var writing = _environment.BeginWrite())
        {
            _run.Report($"begin {writing.TransactionId}");
            var table = Create(writing);
            var writer = new TableWriter<TKey>(_setting, table, _content.Copy());
            writer.Run(writing, _random.Next(10) == 9 ? _random.Next(300) : _random.Next(1, 24));
            if (_expires && _random.Next(8) == 7)
                _clock.Advance(TimeSpan.FromMilliseconds(_random.Next(1, 6_000)));
            var others = _random.Next(3) == 2 ? WriteSecond(writing, _random.Next(1, 12), _secondContent) : _secondContent;
            if (_random.Next(6) == 5)
                writer = WriteByTwin(writing, writer.Content);
            if (_random.Next(60) == 59)
                (table, writer) = DeleteAndCreate(writing, table);
            if (_random.Next(12) == 11)
                ReadPages(table, writer.Content);
            if (_random.Next(12) == 11)
                CheckShared(SharedReader<TKey>.Of(writing), writer.Content, others);
            if (_random.Next(8) == 7)
            {
                _run.Report("roll back");

                // Time has passed all the same.
                Settle();
                return;
            }

            writing.Commit();
            _run.Report("commit");
            _content = writer.Content;
            _secondContent = others;
        }

        Settle();
        if (_random.Next(6) == 5)
            VerifyTable();
        if (_random.Next(12) == 11)
            ReadShared();
        if (_random.Next(6) == 5)
            Read((table, content) => new TableReader<TKey>(_setting, table).Look(content));
    }

    private TableContent WriteSecond(WriteTransaction writing, int calls, TableContent content)
    {
        _run.Report("the other table:");
        var writer = new TableWriter<TKey>(_second, writing.CreateTable(_second.Definition), content.Copy());
        writer.Run(writing, calls);
        return writer.Content;
    }

    // A handle of the twin, and then one of the first definition again.
    private TableWriter<TKey> WriteByTwin(WriteTransaction writing, TableContent content)
    {
        _run.Report("by another definition that is equal:");
        var twin = new TableWriter<TKey>(_twin, writing.OpenTable(_twin.Definition), content);
        twin.Run(writing, _random.Next(1, 12));
        var writer = new TableWriter<TKey>(_setting, writing.OpenTable(_setting.Definition), twin.Content);
        writer.Run(writing, _random.Next(6));
        return writer;
    }

    // The table is created in a transaction with calls; at times with a savepoint around its creation, which is rolled back.
    private WriteTable<TKey, TableRow> Create(WriteTransaction writing)
    {
        if (!writing.TryOpenTable(_setting.Definition, out _) && _random.Next(4) == 3)
        {
            using var savepoint = writing.CreateSavepoint();
            new TableWriter<TKey>(_setting, writing.CreateTable(_setting.Definition), new TableContent()).Run(writing, 5);
            savepoint.Rollback();
            savepoint.Release();
            if (writing.TryOpenTable(_setting.Definition, out _))
                throw new ModelMismatchException("a table exists, and its creation was rolled back");
        }

        return writing.CreateTable(_setting.Definition);
    }

    private (WriteTable<TKey, TableRow> Table, TableWriter<TKey> Writer) DeleteAndCreate(WriteTransaction writing, WriteTable<TKey, TableRow> table)
    {
        _setting.Add("delete the table");
        if (!writing.DeleteTable(_setting.Name) || writing.TryOpenTable(_setting.Definition, out _))
            throw new ModelMismatchException("a table was deleted, and exists");
        try
        {
            _ = table.Count;
            throw new ModelMismatchException("a table that was deleted answers");
        }
        catch (Exception e) when (e is InvalidOperationException or ObjectDisposedException)
        {
        }

        var created = writing.CreateTable(_setting.Definition);
        var writer = new TableWriter<TKey>(_setting, created, new TableContent());
        writer.Run(writing, _random.Next(40));
        return (created, writer);
    }

    private void Drop()
    {
        _setting.Add("drop the table");
        bool isThere;
        using (var reading = _environment.BeginRead())
            isThere = reading.TryOpenTable(_setting.Definition, out _);
        if (_environment.DropTableAsync(_setting.Name).AsTask().GetAwaiter().GetResult() != isThere)
            throw new ModelMismatchException($"the drop of a table that is {(isThere ? "" : "not ")}there says {!isThere}");
        _content = new TableContent();
    }

    // Operations that are merged into one transaction: those that fail leave nothing, and the others meet what was done before them.
    private void RunGroupCommit()
    {
        _run.Report("group commit");
        var (content, others) = (_content, _secondContent);
        var operations = new (bool Fails, int Calls, bool IsSecond)[_random.Next(1, 8)];
        for (var i = 0; i < operations.Length; i++)
            operations[i] = (_random.Next(4) == 3, _random.Next(1, _random.Next(2) == 0 ? 3 : 16), _random.Next(4) == 3);

        // The operations run one after the other, and draw from the tape of the run, which this thread leaves alone until they have ended.
        var tasks = operations.Select(operation => _environment.WriteAsync(writing =>
        {
            var changed = operation.IsSecond ? WriteSecond(writing, operation.Calls, others) : WriteFirst(writing, operation.Calls, content);
            if (operation.Fails)
            {
                _run.Report("  (fails)");
                throw new PlannedException();
            }

            (content, others) = operation.IsSecond ? (content, changed) : (changed, others);
        }).AsTask()).ToList();
        Await(tasks);
        (_content, _secondContent) = (content, others);
    }

    private TableContent WriteFirst(WriteTransaction writing, int calls, TableContent content)
    {
        var writer = new TableWriter<TKey>(_setting, writing.CreateTable(_setting.Definition), content.Copy());
        writer.Run(writing, calls);
        return writer.Content;
    }

    private static void Await(List<Task> tasks)
    {
        foreach (var task in tasks)
        {
            try
            {
                task.GetAwaiter().GetResult();
            }
            catch (PlannedException)
            {
            }
        }
    }

    private void ToggleReader()
    {
        if (_readers.Count == MaxReaders)
        {
            var reader = _readers[_random.Next(MaxReaders)];
            Look(reader);
            reader.Transaction.Dispose();
            _readers.Remove(reader);
        }
        else
        {
            // It has the time at which it opens a table first.
            var reading = _environment.BeginRead();
            _readers.Add((reading, _content.Copy()));
            _ = reading.TryOpenTable(_setting.Definition, out _);
        }
    }

    private void Look((ReadTransaction Transaction, TableContent Content) reader)
    {
        if (!IsThere(reader.Transaction, reader.Content, out var table))
            return;
        var looks = new TableReader<TKey>(_setting, table);
        for (var i = _random.Next(1, 5); i > 0; i--)
            looks.Look(reader.Content);
    }

    private bool IsThere(ReadTransaction reading, TableContent content, out Table<TKey, TableRow> table)
    {
        if (reading.TryOpenTable(_setting.Definition, out table))
            return true;
        return content.Count == 0 ? false : throw new ModelMismatchException("the table is not there");
    }

    private void Read(Action<Table<TKey, TableRow>, TableContent> read)
    {
        using var reading = _environment.BeginRead();
        if (IsThere(reading, _content, out var table))
            read(table, _content);
    }

    private void ReadPages(Table<TKey, TableRow> table, TableContent content)
    {
        var reader = new TableReader<TKey>(_setting, table);
        _pages.RemoveAll(page => page.IsOver);
        if (_pages.Count < MaxPages)
        {
            reader.LearnAll(content);
            var index = _random.Next(4) == 0 ? null : _setting.Indexes[_random.Next(_setting.Indexes.Count)];
            var entries = index == null ? content.ByKey() : content.Entries(index);
            var range = ModelRange.Draw(_random, index == null ? [] : entries);
            if (index != null || range.Contains(""))
                _pages.Add(new PagedQuery(index, range, _random.Next(2) == 1, _random.Next(1, 12)));
        }

        foreach (var page in _pages)
            reader.ReadPage(content, page);
    }

    private void VerifyTable()
    {
        Read((_, content) =>
        {
            _setting.Add("verify the table");
            var report = _environment.VerifyTable(_setting.Definition);
            if (!report.IsSound || report.Unchecked.Count > 0)
                throw new ModelMismatchException($"the table of {content.Count} rows is damaged: {report}");
            content.CheckCount(report.Rows);
        });
    }

    private void CheckAll()
    {
        VerifyTable();
        Read((table, content) => new TableReader<TKey>(_setting, table).LookAtAll(content));
        CheckSecond();
        ReadShared();
        if (_environment.Verify() is { IsSound: false } report)
            throw new ModelMismatchException($"the environment is damaged: {report}");
    }

    private void CheckSecond()
    {
        using var reading = _environment.BeginRead();
        var isThere = reading.TryOpenTable(_second.Definition, out var table);
        if (reading.GetTableNames().Contains(_second.Name) != isThere || (!isThere && _secondContent.Count > 0))
            throw new ModelMismatchException("the other table is not there, or has no name");
        if (!isThere)
            return;
        new TableReader<TKey>(_second, table).LookAtAll(_secondContent);
        if (reading.VerifyTable(_second.Definition) is { IsSound: false } report)
            throw new ModelMismatchException($"the other table of {_secondContent.Count} rows is damaged: {report}");
    }

    private void ReopenOrKill()
    {
        if (_random.Next(3) == 2)
        {
            _run.Report("kill");
            var (left, copy) = (_place, _place.Copy());
            EndReaders();
            _environment.Dispose();
            _place = copy;
            left.Dispose();
            _environment = _place.Open(_options);
        }
        else
        {
            EndReaders();
            Reopen();
        }

        if (_random.Next(2) == 1)
            CheckAll();
    }

    private void Reopen()
    {
        _run.Report("reopen");
        _environment.Dispose();
        _environment = _place.Open(_options);
    }

    private void EndReaders()
    {
        foreach (var reader in _readers)
        {
            Look(reader);
            reader.Transaction.Dispose();
        }

        _readers.Clear();
    }

    private sealed class PlannedException : Exception;
}
