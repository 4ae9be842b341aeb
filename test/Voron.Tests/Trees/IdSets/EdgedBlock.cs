using Voron.IO;

namespace Voron.Tests.Trees.IdSets;

/// <summary>Bytes at the end of the memory that the process may touch: a read behind them ends the process.</summary>
internal sealed unsafe class EdgedBlock : IDisposable
{
    private const int Step = 1 << 20;

    private readonly AddressSpace _space = AddressSpace.Reserve(2 * Step);

    public EdgedBlock() => _space.EnsureCommitted(Step);

    /// <summary>Returns the last bytes.</summary>
    public byte* Last(int length) => _space.Address + Step - length;

    public void Dispose() => _space.Dispose();
}
