using Voron.Format;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>The new environment of a salvage, written in transactions of about 16 MiB.</summary>
internal sealed class SalvageTarget : ISalvageTarget, IDisposable
{
    private const int BytesAtOnce = 16 << 20;

    private readonly StorageEnvironment _environment;
    private readonly SalvageOptions _options;
    private readonly long _sourceBytes;
    private readonly CancellationToken _stop;
    private WriteTransaction _writing;
    private bool _isWriting;
    private WriteTree _tree;
    private WriteFixedTree _fixedTree;
    private WriteIdTree _idTree;
    private TreeForm _form;
    private string? _name;
    private byte[]? _systemName;
    private long _entries;
    private long _bytes;
    private long _uncommitted;

    /// <param name="directory">The directory, which contains no environment.</param>
    /// <param name="pageSize">The page size, which decides how long keys can be.</param>
    /// <param name="options">The options of the salvage.</param>
    /// <param name="sourceBytes">The length of the damaged data file in bytes.</param>
    /// <param name="stop">Ends the verification.</param>
    public SalvageTarget(string directory, int pageSize, SalvageOptions options, long sourceBytes, CancellationToken stop)
    {
        (_options, _sourceBytes, _stop) = (options, sourceBytes, stop);
        _environment = StorageEnvironment.Open(directory, new StorageOptions
        {
            OpenMode = OpenMode.CreateNew,
            PageSize = pageSize,
            FileMode = options.FileMode,
            LoggerFactory = options.LoggerFactory,
            TrackChanges = false,
            ScrubInterval = Timeout.InfiniteTimeSpan,
            StatusInterval = TimeSpan.Zero,
        });
    }

    public void EnterTree(string name, TreeForm form) => Enter(name, null, form);

    public void EnterSystemTree(byte[] name, TreeForm form) => Enter(SystemTree.Describe(name), name, form);

    private void Enter(string name, byte[]? systemName, TreeForm form)
    {
        if (name == _name && systemName == _systemName && _isWriting)
            return;
        (_name, _systemName, _form) = (name, systemName, form);
        if (!_isWriting)
            _writing = _environment.BeginWrite();
        _isWriting = true;
        (_tree, _fixedTree, _idTree) = form.Kind switch
        {
            TreeKind.Plain or TreeKind.ValueSets =>
                (systemName != null ? _writing.CreateSystemTree(systemName) : _writing.CreateTree(name), default, default),
            TreeKind.FixedSize => (default(WriteTree), _writing.CreateFixedTree(name, form.ValueSize), default(WriteIdTree)),
            TreeKind.IdSets => (default, default, systemName != null ? _writing.CreateSystemIdTree(systemName) : _writing.CreateIdTree(name)),
        };
    }

    public bool TryBeginSet(ReadOnlySpan<byte> key)
    {
        Enter(_name!, _systemName, _form);
        if (_idTree.CountOf(key) > 0)
            return false;
        _entries++;
        _bytes += key.Length;
        return true;
    }

    public void AddIds(ReadOnlySpan<byte> key, ReadOnlySpan<long> ids, ReadOnlySpan<byte> payloads)
    {
        Enter(_name!, _systemName, _form);
        _idTree.AddMany(key, ids, payloads);
        var bytes = ids.Length * SetSource.BytesPerId;
        _bytes += bytes;
        _uncommitted += bytes;
        if (_uncommitted >= BytesAtOnce)
            Commit();
    }

    public bool TryAdd(ReadOnlySpan<byte> key, ValueSource value, out string? fault)
    {
        Enter(_name!, _systemName, _form);
        fault = null;
        if (_form.Kind == TreeKind.FixedSize ? _fixedTree.Contains(ArrayKey.FromBytes(key)) : _tree.Contains(key))
            return false;
        fault = value.Length <= ValueSource.PieceBytes ? Put(key, value) : PutLong(key, value);
        if (fault != null)
            return true;
        _entries++;
        _bytes += key.Length + value.Length;
        _uncommitted += key.Length + value.Length;
        if (_uncommitted >= BytesAtOnce)
            Commit();
        return true;
    }

    /// <summary>
    /// Verifies that each tree contains as many entries as were added to it, makes tables and value sets usable, and verifies the environment.
    /// </summary>
    /// <param name="report">The report.</param>
    /// <param name="findings">The findings.</param>
    /// <returns>The report with the tables.</returns>
    /// <exception cref="CorruptionException">The environment differs from the data written to it.</exception>
    /// <exception cref="OperationCanceledException">The salvage was cancelled.</exception>
    public SalvageReport Finish(SalvageReport report, SalvageFindings findings)
    {
        Commit();
        _stop.ThrowIfCancellationRequested();
        CheckCounts(findings.Trees);
        report = new TableSalvage(_environment, findings, _stop).Mend(report);
        report = new ValueSetSalvage(_environment, findings, _stop).Mend(report);
        _environment.CompactAsync(null, _stop).AsTask().GetAwaiter().GetResult();
        using (_stop.Register(static opened => Task.Run(((StorageEnvironment)opened!).Dispose, CancellationToken.None), _environment))
        {
            var verified = Verify();
            if (!verified.IsSound)
                throw new CorruptionException($"The new environment in '{_environment.Path}' differs from the data written to it: {verified}");
        }

        return report;
    }

    public void Dispose()
    {
        try
        {
            if (_isWriting)
                _writing.Dispose();
        }
        finally
        {
            _isWriting = false;
            _environment.DisposeAsync().AsTask().GetAwaiter().GetResult();
        }
    }

    /// <summary>Closes the environment before it is deleted. Failures are ignored, because the caller receives another exception.</summary>
    public void Abandon()
    {
        try
        {
            Dispose();
        }
        catch (VoronException)
        {
            // The directory is deleted next.
        }
    }

    private void CheckCounts(IReadOnlyList<TreeFindings> trees)
    {
        using var reading = _environment.BeginRead();
        var names = reading.GetTreeNames().ToHashSet(StringComparer.Ordinal);
        var ofSystem = reading.GetSystemTrees().ToDictionary(tree => Convert.ToHexString(tree.Name), tree => tree.Header.EntryCount);
        foreach (var tree in trees)
        {
            var found = tree.ToReport().Found;
            var count = tree.SystemName is { } system ? ofSystem.GetValueOrDefault(Convert.ToHexString(system))
                : names.Contains(tree.Name) ? reading.GetTreeStatistics(tree.Name, out _).Entries : 0;
            if (count != found)
                throw new CorruptionException($"The new environment in '{_environment.Path}' contains {count} entries in tree '{tree.Name}', but " +
                    $"{found} were written to it.");
        }
    }

    private VerificationReport Verify()
    {
        try
        {
            var report = _environment.Verify();
            _stop.ThrowIfCancellationRequested();
            return report;
        }
        catch (ObjectDisposedException) when (_stop.IsCancellationRequested)
        {
            throw new OperationCanceledException("The salvage was cancelled while it verified the new environment.", _stop);
        }
    }

    private string? Put(ReadOnlySpan<byte> key, ValueSource value)
    {
        var fault = value.TryRead(0, out var bytes);
        if (fault == null && _form.Kind == TreeKind.FixedSize)
            _fixedTree.Put(ArrayKey.FromBytes(key), bytes);
        else if (fault == null)
            _tree.Put(key, bytes);
        return fault;
    }

    // A writer that is not completed leaves nothing behind.
    private string? PutLong(ReadOnlySpan<byte> key, ValueSource value)
    {
        using var writer = _tree.OpenWriter(key);
        for (var at = 0L; at < value.Length; at += ValueSource.PieceBytes)
        {
            _stop.ThrowIfCancellationRequested();
            if (value.TryRead(at, out var bytes) is { } fault)
                return fault;
            writer.Write(bytes);
        }

        writer.Complete();
        return null;
    }

    private void Commit()
    {
        if (_isWriting)
        {
            _writing.Commit();
            _writing.Dispose();
        }

        (_isWriting, _uncommitted) = (false, 0);
        _options.Progress?.Report(new SalvageProgress(_entries, _bytes, _sourceBytes));
    }
}
