using Voron.Simulation.Harness;

namespace Voron.Torture.Model;

/// <content>The environment closed or killed, and opened again.</content>
internal sealed partial class ModelRun
{
    private void Reopen()
    {
        History.Add("reopen");
        _environment.Dispose();
        EndDrops();
        Settle();

        // Transactions that were open for reading remain usable until they end.
        CloseReaders();
        Restart();
    }

    /// <summary>Continues from the files as a killed process would leave them.</summary>
    private void Kill()
    {
        Settle();
        AwaitDrops();
        CheckPublished();
        History.Note("kill");
        var left = _place;
        var copy = _place.Copy();
        try
        {
            CloseReaders();
            _environment.Dispose();
            EndDrops();
        }
        finally
        {
            // Whatever happens here, the abandoned place of the two is deleted, and the other is kept in the field.
            _place = copy;
            left.Dispose();
        }

        Restart();
    }

    private void OpenForReading()
    {
        History.Add("open for reading only");
        _environment.Dispose();
        EndDrops();
        Settle();
        CloseReaders();
        using (var environment = _place.Open(new StorageOptions { ReadOnly = true, PageSize = _settings.Options.PageSizeOrDefault }))
        {
            using var reading = environment.BeginRead();
            new ModelReader(reading, _versions.Newest).CheckAll(History);
            Crashes.ContentCheck.Verify(environment);
        }

        Restart();
    }

    private void Restart()
    {
        _environment = _place.Open(_settings.Options);
        using var reading = _environment.BeginRead();
        _versions.Restart(reading.TransactionId);
        _observer.Restart(reading.TransactionId);
        var recovery = _environment.Recovery;
        BrokenPromiseException.Require(
            recovery.TransactionId == reading.TransactionId && recovery is { DroppedRecords: 0, DroppedFile: null }, $"the opening found {recovery}");
        new ModelReader(reading, _versions.Newest).CheckAll(History);
        if (_random.Next(3) == 0)
            Verify();
    }
}
