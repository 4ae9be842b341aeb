using System.Diagnostics;
using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>Restores an environment from a full backup and the incremental ones that build on it.</summary>
/// <remarks>
/// Pages are written as they arrive, and later copies replace earlier ones. Only the last backup decides which pages are used: each of them must
/// have been written. A written page that is no longer used is free, and long runs of such pages occupy no blocks. The pages of one frame are
/// written while the next frame is read and checked.
/// </remarks>
internal sealed class BackupRestorer : IPageSink, IDisposable
{
    private readonly RestoreTarget _target;
    private readonly EnvironmentCopy _copy;
    private readonly PageBitmap _present;
    private readonly int _pageSize;
    private readonly long _totalBytes;
    private List<TransactionExtent> _next = [];
    private List<TransactionExtent> _written = [];
    private Task _writing = Task.CompletedTask;
    private long _doneBytes;

    private BackupRestorer(RestoreTarget target, int pageSize, long neededPages, long totalBytes)
    {
        _target = target;
        _pageSize = pageSize;
        _totalBytes = totalBytes;
        _present = new PageBitmap(new SectionMapLayout(pageSize).MaxPageCount);
        try
        {
            _copy = EnvironmentCopy.Begin(target.Disk, pageSize, neededPages);
        }
        catch
        {
            _present.Dispose();
            throw;
        }
    }

    /// <summary>Restores a chain of files, oldest first, which is checked before anything is written.</summary>
    public static async Task<RestoreReport> RestoreAsync(IReadOnlyList<BackupSource> files, RestoreTarget target, CancellationToken cancellationToken)
    {
        var began = Stopwatch.GetTimestamp();
        var chain = await BackupSummary.ReadAsync(files, cancellationToken).ConfigureAwait(false);
        BackupChain.Check(chain);
        var last = chain[^1];
        using var restorer = new BackupRestorer(
            target, (int)last.Header.PageSize, last.Trailer.UsedPages, chain.Sum(backup => backup.Trailer.Bytes));
        for (var i = 0; ; i++)
        {
            var reader = await BackupReader.OpenAsync(files[i], cancellationToken).ConfigureAwait(false);
            await using (reader.ConfigureAwait(false))
            {
                BackupChain.ThrowIfReplaced(reader, chain[i]);
                await restorer.AddAsync(reader, cancellationToken).ConfigureAwait(false);
                if (i == files.Count - 1)
                    return restorer.Finish(reader, began, cancellationToken);
            }
        }
    }

    /// <summary>Restores a full backup, which is read once.</summary>
    public static async Task<RestoreReport> RestoreAsync(BackupSource stream, RestoreTarget target, CancellationToken cancellationToken)
    {
        var began = Stopwatch.GetTimestamp();
        var reader = await BackupReader.OpenAsync(stream, cancellationToken).ConfigureAwait(false);
        await using (reader.ConfigureAwait(false))
        {
            BackupChain.CheckFirst(reader.Name, reader.Header);
            using var restorer = new BackupRestorer(target, (int)reader.Header.PageSize, neededPages: 0, totalBytes: 0);
            await restorer.AddAsync(reader, cancellationToken).ConfigureAwait(false);
            return restorer.Finish(reader, began, cancellationToken);
        }
    }

    public unsafe void Add(long first, int pages, byte* bytes, BackupPlace place)
    {
        _next.Add(new TransactionExtent(first, pages, (nint)bytes));
        _present.EnsureCommitted(first + pages);
        _present.Set(first, pages);
    }

    /// <summary>Waits until the pages of the previous frame are written, and starts to write those of this one.</summary>
    public async ValueTask EndFrameAsync()
    {
        await _writing.ConfigureAwait(false);
        (_next, _written) = (_written, _next);
        _next.Clear();
        _writing = Task.Run(WritePages);
    }

    public void Dispose()
    {
        Debug.Assert(_writing.IsCompleted, "No page write may be running when the copy is deleted.");
        _copy.Dispose();
        _present.Dispose();
    }

    private unsafe void WritePages()
    {
        foreach (var extent in _written)
            _copy.Write(extent.First, new ReadOnlySpan<byte>((byte*)extent.Bytes, extent.Pages * _pageSize));
    }

    private async ValueTask AddAsync(BackupReader reader, CancellationToken cancellationToken)
    {
        var before = _doneBytes;
        try
        {
            await reader.ReadAllAsync(this, Report, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            // The buffers live as long as the reader, and the copy may be deleted next.
            await _writing.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        await _writing.ConfigureAwait(false);

        void Report(long bytes)
        {
            _doneBytes = before + bytes;
            _target.Options.Progress?.Report(new RestoreProgress(_doneBytes, _totalBytes));
        }
    }

    private RestoreReport Finish(BackupReader last, long began, CancellationToken cancellationToken)
    {
        var content = last.Content;
        ThrowIfMissing(content, last.Name);
        VerificationReport? verification = null;
        Action<IDisk>? verify = null;
        if (_target.Options.VerifyRestored)
            verify = disk => verification = Verify(disk, last.Name, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        _copy.Finish(EnvironmentCopy.NewHeader(last.Header, content.State), content.Used, _present, verify);
        return new RestoreReport(
            BackupSummary.Of(last).ToInfo(), content.Trailer.UsedPages, _doneBytes, Stopwatch.GetElapsedTime(began), verification);
    }

    private void ThrowIfMissing(BackupContent content, string name)
    {
        var pageCount = content.State.PageCount;
        _present.EnsureCommitted(pageCount);
        for (var page = content.Used.FindSet(0, pageCount); page >= 0; page = content.Used.FindSet(page + 1, pageCount))
        {
            if (!_present.IsSet(page))
                throw BackupPageChecker.Missing(page, name);
        }
    }

    private VerificationReport Verify(IDisk disk, string name, CancellationToken cancellationToken)
    {
        VerificationReport report;
        try
        {
            report = _target.Verify(disk, cancellationToken);
        }
        catch (Exception e) when (e is CorruptionException or UnsupportedFormatException)
        {
            throw Unsound(name, e.Message, e);
        }

        return report.IsSound ? report : throw Unsound(name, report.Problems[0], null);
    }

    private BackupException Unsound(string name, string problem, Exception? cause) => new(
        BackupFault.Damaged,
        $"The environment restored from '{name}' to '{_target.Disk.Path}' is damaged, and is deleted: {problem} Use another backup.", cause);

    /// <summary>Pages to write, at an address in the reader's buffer.</summary>
    private readonly record struct TransactionExtent(long First, int Pages, nint Bytes);
}

/// <summary>The target of a restore, and the verification of the result.</summary>
/// <param name="Disk">The directory, which stays open.</param>
/// <param name="Options">The options.</param>
/// <param name="Verify">Opens the environment of a disk for reading, and verifies it.</param>
internal sealed record RestoreTarget(IDisk Disk, RestoreOptions Options, Func<IDisk, CancellationToken, VerificationReport> Verify);
