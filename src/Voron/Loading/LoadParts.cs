using Voron.IO;
using Voron.Staging;
using Voron.Transactions;

namespace Voron.Loading;

/// <summary>What a bulk load frees: its memory, its temporary file and its pages. The garbage collector frees those of a forgotten one.</summary>
internal sealed class LoadParts : IDisposable
{
    private readonly IDisk? _spillDisk;

    /// <param name="area">Reserves pages.</param>
    /// <param name="spillDirectory">The directory for temporary files; null for that of the environment.</param>
    /// <param name="stop">Cancels all work and waits of the load.</param>
    /// <exception cref="StorageAccessException">The directory for the temporary file cannot be used.</exception>
    public LoadParts(StagingArea area, string? spillDirectory, CancellationTokenSource stop)
    {
        Stop = stop;
        _spillDisk = spillDirectory == null ? null : OpenSpill(spillDirectory, area.Engine);
        var files = _spillDisk == null ? area.Engine.Memory.TemporaryFiles : new TemporaryFiles(_spillDisk);
        Trees = new PrivateTrees(area, stop.Token) { TemporaryFiles = files };
    }

    ~LoadParts()
    {
        try
        {
            Free();
        }
        catch (Exception)
        {
            // An exception from a finalizer would end the process. The closing of the environment frees the pages.
        }
    }

    /// <inheritdoc cref="LoadParts(StagingArea, string, CancellationTokenSource)" path="/param[@name='stop']"/>
    public CancellationTokenSource Stop { get; }

    /// <summary>The pages of the load.</summary>
    public PrivateTrees Trees { get; }

    /// <summary>Stores entries in key order.</summary>
    public OrderedLoad Load { get; set; } = null!;

    /// <summary>Sorts entries before they are stored; null if they come in order.</summary>
    public LoadSorter? Sorter { get; set; }

    public void Dispose()
    {
        Free();
        GC.SuppressFinalize(this);
    }

    // Parts may be missing after a failure at the beginning.
    private void Free()
    {
        try
        {
            Sorter?.Dispose();
            Load?.Dispose();
        }
        finally
        {
            Trees?.Dispose();
            _spillDisk?.Dispose();
            Stop.Dispose();
        }
    }

    private static IDisk OpenSpill(string directory, ReadingEngine engine)
    {
        try
        {
            return FileSystemDisk.Open(directory, readOnly: false, engine.Logger, creates: false);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"A bulk load cannot use '{directory}' for its temporary file: {e.Message}", e);
        }
    }
}
