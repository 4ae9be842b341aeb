using System.Buffers.Binary;

namespace Voron.KillTarget;

/// <summary>
/// Reports on standard output how far the work has come. Each report has eight bytes: zeros when the environment is open, the number of a
/// commit when it is acknowledged, and a phase, negative, before it begins.
/// </summary>
internal sealed class KillReports(Stream output) : IDisposable
{
    public void ReportPhase(KillPhase phase) => Report(-(long)phase);

    public void Report(long number)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, number);
        output.Write(bytes);
        output.Flush();
    }

    public void Dispose() => output.Dispose();
}
