namespace Voron.Loading;

/// <summary>What a bulk load frees: its memory, its temporary file and its pages. The garbage collector frees those of a forgotten one.</summary>
/// <param name="load">Stores entries in key order.</param>
/// <param name="sorter">Sorts them before; null if they come in order.</param>
internal sealed class LoadParts(OrderedLoad load, LoadSorter? sorter) : IDisposable
{
    ~LoadParts() => Free();

    public OrderedLoad Load => load;

    public LoadSorter? Sorter => sorter;

    public void Dispose()
    {
        Free();
        GC.SuppressFinalize(this);
    }

    private void Free()
    {
        sorter?.Dispose();
        load.Dispose();
    }
}
