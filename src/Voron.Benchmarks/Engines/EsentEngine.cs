#if ESENT
using System.Text;
using Microsoft.Isam.Esent.Interop;

namespace Voron.Benchmarks.Engines;

/// <summary>ESENT, the storage engine of Windows, with its default parameters. Every commit waits for the log.</summary>
internal sealed class EsentEngine : BenchmarkEngine
{
    internal const string TableName = "items";

    private readonly string _file;
    private readonly Instance _instance;
    private readonly Session _session;
    private readonly JET_DBID _database;
    private readonly EsentColumns _columns;
    private readonly Table _table;

    public EsentEngine(string directory)
    {
        _file = Path.Combine(directory, "items.edb");
        _instance = new Instance("voron-benchmarks-" + Guid.NewGuid().ToString("N"));
        _instance.Parameters.BaseName = "edb";
        _instance.Parameters.SystemDirectory = directory;
        _instance.Parameters.LogFileDirectory = directory;
        _instance.Parameters.TempDirectory = directory;
        _instance.Parameters.CircularLog = true;
        _instance.Init();
        _session = new Session(_instance);
        var isNew = !File.Exists(_file);
        if (isNew)
        {
            Api.JetCreateDatabase(_session, _file, null, out _database, CreateDatabaseGrbit.None);
            CreateTable();
        }
        else
        {
            Api.JetAttachDatabase(_session, _file, AttachDatabaseGrbit.None);
            Api.JetOpenDatabase(_session, _file, null, out _database, OpenDatabaseGrbit.None);
        }
        _table = new Table(_session, _database, TableName, OpenTableGrbit.None);
        _columns = new EsentColumns(_session, _table);
    }

    public override string Settings => "ESENT; default parameters, circular log; each commit waits for the log; concurrent callers share a lock";

    public override void BeginWrite() => Api.JetBeginTransaction(_session);

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var found = EsentColumns.Seek(_session, _table, key);
        Api.JetPrepareUpdate(_session, _table, found ? JET_prep.Replace : JET_prep.Insert);
        if (!found)
            Api.SetColumn(_session, _table, _columns.Key, key.ToArray());
        Api.SetColumn(_session, _table, _columns.Value, value.ToArray());
        Api.JetUpdate(_session, _table);
    }

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        if (!EsentColumns.Seek(_session, _table, key))
            return false;
        Api.JetDelete(_session, _table);
        return true;
    }

    public override void Commit() => Api.JetCommitTransaction(_session, CommitTransactionGrbit.None);

    public override BenchmarkReader CreateReader() => new EsentReader(_instance, _file);

    public override void Dispose()
    {
        _table.Dispose();
        _session.Dispose();
        _instance.Dispose();
    }

    private void CreateTable()
    {
        Api.JetBeginTransaction(_session);
        Api.JetCreateTable(_session, _database, TableName, 16, 80, out var table);
        var keyColumn = new JET_COLUMNDEF { coltyp = JET_coltyp.Binary, cbMax = 255 };
        Api.JetAddColumn(_session, table, EsentColumns.KeyName, keyColumn, null, 0, out _);
        var valueColumn = new JET_COLUMNDEF { coltyp = JET_coltyp.LongBinary };
        Api.JetAddColumn(_session, table, EsentColumns.ValueName, valueColumn, null, 0, out _);
        var index = "+" + EsentColumns.KeyName + "\0\0";
        Api.JetCreateIndex(_session, table, "primary", CreateIndexGrbit.IndexPrimary, index, Encoding.ASCII.GetByteCount(index), 80);
        Api.JetCloseTable(_session, table);
        Api.JetCommitTransaction(_session, CommitTransactionGrbit.None);
    }
}

internal readonly struct EsentColumns(JET_SESID session, JET_TABLEID table)
{
    public const string KeyName = "key";
    public const string ValueName = "value";

    public JET_COLUMNID Key { get; } = Api.GetTableColumnid(session, table, KeyName);
    public JET_COLUMNID Value { get; } = Api.GetTableColumnid(session, table, ValueName);

    public static bool Seek(JET_SESID session, JET_TABLEID table, ReadOnlySpan<byte> key)
    {
        Api.MakeKey(session, table, key.ToArray(), MakeKeyGrbit.NewKey);
        return Api.TrySeek(session, table, SeekGrbit.SeekEQ);
    }
}

internal sealed class EsentReader : BenchmarkReader
{
    private readonly Session _session;
    private readonly Table _table;
    private readonly EsentColumns _columns;

    public EsentReader(Instance instance, string file)
    {
        _session = new Session(instance);
        Api.JetOpenDatabase(_session, file, null, out var database, OpenDatabaseGrbit.ReadOnly);
        _table = new Table(_session, database, EsentEngine.TableName, OpenTableGrbit.ReadOnly);
        _columns = new EsentColumns(_session, _table);
    }

    public override void Begin() => Api.JetBeginTransaction(_session);

    public override void End() => Api.JetCommitTransaction(_session, CommitTransactionGrbit.None);

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        var found = EsentColumns.Seek(_session, _table, key);
        value = found ? Api.RetrieveColumn(_session, _table, _columns.Value) : default;
        return found;
    }

    public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(Api.TryMoveFirst(_session, _table), out key, out value);

    public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(Api.TryMoveLast(_session, _table), out key, out value);

    public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(Api.TryMoveNext(_session, _table), out key, out value);

    public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(Api.TryMovePrevious(_session, _table), out key, out value);

    public override void Dispose()
    {
        _table.Dispose();
        _session.Dispose();
    }

    private bool Current(bool found, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        key = found ? Api.RetrieveColumn(_session, _table, _columns.Key) : default;
        value = found ? Api.RetrieveColumn(_session, _table, _columns.Value) : default;
        return found;
    }
}
#endif
