namespace Voron.Torture.Crashes;

/// <summary>The open readers of a workload, each with the content that it has to see until it ends.</summary>
internal sealed class CrashReaders : IDisposable
{
    private const int MaxReaders = 3;

    private readonly List<(ReadTransaction Transaction, Content Expected)> _readers = [];

    public int Count => _readers.Count;

    /// <summary>Begins a reader, unless there are many already.</summary>
    public void Begin(StorageEnvironment environment, Content expected)
    {
        if (_readers.Count < MaxReaders)
            _readers.Add((environment.BeginRead(), expected));
    }

    /// <summary>Checks a reader for the last time.</summary>
    public void End(int index)
    {
        var (transaction, expected) = _readers[index];
        ContentCheck.CheckReader(transaction, expected);
        transaction.Dispose();
        _readers.RemoveAt(index);
    }

    public void EndAll()
    {
        while (_readers.Count > 0)
            End(0);
    }

    public void Check()
    {
        foreach (var (transaction, expected) in _readers)
            ContentCheck.CheckReader(transaction, expected);
    }

    /// <summary>Ends all readers without any check, also after a failure.</summary>
    public void Dispose()
    {
        foreach (var (transaction, _) in _readers)
            transaction.Dispose();
        _readers.Clear();
    }
}
