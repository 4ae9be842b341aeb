namespace Voron.Loading;

/// <summary>What a bulk load frees: its memory, its temporary file and its pages. The garbage collector frees those of a forgotten one.</summary>
/// <param name="load">Stores entries in key order.</param>
/// <param name="stop">Cancels all work and waits of the load.</param>
internal sealed class LoadParts(OrderedLoad load, CancellationTokenSource stop) : IDisposable
{
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

    public OrderedLoad Load => load;

    /// <inheritdoc cref="LoadParts(OrderedLoad, CancellationTokenSource)" path="/param[@name='stop']"/>
    public CancellationTokenSource Stop => stop;

    /// <summary>Sorts entries before they are stored; null if they come in order.</summary>
    public LoadSorter? Sorter { get; set; }

    public void Dispose()
    {
        Free();
        GC.SuppressFinalize(this);
    }

    private void Free()
    {
        try
        {
            Sorter?.Dispose();
        }
        finally
        {
            load.Dispose();
            stop.Dispose();
        }
    }
}
